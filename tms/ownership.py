"""Whose is what: does each scope own what it wrote, and see the commits that are of it."""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from tms.clock import Window
from tms.relabelling import Said

SHARED = 0

Concerns = Mapping[int, Mapping[int, int]]
"""By revision and scope: how many facts of the scope are IN."""


class Made(NamedTuple):
    """A commit: its number, its time in microseconds, and the scope of its writer."""

    revision: int
    instant: int
    scope: int


class Ownership:
    """The scopes of a file, as they should be.

    Args:
        owners: the scope of each node and justification, by key.
        commits: oldest first.
        baseline: the revision with which a pruned file begins; 0 of any other.
    """

    def __init__(self, owners: Mapping[int, int], commits: Sequence[Made], baseline: int) -> None:
        self._owners = owners
        self._commits = commits
        self._baseline = baseline
        self._counts: dict[int, int] = {}

    def reaching(self, justifications: Mapping[int, Said]) -> Iterator[int]:
        """Yield the justifications that join what their scope may not join."""
        owners = self._owners
        for key, said in justifications.items():
            own = owners[key]
            if any(owners.get(fact, own) != own for fact in said.conclusions) or any(
                owners.get(node, own) not in (own, SHARED) for node in said.premises
            ):
                yield key

    def passed(self, validity: Mapping[int, Sequence[tuple[int, Window]]]) -> dict[int, set[int]]:
        """Return by revision the scopes of which it passed a bound of a window."""
        instants = [commit.instant for commit in self._commits]
        found: dict[int, set[int]] = {}
        for target, windows in validity.items():
            for place, (given, window) in enumerate(windows):
                later = windows[place + 1][0] if place + 1 < len(windows) else None
                for bound in window:
                    at = len(instants) if bound is None else bisect_left(instants, bound)
                    if not 0 < at < len(instants):
                        continue
                    revision = self._commits[at].revision
                    if given < revision and (later is None or revision <= later):
                        found.setdefault(revision, set()).add(self._owners.get(target, SHARED))
        return found

    def count(self, node: int, gained: int) -> None:
        """Note that a fact came IN (1) or went OUT (-1)."""
        scope = self._owners.get(node, SHARED)
        self._counts[scope] = self._counts.get(scope, 0) + gained

    def wrong(self, made: Made, concerned: set[int], told: Concerns) -> bool:
        """Return whether a commit is not told to be of the scopes that it is of.

        Args:
            made: the commit, after what it moved was counted.
            concerned: the scopes in which it changed a belief or passed a bound.
            told: what the file says.
        """
        if made.revision > self._baseline:
            scopes = {made.scope, *concerned}
            return told.get(made.revision, {}) != {
                scope: self._counts.get(scope, 0) for scope in scopes
            }
        newest: dict[int, int] = {}
        for revision in sorted(told):
            if revision <= self._baseline:
                newest.update(told[revision])
        held = {scope: count for scope, count in self._counts.items() if count}
        return held != {scope: count for scope, count in newest.items() if count}
