"""What a commit switched off that took nodes OUT: found along what they had rested on before it.

Before the commit every node rested on a well-founded derivation. Whatever of it the commit
switched off is a cause: with those switches on again the derivation would stand, and the node with
it.
"""

from collections.abc import Iterable, Sequence

from tms.store import Causes, Connection

NAMED = 20
"""How many causes of one loss are named at most, in the order in which they were recorded."""


class Losses:
    """The causes of many losses, within one bound.

    Attributes:
        cut: whether something was left out.

    Args:
        connection: to the file.
        most: how many justifications may be looked at for all losses together.
    """

    def __init__(self, connection: Connection, most: int) -> None:
        self.cut = False
        self._causes = Causes(connection)
        self._left = most

    def of(self, nodes: Iterable[int], revision: int) -> dict[int, Sequence[int]]:
        """Return the keys of what took each of the nodes OUT, all of which went OUT in a commit."""
        causes, asked = self._causes, list(nodes)
        only = causes.only(revision)
        if only is not None:
            return dict.fromkeys(asked, (only,))
        supports = causes.supports(asked, revision)
        starts = {support for support in supports.values() if support is not None}
        most = max(self._left, 1)
        fallen = causes.fallen(starts, revision, most)
        self._left -= len(fallen)
        self.cut |= len(fallen) >= most
        lost: dict[int, list[tuple[int, int | None]]] = {key: [] for key in fallen}
        for support, node, below in causes.lost(fallen, revision):
            lost[support].append((node, below))
        targets = {node for rows in lost.values() for node, _ in rows}
        off = causes.off({*asked, *fallen, *targets}, revision)
        found = _united(lost, off)
        told: dict[int, Sequence[int]] = {}
        for node in asked:
            keys = ({node} & off) | set(found.get(supports[node], ()))
            self.cut |= len(keys) > NAMED
            told[node] = sorted(keys)[:NAMED]
        return told


def _united(
    lost: dict[int, list[tuple[int, int | None]]], off: set[int]
) -> dict[int | None, list[int]]:
    """Return for each support what was switched off in it and below: the first, and one more."""
    found: dict[int | None, list[int]] = {}
    begun: set[int] = set()
    for start in lost:
        path = [start]
        while path:
            support = path[-1]
            if support in found:
                path.pop()
            elif support not in begun:
                begun.add(support)
                path += [
                    below for _, below in lost[support] if below in lost and below not in begun
                ]
            else:
                path.pop()
                keys = {support} & off
                for node, below in lost[support]:
                    keys |= {node} & off
                    keys.update(found.get(below, ()))
                found[support] = sorted(keys)[: NAMED + 1]
    return found
