"""What an open commit has added but not written yet, and the labels it has changed so far."""

from collections.abc import Callable
from typing import NamedTuple

from tms.labelling import Changes, Network, Turned, settle
from tms.store import Head, Record

ROWS = 20_000
"""How many added rows are kept in memory before they are written and labelled."""


class Mark(NamedTuple):
    """What must be remembered to go back to a moment at which nothing was pending."""

    moves: Changes
    gained: int


class Pending:
    """Rows on their way to the record.

    Args:
        record: where they go.
        network: makes a view of the graph for one settlement.
        base: the head on which the commit stands.
        most: how many rows are kept in memory.

    Attributes:
        gained: by how many the believed facts have grown.
    """

    def __init__(
        self, record: Record, network: Callable[[], Network], base: Head, *, most: int
    ) -> None:
        self._record = record
        self._network = network
        self._base = base
        self._revision = base.revision + 1
        self._most = most
        self._moves: Changes = {}
        self._added = False
        self.gained = 0
        self._clear()
        self._sources: list[int] = []
        self._justified: list[int] = []

    def _clear(self) -> None:
        self._nodes: list[tuple[int, str, str, str, int]] = []
        self._contents: dict[int, str] = {}
        self._justifications: list[tuple[int, str | None, bytes, str | None, int]] = []
        self._premises: list[tuple[int, int]] = []
        self._idle: list[int] = []
        self._conclusions: list[tuple[int, int]] = []

    def add_node(self, key: int, kind: str, id: str, role: str, *, idle: bool) -> None:
        """Add a node; ``idle`` if it is outside its window."""
        self._added = True
        self._nodes.append((key, kind, id, role, self._revision))
        if idle:
            self._idle.append(key)
        elif role == "source":
            self._sources.append(key)

    def add_content(self, key: int, content: str) -> None:
        """Add the first content of a new node."""
        self._contents[key] = content

    def content(self, key: int) -> str | None:
        """Return the content of a new node that is not written yet."""
        return self._contents.get(key)

    def add_justification(
        self,
        key: int,
        name: str | None,
        digest: bytes,
        rule: str | None,
        premises: list[int],
        conclusions: list[int],
        *,
        idle: bool,
    ) -> None:
        """Add a justification with its edges; ``idle`` if it is outside its window."""
        self._justifications.append((key, name, digest, rule, self._revision))
        self._premises += [(key, node) for node in sorted(premises)]
        self._conclusions += [(key, node) for node in sorted(conclusions)]
        (self._idle if idle else self._justified).append(key)

    @property
    def many(self) -> bool:
        """Whether it is time to take in what was added."""
        rows = len(self._nodes) + len(self._premises) + len(self._conclusions)
        return rows >= self._most

    def write(self) -> None:
        """Write the added rows. They are not labelled yet, and nothing is closed."""
        record = self._record
        if self._nodes:
            record.add_nodes(self._nodes)
        if self._contents:
            record.add_contents(
                [(node, 1, self._revision, text) for node, text in self._contents.items()]
            )
        if self._justifications:
            record.add_justifications(self._justifications)
            record.add_premises(self._premises)
            record.add_conclusions(self._conclusions)
        if self._idle:
            record.idle(self._idle, ())
        self._clear()

    def take_in(self) -> None:
        """Write and label what was added so far, so that memory does not grow with it."""
        self.write()
        self._settle(Turned(sources_on=self._sources, justifications_on=self._justified))
        self._sources, self._justified = [], []

    def settle(self, turned: dict[int, tuple[bool, str]]) -> None:
        """Label what is written, and record the beliefs.

        All is taken in the order of keys, so that what a fact rests on follows from the record and
        not from the order in which a commit was told.

        Args:
            turned: of each target that supports no longer, or again, whether it does now, and its
                role.
        """
        off = [(key, role) for key, (on, role) in sorted(turned.items()) if not on]
        on = [(key, role) for key, (on, role) in sorted(turned.items()) if on]
        gone = {key for key, _ in off}
        self._settle(
            Turned(
                nodes_off=[key for key, role in off if role in ("source", "fact")],
                justifications_off=[key for key, role in off if role == "justification"],
                sources_on=sorted(
                    [key for key in self._sources if key not in gone]
                    + [key for key, role in on if role == "source"]
                ),
                facts_on=[key for key, role in on if role == "fact"],
                justifications_on=sorted(
                    [key for key in self._justified if key not in gone]
                    + [key for key, role in on if role == "justification"]
                ),
            )
        )
        self._record.add_transitions(self._revision, self._moves)
        if self._added:
            self._record.add_new_transitions(self._revision, self._base.last_key)

    def _settle(self, turned: Turned) -> None:
        changes = settle(self._network(), turned)
        self._record.label(changes)
        for node, (before, after) in changes.items():
            self.gained += (after is not None and after[1] is not None) - (
                before is not None and before[1] is not None
            )
            if node <= self._base.last_key:
                first = self._moves.pop(node, (before,))[0]
                if first != after:  # otherwise it came and went within the commit
                    self._moves[node] = (first, after)

    def mark(self) -> Mark:
        """Take in what was added so far and return what ``restore`` needs."""
        self.take_in()
        return Mark(dict(self._moves), self.gained)

    def restore(self, mark: Mark) -> None:
        """Go back to a mark, once the file has gone back to its savepoint."""
        self._clear()
        self._sources, self._justified = [], []
        self._moves, self.gained = dict(mark.moves), mark.gained
