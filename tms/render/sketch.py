"""Pictures: what an answer shows, before it takes the form of a text, a diagram or a page."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from tms.content import line
from tms.errors import InvalidArgument, quoted
from tms.refs import JUSTIFICATION, is_digest

MOST = 2000
"""How many nodes a picture shows unless it is told otherwise."""

Role = Literal["source", "fact", "justification", "node", "set"]
"""What a node is; ``node`` is a source or a fact, where the answer does not tell which, and ``set``
all of some nodes together."""

Kind = Literal["premise", "supports", "derives", "circular", "lost"]
"""What an edge says. From a node to a justification: ``premise``. From a justification to a fact:
the fact rests on it (``supports``), it derives the fact (``derives``), does so only because the
fact itself is IN (``circular``), or stopped or would stop to (``lost``)."""

Known = Literal["IN", "OUT", ""]
"""The status of a node; empty where the answer does not tell."""


@dataclass(frozen=True)
class Spot:
    """A source, a fact or a justification in a picture.

    Attributes:
        id: its ref, exactly.
        label: what stands on it: the ref, for a justification its rule or its id; on one line.
        role, status: what it is. A justification is IN while it fires.
        marks: what else is said of it, each a word: ``asked``, ``died``, ``survived`` ….
        details: names and texts for whoever looks closer; a text may have several lines.
        group: the place of its group in the picture.
    """

    id: str
    label: str
    role: Role
    status: Known
    marks: tuple[str, ...]
    details: tuple[tuple[str, str], ...]
    group: int

    @property
    def words(self) -> tuple[str, ...]:
        """What it is, in words: role, status and marks."""
        status: str = self.status
        if self.role == "justification":
            status = {"IN": "fires", "OUT": "does not fire", "": ""}[status]
        return tuple(word for word in (self.role, status, *self.marks) if word)


@dataclass(frozen=True)
class Edge:
    """From a premise to a justification, or from there to a fact.

    Attributes:
        start, end: ids of spots of the same picture.
        kind: what it says.
    """

    start: str
    end: str
    kind: Kind


@dataclass(frozen=True)
class Tree:
    """How a part of a picture is told in lines.

    Attributes:
        title: a heading; may be empty.
        roots: where it begins, ids of spots.
        forward: whether it goes along the edges, or against them.
    """

    title: str
    roots: tuple[str, ...]
    forward: bool


@dataclass(frozen=True)
class Picture:
    """What an answer shows: a graph from premises to conclusions.

    Attributes:
        title: what was asked, on one line.
        notes: what else the answer says, a line each.
        spots: its nodes, each once.
        edges: between them, each once.
        groups: the headings of its parts; one that is empty if it has no parts.
        trees: how it is told in lines.
        left_out: how many nodes were left out because there are too many.
    """

    title: str
    notes: tuple[str, ...]
    spots: tuple[Spot, ...]
    edges: tuple[Edge, ...]
    groups: tuple[str, ...]
    trees: tuple[Tree, ...]
    left_out: int

    @property
    def more(self) -> str:
        """A line about what was left out; empty if nothing was."""
        return f"… {self.left_out:,} more left out" if self.left_out else ""


@dataclass
class _Draft:
    role: Role
    status: Known
    label: str
    group: int
    marks: dict[str, None] = field(default_factory=dict)
    details: dict[str, str] = field(default_factory=dict)


class Sketch:
    """A picture being put together.

    Args:
        title: what was asked.
        groups: headings of its parts.
    """

    def __init__(self, title: str, groups: Iterable[str] = ("",)) -> None:
        self.notes: list[str] = []
        self.trees: list[Tree] = []
        self._title = title
        self._groups = tuple(groups)
        self._spots: dict[str, _Draft] = {}
        self._edges: dict[tuple[str, str, Kind], None] = {}

    def spot(
        self,
        id: str,
        role: Role = "node",
        status: Known = "",
        *,
        rule: str | None = None,
        marks: Iterable[str] = (),
        group: int = 0,
        details: Mapping[str, str | None] | None = None,
    ) -> None:
        """Add a spot, or add to one what is newly known of it; its first group stays."""
        if id.startswith(f"{JUSTIFICATION}:"):
            role = "justification"
        draft = self._spots.get(id)
        if draft is None:
            draft = self._spots[id] = _Draft("node", "", short(id), group)
        if role != "node":
            draft.role = role
        draft.status = status or draft.status
        draft.label = rule or draft.label
        draft.marks.update(dict.fromkeys(marks))
        if rule:
            draft.details.setdefault("rule", rule)
        for name, text in (details or {}).items():
            if text:
                draft.details.setdefault(name, text)

    def edge(self, start: str, end: str, kind: Kind) -> None:
        """Add an edge between two spots, which may still have to be added."""
        self._edges[start, end, kind] = None

    def picture(self, most: int) -> Picture:
        """Return the picture, with at most so many spots.

        Raises:
            InvalidArgument: the limit is out of range.
        """
        if isinstance(most, bool) or not isinstance(most, int) or most < 1:
            raise InvalidArgument(f"most is {quoted(most)}.", hint="Give 1 or more.")
        for id in [id for start, end, _ in self._edges for id in (start, end)]:
            if id not in self._spots:
                self.spot(id)
        kept = self._kept(most)
        return Picture(
            title=line(self._title),
            notes=tuple(line(note) for note in self.notes),
            spots=tuple(self._finished(id, draft) for id, draft in kept.items()),
            edges=tuple(
                Edge(start, end, kind)
                for start, end, kind in self._edges
                if start in kept and end in kept
            ),
            groups=self._groups,
            trees=tuple(
                Tree(tree.title, tuple(id for id in tree.roots if id in kept), tree.forward)
                for tree in self.trees
            ),
            left_out=len(self._spots) - len(kept),
        )

    def _kept(self, most: int) -> dict[str, _Draft]:
        """Return the spots there is room for: the nearest, no group crowding out another."""
        sizes = [0] * len(self._groups)
        for draft in self._spots.values():
            sizes[draft.group] += 1
        room, shares = most, [0] * len(sizes)
        for place, group in enumerate(sorted(range(len(sizes)), key=lambda group: sizes[group])):
            shares[group] = min(sizes[group], room // (len(sizes) - place))
            room -= shares[group]
        if sum(shares) == len(self._spots):
            return self._spots
        chosen = set()
        for id in self._nearest():
            group = self._spots[id].group
            if shares[group]:
                shares[group] -= 1
                chosen.add(id)
        return {id: draft for id, draft in self._spots.items() if id in chosen}

    def _nearest(self) -> Iterator[str]:
        """Yield all spots: each root, what stands around it, near before far; then the rest."""
        beside: dict[str, list[str]] = {}
        for start, end, _ in self._edges:
            beside.setdefault(start, []).append(end)
            beside.setdefault(end, []).append(start)
        seen: set[str] = set()
        for root in [*(id for tree in self.trees for id in tree.roots), *self._spots]:
            wave = [] if root in seen else [root]
            seen.update(wave)
            for id in wave:  # grows on the way
                yield id
                following = [other for other in beside.get(id, ()) if other not in seen]
                seen.update(following)
                wave += dict.fromkeys(following)

    @staticmethod
    def _finished(id: str, draft: _Draft) -> Spot:
        details = {name: _lines(text) for name, text in draft.details.items()}
        return Spot(
            id=id,
            label=line(draft.label),
            role=draft.role,
            status=draft.status,
            marks=tuple(draft.marks),
            details=tuple(details.items()),
            group=draft.group,
        )


def short(ref: str) -> str:
    """Return a ref as a label: a justification by its id, and that cut if it is a digest."""
    kind, _, id = ref.partition(":")
    if kind != JUSTIFICATION:
        return ref
    return f"{id[:8]}…" if is_digest(id) else id


def cut(text: str, most: int) -> str:
    """Return a label that is not longer than so many characters, cut in its middle."""
    if len(text) <= most:
        return text
    tail = most // 3
    return f"{text[: most - tail - 1]}…{text[-tail:]}"


def _lines(text: str) -> str:
    return "\n".join(map(line, text.split("\n")))
