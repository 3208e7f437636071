"""Where the nodes of a picture go: columns from premises to conclusions, and the lines between.

The manner is that of Sugiyama, Tagawa & Toda 1981: break the circles, put every node into a column
behind its premises, order each column by where its neighbours are, and move the nodes towards them
as far as the order allows. Every step takes time linear in nodes and edges, or n log n to sort.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from unicodedata import combining, east_asian_width

from tms.render.sketch import Edge, Picture, Spot, cut

HEIGHT = 46
_GAP = 18
_BETWEEN = 64
_HEADING = 40
_LONGEST = 32
"""How many characters of a label are shown."""
_CHARACTER = 7.9
_PADDING = 26
_SWEEPS = 8
_BENDS = 6000
"""How many bends of long edges are placed; with more, long edges go straight."""


@dataclass(frozen=True)
class Box:
    """A rectangle: its left upper corner and its size, in pixels."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Layout:
    """Where everything goes.

    Attributes:
        boxes: of the spots, in their order.
        labels: what is written in them.
        bends: of the edges, in their order: points between their ends.
        headings: titles of groups with the boxes around them.
    """

    boxes: tuple[Box, ...]
    labels: tuple[str, ...]
    bends: tuple[tuple[tuple[float, float], ...], ...]
    headings: tuple[tuple[str, Box], ...]


def laid_out(picture: Picture) -> Layout:
    """Lay out a picture, its groups beside one another."""
    place = {spot.id: number for number, spot in enumerate(picture.spots)}
    labels = [cut(spot.label, _LONGEST) for spot in picture.spots]
    widths = [
        _PADDING + _CHARACTER * max(_columns(label), _columns(_written(spot)) * 0.85)
        for label, spot in zip(labels, picture.spots, strict=True)
    ]
    boxes = [Box(0, 0, width, HEIGHT) for width in widths]
    bends: list[tuple[tuple[float, float], ...]] = [()] * len(picture.edges)
    headings = []
    left = 0.0
    members: list[list[int]] = [[] for _ in picture.groups]
    for number, spot in enumerate(picture.spots):
        members[spot.group].append(number)
    edges: list[list[tuple[int, Edge]]] = [[] for _ in picture.groups]
    for number, edge in enumerate(picture.edges):
        edges[picture.spots[place[edge.start]].group].append((number, edge))
    for group, title in enumerate(picture.groups):
        if not members[group]:
            continue
        inside = set(members[group])
        drawn = [
            (number, place[edge.start], place[edge.end], edge.kind == "circular")
            for number, edge in edges[group]
            if place[edge.end] in inside
        ]
        top = _HEADING if title else 0.0
        part = _Part(members[group], widths, [item[1:] for item in drawn])
        for node, (x, y) in part.corners.items():
            boxes[node] = Box(left + x, top + y, widths[node], HEIGHT)
        for (number, *_), points in zip(drawn, part.bends, strict=True):
            bends[number] = tuple((left + x, top + y) for x, y in points)
        if title:
            headings.append((title, Box(left, 0, part.width, top + part.height)))
        left += part.width + _BETWEEN
    return Layout(tuple(boxes), tuple(labels), tuple(bends), tuple(headings))


def _written(spot: Spot) -> str:
    """Return the second line in a node, with room for signs; a justification has its shape."""
    words = spot.words[1:] if spot.role == "justification" else spot.words
    return ", ".join(words) + "  " * len(spot.marks)


def _columns(text: str) -> int:
    """Return how many columns of a fixed-width font a text takes."""
    return sum(
        2 if east_asian_width(character) in "WF" else 1
        for character in text
        if not combining(character)
    )


