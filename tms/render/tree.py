"""Pictures as plain text: trees of lines."""

from collections.abc import Iterator

from tms.content import line
from tms.render.sketch import MOST, Edge, Kind, Picture
from tms.render.views import picture

_DEEPEST = 16
"""From which level on lines are indented no further and tell their level instead."""

_TOLD = ("rule", "via", "lost", "version", "valid", "at")
"""Which details stand in the line of a node."""

_WORDS: dict[Kind, str] = {"supports": "supports it", "circular": "circular", "lost": "lost"}


def text(answer: object, *, most: int = MOST) -> str:
    """Return an answer as a tree in plain text, each node once; the next time it says so.

    Args:
        answer: what ``why``, ``why_not``, ``impact``, ``neighbourhood``, ``report`` or ``diff``
            returned.
        most: at most so many nodes; what is left out is counted.

    Raises:
        InvalidArgument: there is no picture of such a thing, or the limit is out of range.

    Cost: grows with the answer; from level 16 on lines are indented no further.
    """
    shown = picture(answer, most=most)
    return "\n".join(
        [shown.title, *(f"  {note}" for note in shown.notes), *_Trees(shown).lines(), *_more(shown)]
    )


def _more(shown: Picture) -> list[str]:
    return [f"  {shown.more}"] if shown.more else []


class _Trees:
    """The lines of the trees of a picture."""

    def __init__(self, shown: Picture) -> None:
        self._trees = shown.trees
        self._spots = {spot.id: spot for spot in shown.spots}
        self._told: set[str] = set()
        self._followed: set[tuple[str, bool]] = set()
        self._into: dict[str, list[Edge]] = {}
        self._out: dict[str, list[Edge]] = {}
        for edge in shown.edges:
            self._into.setdefault(edge.end, []).append(edge)
            self._out.setdefault(edge.start, []).append(edge)

    def lines(self) -> Iterator[str]:
        """Yield the lines, each tree under its title, and last what no tree leads to."""
        for tree in self._trees:
            if tree.roots:
                yield from ["", tree.title] if tree.title else [""]
            for root in tree.roots:
                yield from self._lines(root, forward=tree.forward)
        beside = [id for id in self._spots if id not in self._told]
        if beside:
            yield from ["", "also named"]
        for id in beside:
            yield self._line(id)

    def _lines(self, root: str, *, forward: bool) -> Iterator[str]:
        edges = self._out if forward else self._into
        waiting: list[tuple[str, str, str, str, int]] = [(root, "", "", "", 0)]
        while waiting:
            id, word, lead, indent, level = waiting.pop()
            yield f"{lead}{f'({level}) ' if level > _DEEPEST else ''}{self._line(id)}{word}"
            if (id, forward) in self._followed:
                continue
            self._followed.add((id, forward))
            for place, edge in enumerate(reversed(edges.get(id, ()))):
                branch, below = ("├─ ", "│  ") if place else ("└─ ", "   ")
                if level >= _DEEPEST:
                    branch, below = "· ", ""
                child = edge.end if forward else edge.start
                said = f", {_WORDS[edge.kind]}" if edge.kind in _WORDS else ""
                waiting.append((child, said, f"{indent}{branch}", f"{indent}{below}", level + 1))

    def _line(self, id: str) -> str:
        if id in self._told:
            return f"{line(id)}  ↑ above"
        self._told.add(id)
        spot = self._spots[id]
        details = dict(spot.details)
        said = [f"{name} {line(details[name])}" for name in _TOLD if name in details]
        return f"{line(id)}  {', '.join([*spot.words, *said])}"
