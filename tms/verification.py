"""Does a file keep its promises? All is worked out again, by other means than the engine's."""

import hashlib
import json
from itertools import accumulate, pairwise

from tms.chaining import check_chain, check_kept
from tms.clock import written
from tms.content import readable
from tms.findings import Findings
from tms.labelled import Labelled
from tms.models import Verification
from tms.refs import JUSTIFICATION, Digest
from tms.relabelling import Said
from tms.store import Audit, Chain

_ALWAYS = -(2**63)
"""Before every time that a file can hold."""


def verify(audit: Audit, chain: Chain, revisions: int | None, kept: Digest | None) -> Verification:
    """Check a file.

    Args:
        audit: all of it, in one snapshot.
        chain: its digests.
        revisions: at how many revisions the labels are worked out from scratch, spread over all
            of them and ending with the head; None for every one.
        kept: a digest that was kept elsewhere, if any.

    Cost: grows with the file, times the revisions compared.
    """
    findings = Findings()
    complaints = audit.complaints()
    findings.add("integrity", "SQLite finds the file damaged", complaints)
    if any(not text.startswith("CHECK constraint failed") for text in complaints):
        return Verification(findings=tuple(findings.found), revisions=())
    with audit.lenient() as broken:
        compared = _checked(audit, chain, revisions, kept, findings)
        findings.add("text", "text is not in UTF-8", broken)
    return Verification(findings=tuple(findings.found), revisions=tuple(compared))


def _checked(
    audit: Audit, chain: Chain, revisions: int | None, kept: Digest | None, findings: Findings
) -> list[int]:
    findings.add("foreign-key", "rows refer to nothing", audit.dangling())
    altered, lost = audit.shape()
    findings.add(
        "schema", "tables, indexes, guards or views are not as schema.sql has them", altered
    )
    if any(name.startswith("table ") for name in altered):
        return []
    audit.read_texts()
    findings.add("cache", "the cache is not as schema.sql has it (run tms rebuild)", lost)
    file = _File(audit, findings)
    compared = _chosen([at for at in file.revisions if at >= file.baseline], revisions)
    file.check_commits()
    file.check_nodes()
    file.check_justifications()
    file.check_switches()
    check_chain(chain, file.times, file.baseline, file.blamed, findings)
    if kept is not None:
        check_kept(chain, kept, findings)
    file.check_consumers()
    file.check_labels(compared)
    if not lost:
        file.check_cache()
    return compared