class _Part:
    """One group, laid out by itself.

    Args:
        nodes: its nodes.
        widths: of all nodes.
        edges: (start, end, whether it closes a circle), all inside.

    Attributes:
        corners: left upper corners of the nodes.
        bends: points of the edges, in their order.
        width, height: of all of it.
    """

    def __init__(
        self, nodes: Sequence[int], widths: Sequence[float], edges: Sequence[tuple[int, int, bool]]
    ) -> None:
        self._widths = widths
        tied = {node for start, end, _ in edges for node in (start, end)}
        self.corners: dict[int, tuple[float, float]] = {}
        self.bends: list[list[tuple[float, float]]] = [[] for _ in edges]
        self.width = self.height = 0.0
        if tied:
            self._graph([node for node in nodes if node in tied], edges)
        self._grid([node for node in nodes if node not in tied])

    def _grid(self, nodes: Sequence[int]) -> None:
        """Put nodes without edges into rows below, about as wide as high."""
        if not nodes:
            return
        wide = max(self._widths[node] for node in nodes) + _GAP
        columns = max(1, round((len(nodes) * (HEIGHT + _GAP) / wide * 1.2) ** 0.5))
        top = self.height + _GAP * bool(self.height)
        rows = -(-len(nodes) // columns)
        for place, node in enumerate(nodes):
            column, row = divmod(place, rows)
            self.corners[node] = column * wide, top + row * (HEIGHT + _GAP)
        self.width = max(self.width, -(-len(nodes) // rows) * wide - _GAP)
        self.height = top + rows * (HEIGHT + _GAP) - _GAP

    def _graph(self, nodes: Sequence[int], edges: Sequence[tuple[int, int, bool]]) -> None:
        forward = _without_circles(nodes, edges)
        levels = _levels(nodes, forward)
        columns: list[list[int]] = [[] for _ in range(max(levels.values()) + 1)]
        for node in nodes:
            columns[levels[node]].append(node)
        before: dict[int, list[int]] = {}
        after: dict[int, list[int]] = {}
        chains = self._chains(forward, levels, columns)
        for chain in chains:
            for start, end in pairwise(chain):
                after.setdefault(start, []).append(end)
                before.setdefault(end, []).append(start)
        _order(columns, before, after)
        middles = self._middles(columns, before, after)
        self._place(columns, middles, levels, chains)
        for points, chain, (start, *_) in zip(self.bends, chains, edges, strict=True):
            if chain[0] != start:
                points.reverse()

    @staticmethod
    def _chains(
        forward: Sequence[tuple[int, int]],
        levels: dict[int, int],
        columns: list[list[int]],
    ) -> list[list[int]]:
        """Return each edge as a chain of nodes and bends, one in each column that it crosses."""
        bends = sum(abs(levels[end] - levels[start]) - 1 for start, end in forward)
        following = -1
        chains = []
        for first, last in forward:
            chain = [first]
            if bends <= _BENDS:
                for level in range(levels[first] + 1, levels[last]):
                    columns[level].append(following)
                    chain.append(following)
                    following -= 1
            chain.append(last)
            chains.append(chain)
        return chains

    def _middles(
        self,
        columns: list[list[int]],
        before: dict[int, list[int]],
        after: dict[int, list[int]],
    ) -> dict[int, float]:
        middles: dict[int, float] = {}
        for column in columns:
            _settle(column, dict.fromkeys(column, 0.0), middles)
        for sweep in range(_SWEEPS):
            sides = (before, after) if sweep % 2 == 0 else (after, before)
            for column in columns if sweep % 2 == 0 else reversed(columns):
                wanted = {}
                for node in column:
                    near = sides[0].get(node) or sides[1].get(node) or [node]
                    if sweep >= _SWEEPS - 2:
                        near = [*sides[0].get(node, ()), *sides[1].get(node, ())] or [node]
                    wanted[node] = sum(middles[other] for other in near) / len(near)
                _settle(column, wanted, middles)
        top = min(middles[node] - _half(node) for column in columns for node in column)
        return {node: middle - top for node, middle in middles.items()}

    def _place(
        self,
        columns: list[list[int]],
        middles: dict[int, float],
        levels: dict[int, int],
        chains: list[list[int]],
    ) -> None:
        lefts, x = [], 0.0
        wides = []
        for column in columns:
            wide = max((self._widths[node] for node in column if node >= 0), default=0.0)
            lefts.append(x)
            wides.append(wide)
            x += wide + _BETWEEN
        for level, column in enumerate(columns):
            for node in column:
                if node >= 0:
                    left = lefts[level] + (wides[level] - self._widths[node]) / 2
                    self.corners[node] = left, middles[node] - HEIGHT / 2
        for place, chain in enumerate(chains):
            for step, node in enumerate(chain[1:-1], levels[chain[0]] + 1):
                self.bends[place].append((lefts[step] + wides[step] / 2, middles[node]))
        self.width = x - _BETWEEN
        self.height = max(middles[node] + _half(node) for column in columns for node in column)


def _half(node: int) -> float:
    """Return how much room a node, or a bend, takes above and below its middle."""
    return HEIGHT / 2 if node >= 0 else 4.0


def _without_circles(
    nodes: Iterable[int], edges: Sequence[tuple[int, int, bool]]
) -> list[tuple[int, int]]:
    """Return the edges with some turned round, so that they form no circle.

    First those that close a circle by what they say, then those that lead back in a search.
    """
    out: dict[int, list[int]] = {}
    for start, end, circular in edges:
        if not circular:
            out.setdefault(start, []).append(end)
    position: dict[int, int] = {}
    finished: list[int] = []
    for root in nodes:
        if root in position:
            continue
        position[root] = -1
        stack = [(root, iter(out.get(root, ())))]
        while stack:
            node, ends = stack[-1]
            for end in ends:
                if end not in position:
                    position[end] = -1
                    stack.append((end, iter(out.get(end, ()))))
                    break
            else:
                position[node] = len(finished)
                finished.append(node)
                stack.pop()
    return [
        (start, end) if position[start] > position[end] else (end, start) for start, end, _ in edges
    ]


def _levels(nodes: Sequence[int], edges: Sequence[tuple[int, int]]) -> dict[int, int]:
    """Return a column for each node: behind all its premises, and near to what needs it."""
    out: dict[int, list[int]] = {node: [] for node in nodes}
    left = dict.fromkeys(nodes, 0)
    for start, end in edges:
        out[start].append(end)
        left[end] += 1
    needs = dict(left)
    levels = dict.fromkeys(nodes, 0)
    order = [node for node in nodes if not left[node]]
    for node in order:
        for end in out[node]:
            levels[end] = max(levels[end], levels[node] + 1)
            left[end] -= 1
            if not left[end]:
                order.append(end)
    for node in reversed(order):
        if out[node] and len(out[node]) >= needs[node]:
            levels[node] = min(levels[end] for end in out[node]) - 1
    lowest = min(levels.values())
    return {node: level - lowest for node, level in levels.items()}


def _order(
    columns: list[list[int]], before: dict[int, list[int]], after: dict[int, list[int]]
) -> None:
    """Order each column by the middle of its neighbours, there and back several times."""
    place = {node: float(row) for column in columns for row, node in enumerate(column)}
    for sweep in range(_SWEEPS):
        near = before if sweep % 2 == 0 else after
        for column in columns if sweep % 2 == 0 else reversed(columns):
            middle = {}
            for node in column:
                others = near.get(node)
                middle[node] = (
                    sum(place[other] for other in others) / len(others) if others else place[node]
                )
            column.sort(key=middle.__getitem__)
            for row, node in enumerate(column):
                place[node] = float(row)


def _settle(column: Sequence[int], wanted: dict[int, float], middles: dict[int, float]) -> None:
    """Bring a column as near as can be to where it wants to be, in its order and without overlap.

    The least squares under these bounds come by pooling neighbours that would overlap.
    """
    offsets, offset, last = [], 0.0, None
    for node in column:
        if last is not None:
            offset += _half(last) + _half(node) + _GAP
        offsets.append(offset)
        last = node
    blocks: list[tuple[float, int]] = []  # sum and number of what was pooled
    for node, offset in zip(column, offsets, strict=True):
        total, count = wanted[node] - offset, 1
        while blocks and blocks[-1][0] * count >= total * blocks[-1][1]:
            other, many = blocks.pop()
            total, count = total + other, count + many
        blocks.append((total, count))
    row = 0
    for total, count in blocks:
        for _ in range(count):
            middles[column[row]] = total / count + offsets[row]
            row += 1


def extent(spots: Sequence[Spot], layout: Layout) -> Box:
    """Return the box around everything."""
    boxes = [*layout.boxes, *(box for _, box in layout.headings)]
    if not spots:
        return Box(0, 0, 1, 1)
    width = max(box.x + box.width for box in boxes)
    return Box(0, 0, width, max(box.y + box.height for box in boxes))
