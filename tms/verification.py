"""Does a file keep its promises? All is worked out again, by other means than the engine's."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from tms.clock import written
from tms.models import Finding, Verification
from tms.store import Audit

_EXAMPLES = 5


class _Justification(NamedTuple):
    key: int
    revision: int
    premises: tuple[int, ...]
    conclusions: tuple[int, ...]


def verify(audit: Audit, revisions: int | None) -> Verification:
    """Check a file.

    Args:
        audit: all of it, in one snapshot.
        revisions: at how many revisions the labels are worked out from scratch, spread over all
            of them and ending with the head; None for every one.

    Cost: grows with the file, times the revisions compared.
    """
    findings = _Findings()
    findings.add("integrity", "SQLite finds the file damaged", audit.complaints())
    if findings.found:  # then nothing that is read from it need be of its type
        return Verification(findings=tuple(findings.found), revisions=())
    findings.add("foreign-key", "rows refer to nothing", audit.dangling())
    altered = audit.altered()
    lost = [name for name in altered if name.startswith("table cache_")]
    altered = [name for name in altered if name not in lost]
    findings.add(
        "schema", "tables, indexes, guards or views are not as schema.sql has them", altered
    )
    if any(name.startswith("table ") for name in altered):
        return Verification(findings=tuple(findings.found), revisions=())
    findings.add("cache", "the cache is not as schema.sql has it (run tms rebuild)", lost)
    file = _File(audit, findings)
    compared = _chosen(file.head, revisions)
    file.check_commits()
    file.check_nodes()
    file.check_justifications()
    file.check_switches()
    file.check_labels(compared)
    if not lost:
        file.check_cache()
    return Verification(findings=tuple(findings.found), revisions=tuple(compared))


def _chosen(head: int, revisions: int | None) -> list[int]:
    if revisions is None or revisions >= head:
        return list(range(1, head + 1))
    return sorted({head - (head * step) // revisions for step in range(revisions)})


class _Findings:
    def __init__(self) -> None:
        self.found: list[Finding] = []

    def add(self, rule: str, message: str, examples: Iterable[str]) -> None:
        examples = list(examples)
        if examples:
            self.found.append(
                Finding(
                    rule=rule,
                    message=message,
                    count=len(examples),
                    examples=tuple(examples[:_EXAMPLES]),
                )
            )


class _File:
    """All of the record, in memory, and the checks on it."""

    def __init__(self, audit: Audit, findings: _Findings) -> None:
        self._audit = audit
        self._findings = findings
        self._commits = list(audit.rows("commits"))
        self.head = self._commits[-1][0] if self._commits else 0
        self._nodes = {
            key: (kind, id, role, revision) for key, kind, id, role, revision in audit.rows("node")
        }
        self._premises = _grouped(audit.rows("premise"))
        self._derives = _grouped(audit.rows("derive"))
        self._justifications = {
            key: _Justification(
                key, revision, self._premises.get(key, ()), self._derives.get(key, ())
            )
            for key, revision, _, _ in audit.rows("justification")
        }
        self._switches = list(audit.rows("switch"))
        self._transitions = list(audit.rows("transition"))

    def _name(self, key: int) -> str:
        node = self._nodes.get(key)
        if node is not None:
            return f"{node[0]}:{node[1]}"
        return f"justification {key}" if key in self._justifications else f"key {key}"

    # ------------------------------------------------------------ the rows

    def check_commits(self) -> None:
        add, commits = self._findings.add, self._commits
        add(
            "revisions",
            "revisions do not run 1, 2, 3 …",
            [f"revision {row[0]}" for place, row in enumerate(commits, 1) if row[0] != place],
        )
        backwards = [
            f"revision {this[0]} at {written(this[1])}"
            for last, this in pairwise(commits)
            if this[1] < last[1]
        ]
        add("time", "the time of a commit goes back", backwards)
        self._check_keys()
        add("orphan", "rows belong to no commit", self._audit.orphans())

    def _check_keys(self) -> None:
        ranges = {0: (0, 0)}
        last = 0
        for revision, _, last_key, _ in self._commits:
            ranges[revision] = (last, last_key)
            last = last_key
        declared = [(key, node[3]) for key, node in self._nodes.items()]
        declared += [(item.key, item.revision) for item in self._justifications.values()]
        wrong = [
            self._name(key)
            for key, revision in declared
            if not (low_high := ranges.get(revision)) or not low_high[0] < key <= low_high[1]
        ]
        self._findings.add("keys", "a key is not of the commit that declared it", wrong)
        self._findings.add(
            "keys",
            "a node and a justification share a key",
            [self._name(key) for key in self._nodes.keys() & self._justifications.keys()],
        )

    def check_nodes(self) -> None:
        versions: dict[int, int] = {}
        wrong: list[str] = []
        for node, version, text in self._audit.rows("content"):
            if version != versions.get(node, 0) + 1:
                wrong.append(f"{self._name(node)} version {version}")
            versions[node] = version
            try:
                sound = isinstance(json.loads(text), dict)
            except ValueError:
                sound = False
            if not sound:
                wrong.append(f"{self._name(node)} version {version} is no JSON object")
        self._findings.add("content", "content versions do not run 1, 2, 3 …", wrong)

    def check_justifications(self) -> None:
        add, nodes = self._findings.add, self._nodes
        said = {key: (digest, rule) for key, _, digest, rule in self._audit.rows("justification")}
        items = self._justifications.values()
        add(
            "derives",
            "a justification concludes nothing",
            [self._name(item.key) for item in items if not item.conclusions],
        )
        add(
            "derives",
            "a justification concludes something that is no fact",
            [
                self._name(item.key)
                for item in items
                if any(key not in nodes or nodes[key][2] != "fact" for key in item.conclusions)
            ],
        )
        add(
            "derives",
            "a justification has a conclusion among its premises",
            [self._name(item.key) for item in items if set(item.premises) & set(item.conclusions)],
        )
        add(
            "digest",
            "a justification does not say what its digest says",
            [
                self._name(item.key)
                for item in items
                if self._digest(item, said[item.key][1]) != said[item.key][0]
            ],
        )

    def _digest(self, item: _Justification, rule: str | None) -> bytes:
        premises = sorted(self._name(key) for key in item.premises)
        conclusions = sorted(self._name(key) for key in item.conclusions)
        text = json.dumps([premises, conclusions, rule], ensure_ascii=False)
        return hashlib.blake2b(text.encode(), digest_size=16).digest()

    def check_switches(self) -> None:
        state: dict[int, int] = {}
        wrong = []
        for revision, target, turned in self._switches:
            if state.get(target, 1) == turned:
                wrong.append(f"{self._name(target)} at revision {revision}")
            state[target] = turned
        self._findings.add("switch", "a switch is turned to where it is", wrong)

    # ------------------------------------------------------------ the labels

    def check_labels(self, compared: list[int]) -> None:
        """Walk the revisions once; at those compared, label all nodes from scratch."""
        wanted = set(compared)
        turned = _by_revision(self._switches)
        moved = _by_revision(self._transitions)
        off: set[int] = set()
        held: dict[int, int | None] = {}
        alternation: list[str] = []
        counts: list[str] = []
        wrong: list[str] = []
        unfounded: list[str] = []
        for revision, _, _, believed in self._commits:
            for _, target, state in turned.get(revision, ()):
                (off.discard if state else off.add)(target)
            for _, node, change, support in moved.get(revision, ()):
                where = f"{self._name(node)} at revision {revision}"
                if (node in held) != (change != 1) or (change == 2 and held[node] == support):
                    alternation.append(where)
                if change == 0:
                    held.pop(node, None)
                else:
                    held[node] = support
            if sum(support is not None for support in held.values()) != believed:
                counts.append(f"revision {revision}")
            if revision in wanted:
                expected = self._fixpoint(revision, off)
                wrong += [
                    f"{self._name(node)} at revision {revision}"
                    for node in sorted(expected ^ held.keys())
                ]
                unfounded += self._unfounded(revision, off, held)
        add = self._findings.add
        add("alternation", "a belief changes to what it was", alternation)
        add("believed", "the count of believed facts is off", counts)
        add("label", "a label is not what the record supports", wrong)
        add("support", "a fact rests on support that does not hold it up", unfounded)

    def _fixpoint(self, revision: int, off: set[int]) -> set[int]:
        """Label from scratch (Dowling & Gallier 1984): count the premises that are missing."""
        missing: dict[int, int] = {}
        uses: dict[int, list[int]] = {}
        held = {
            key
            for key, node in self._nodes.items()
            if node[2] == "source" and node[3] <= revision and key not in off
        }
        arrived = list(held)
        firing: list[int] = []
        for item in self._justifications.values():
            if item.revision > revision or item.key in off:
                continue
            missing[item.key] = len(item.premises)
            for premise in item.premises:
                uses.setdefault(premise, []).append(item.key)
            if not item.premises:
                firing.append(item.key)
        while arrived or firing:
            for node in arrived:
                for key in uses.get(node, ()):
                    missing[key] -= 1
                    if missing[key] == 0:
                        firing.append(key)
            arrived = []
            for key in firing:
                for fact in self._justifications[key].conclusions:
                    if fact not in held and fact not in off:
                        held.add(fact)
                        arrived.append(fact)
            firing = []
        return held

    def _unfounded(
        self, revision: int, off: set[int], held: dict[int, int | None]
    ) -> Iterator[str]:
        """Yield the IN nodes that the recorded supports do not carry down to sources and axioms."""
        waiting: dict[int, int] = {}
        resting: dict[int, list[int]] = {}
        ready: list[int] = []
        for node, support in held.items():
            item = self._justifications.get(support) if support is not None else None
            is_fact = node in self._nodes and self._nodes[node][2] == "fact"
            if (item is None) == is_fact:
                continue
            if item is None:
                ready.append(node)
            elif item.key not in off and item.revision <= revision and node in item.conclusions:
                waiting[node] = len(item.premises)
                for premise in item.premises:
                    resting.setdefault(premise, []).append(node)
                if not item.premises:
                    ready.append(node)
        for node in ready:
            for fact in resting.get(node, ()):
                waiting[fact] -= 1
                if waiting[fact] == 0:
                    ready.append(fact)
        for node in sorted(held.keys() - set(ready)):
            yield f"{self._name(node)} at revision {revision}"

    def check_cache(self) -> None:
        held: dict[int, int | None] = {0: None}  # the cache has a row of key 0 in each table
        for _, node, change, support in self._transitions:
            if change:
                held[node] = support
            else:
                held.pop(node, None)
        state = {target: state for _, target, state in self._switches}
        labels = {node: (rank, support) for node, rank, support in self._audit.rows("cache_label")}
        wrong = [
            self._name(node)
            for node in sorted(held.keys() | labels.keys())
            if node not in held or node not in labels or labels[node][1] != held[node]
        ]
        for node, (rank, support) in labels.items():
            premises = self._premises.get(support, ()) if support is not None else ()
            if support is not None and any(
                premise not in labels or labels[premise][0] >= rank for premise in premises
            ):
                wrong.append(f"rank of {self._name(node)}")
        cached_off = {row[0] for row in self._audit.rows("cache_off")}
        wrong += [
            f"switch of {self._name(key)}"
            for key in sorted(cached_off ^ {0, *(key for key, on in state.items() if not on)})
        ]
        self._findings.add(
            "cache", "the cache is not what the record says (run tms rebuild)", wrong
        )


def _grouped(rows: Iterable[tuple[int, int]]) -> dict[int, tuple[int, ...]]:
    groups: dict[int, list[int]] = {}
    for key, node in rows:
        groups.setdefault(key, []).append(node)
    return {key: tuple(nodes) for key, nodes in groups.items()}


def _by_revision(rows: Iterable[tuple[int, ...]]) -> dict[int, list[tuple[int, ...]]]:
    groups: dict[int, list[tuple[int, ...]]] = {}
    for row in rows:
        groups.setdefault(row[0], []).append(row)
    return groups