def _chosen(there: list[int], count: int | None) -> list[int]:
    if count is None or count >= len(there):
        return there
    return sorted({there[-1 - (len(there) * step) // count] for step in range(count)})


class _File(Labelled):
    """All of the record, in memory, and the checks on it."""

    def check_commits(self) -> None:
        add, commits = self._findings.add, self._commits
        kept = [at for at in self.revisions if at < self.baseline]
        first = max(self.baseline, 1) - len(kept)
        add(
            "revisions",
            "revisions do not run 1, 2, 3 …, or in a pruned file on from its baseline",
            [
                f"revision {at}"
                for place, at in enumerate(self.revisions, first)
                if at != place and at >= self.baseline
            ],
        )
        self._check_pruned(len(kept))
        wrong = [
            f"revision {this[0]} at {_when(this[1]) or this[1]}"
            for last, this in pairwise([(0, _ALWAYS, 0, 0, 0, 0), *commits])
            if (this[1], this[4]) < (last[1], last[4]) or _when(this[1]) is None
        ]
        add("time", "the time of a commit goes back, or is in no calendar", wrong)
        self._check_keys()
        add("orphan", "rows belong to no commit", self._audit.orphans())

    def _check_pruned(self, kept: int) -> None:
        wrong = [
            f"pruning {row[0]}"
            for place, row in enumerate(self._pruned, 1)
            if row[0] != place or row[1] < max(1, *(other[1] for other in self._pruned[:place]))
        ]
        if self._pruned:
            if kept + sum(row[2] for row in self._pruned) != self.baseline - 1:
                wrong.append(f"{kept} commits before revision {self.baseline}")
            if self.baseline not in self.revisions:
                wrong.append(f"no baseline {self.baseline}")
            first: dict[int, int] = {}
            for node, version, _, _ in self._audit.rows("content"):
                first.setdefault(node, version - 1)
            if sum(first.values()) != sum(row[3] for row in self._pruned):
                wrong.append(f"{sum(first.values())} content versions before others")
            there = self._audit.superseded(self.baseline)
            wrong += [f"{count} {name} left in" for name, count in there._asdict().items() if count]
        self._findings.add("pruned", "a pruned record does not begin as it says", wrong)

    def _check_keys(self) -> None:
        ranges = {0: (0, 0)}
        last = 0
        for revision, _, last_key, _, _, _ in self._commits:
            ranges[revision] = (last, last_key)
            last = last_key
        declared = [(key, node[3]) for key, node in self._nodes.items()]
        declared += [(item.key, item.revision) for item in self._justifications.values()]
        wrong = [
            (key, revision)
            for key, revision in declared
            if not (low_high := ranges.get(revision)) or not low_high[0] < key <= low_high[1]
        ]
        self.blamed.update(revision for _, revision in wrong)
        names = [self._name(key) for key, _ in wrong]
        self._findings.add("keys", "a key is not of the commit that declared it", names)
        given: dict[int, int] = {}
        for key, revision in declared:
            given[revision] = max(key, given.get(revision, 0))
        largest = accumulate((given.get(row[0], 0) for row in self._commits), max)
        self._findings.add(
            "keys",
            "the largest key of a commit is off",
            [
                f"revision {row[0]}"
                for row, key in zip(self._commits, largest, strict=True)
                if row[2] != key
            ],
        )
        self._findings.add(
            "keys",
            "a node and a justification share a key",
            [self._name(key) for key in self._nodes.keys() & self._justifications.keys()],
        )

    def check_nodes(self) -> None:
        names = [
            self._name(key)
            for key, (kind, id, _, _) in self._nodes.items()
            if not (kind and id) or ":" in kind or kind == JUSTIFICATION
        ]
        self._findings.add("node", "a node has a name that no node can have", names)
        last = {key: (0, node[3]) for key, node in self._nodes.items()}
        redacted = dict(self._audit.rows("redaction"))  # the last of each
        wrong: list[str] = []
        marks: list[str] = []
        for node, version, revision, text in self._audit.rows("content"):
            before, since = last.get(node, (0, 0))
            dropped = before == 0 and revision <= self.baseline
            if (version != before + 1 and not dropped) or revision < since:
                wrong.append(f"{self._name(node)} version {version}")
            if revision < since:  # of a commit that had no such node, so of none of its lines
                self.blamed.add(revision)
            last[node] = (version, revision)
            if (text is None) != (revision <= redacted.get(node, 0)):
                self.blamed.add(revision)
                marks.append(f"{self._name(node)} version {version}")
            elif text is not None and readable(text) is None:
                wrong.append(f"{self._name(node)} version {version} is no JSON object")
        add = self._findings.add
        add("content", "content versions do not run 1, 2, 3 …", wrong)
        add("redaction", "a content is gone that was not redacted, or there that was", marks)

    def check_justifications(self) -> None:
        add, nodes = self._findings.add, self._nodes
        said = {
            key: (digest, rule) for key, _, digest, rule, _ in self._audit.rows("justification")
        }
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
        changed = [
            item for item in items if self._digest(item, said[item.key][1]) != said[item.key][0]
        ]
        self.blamed.update(item.revision for item in changed)
        add(
            "scope",
            "a justification joins what its scope may not join",
            [self._name(key) for key in self._ownership.reaching(self._justifications)],
        )
        add(
            "digest",
            "a justification does not say what its digest says",
            [self._name(item.key) for item in changed],
        )

    def _digest(self, item: Said, rule: str | None) -> bytes:
        own = self._owners[item.key]
        premises: list[object] = [
            ref if self._owners.get(key) == own else [ref]
            for ref, key in sorted((self._ref(key), key) for key in item.premises)
        ]
        conclusions = sorted(self._ref(key) for key in item.conclusions)
        said: list[object] = [premises, conclusions, rule]
        if item.key in self._validity:  # of a justification, it never changes
            said.append(self._validity[item.key][0][1])
        text = json.dumps(said, ensure_ascii=False)
        return hashlib.blake2b(text.encode(), digest_size=16).digest()

    def check_switches(self) -> None:
        state: dict[int, int] = {}
        wrong = []
        since = {key: node[3] for key, node in self._nodes.items()}
        since |= {item.key: item.revision for item in self._justifications.values()}
        for revision, target, turned in self._switches:
            if state.get(target, 1) == turned or since.get(target, revision + 1) > revision:
                wrong.append(f"{self._name(target)} at revision {revision}")
            state[target] = turned
        self._findings.add("switch", "a switch is turned to where it is, or is none", wrong)
        wrong = []
        for target, windows in self._validity.items():
            first = since.get(target)
            fixed = target in self._justifications
            for place, (revision, _) in enumerate(windows):
                late = revision != first if fixed else first is None or revision < first
                if late or (place and (fixed or windows[place - 1][1] == windows[place][1])):
                    wrong.append(f"{self._name(target)} at revision {revision}")
        self._findings.add("window", "a window is given to nothing, late, or twice", wrong)

    def check_consumers(self) -> None:
        last = self.revisions[-1] if self.revisions else 0
        wrong = [name for name, revision in self._audit.rows("consumer") if revision > last]
        self._findings.add("consumer", "a position is ahead of the last commit", wrong)


def _when(at: int) -> str | None:
    try:
        return written(at)
    except OverflowError:
        return None
