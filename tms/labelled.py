"""What a file says was held, labelled again from scratch and compared."""

from tms.clock import MILLI, Window
from tms.findings import Findings
from tms.ownership import Made, Ownership
from tms.relabelling import Graph, Said, by_revision, grouped
from tms.store import Audit


class Labelled:
    """All of the record, in memory, and the checks on its labels."""

    def __init__(self, audit: Audit, findings: Findings) -> None:
        self._audit = audit
        self._findings = findings
        self._commits = list(audit.rows("commits"))
        self.revisions = [row[0] for row in self._commits]
        self.times = {row[0]: row[1] for row in self._commits}
        self.blamed: set[int] = set()  # what is changed in them, no digest of theirs is over
        self._pruned = list(audit.rows("pruned"))
        self.baseline = max((row[1] for row in self._pruned), default=0)
        self._nodes = {
            key: (kind, id, role, revision)
            for key, kind, id, role, revision, _ in audit.rows("node")
        }
        self._premises = grouped(audit.rows("premise"))
        self._derives = grouped(audit.rows("derive"))
        self._justifications = {
            key: Said(key, revision, self._premises.get(key, ()), self._derives.get(key, ()))
            for key, revision, _, _, _ in audit.rows("justification")
        }
        self._owners = {row[0]: row[-1] for row in audit.rows("node")}
        self._owners |= {row[0]: row[-1] for row in audit.rows("justification")}
        self._graph = Graph(self._nodes, self._justifications)
        self._switches = list(audit.rows("switch"))
        self._transitions = list(audit.rows("transition"))
        self._validity: dict[int, list[tuple[int, Window]]] = {}
        for revision, target, start, end in audit.rows("validity"):
            self._validity.setdefault(target, []).append((revision, Window(start, end)))
        self._made = [
            Made(revision, at * MILLI + micro, scope)
            for revision, at, _, _, micro, scope in self._commits
        ]
        self._ownership = Ownership(self._owners, self._made, self.baseline)

    def _name(self, key: int) -> str:
        node = self._nodes.get(key)
        if node is not None and not self._owners[key]:
            return self._ref(key)
        return f"justification {key}" if key in self._justifications else f"key {key}"

    def _ref(self, key: int) -> str:
        node = self._nodes.get(key)
        return f"key {key}" if node is None else f"{node[0]}:{node[1]}"

    def check_labels(self, compared: list[int]) -> None:
        """Walk the revisions once; at those compared, label all nodes from scratch."""
        wanted = set(compared)
        turned = by_revision(self._switches)
        moved = by_revision(self._transitions)
        passed = self._ownership.passed(self._validity)
        concerns: dict[int, dict[int, int]] = {}
        for scope, revision, believed in self._audit.rows("concern"):
            concerns.setdefault(revision, {})[scope] = believed
        off: set[int] = set()
        held: dict[int, int | None] = {}
        facts = 0
        seen: set[int] = set()
        alternation: list[str] = []
        counts: list[str] = []
        foreign: list[str] = []
        wrong: list[str] = []
        unfounded: list[str] = []
        for made, (revision, _, _, believed, _, _) in zip(self._made, self._commits, strict=True):
            concerned = passed.get(revision, set())
            for _, target, state in turned.get(revision, ()):
                (off.discard if state else off.add)(target)
            for _, node, change, support in moved.get(revision, ()):
                where = f"{self._name(node)} at revision {revision}"
                known = revision > self.baseline or node in seen
                seen.add(node)
                concerned.add(self._owners.get(node, made.scope))
                if known and (
                    (node in held) != (change != 1) or (change == 2 and held[node] == support)
                ):
                    alternation.append(where)
                before = held.pop(node, None)
                if change != 0:
                    held[node] = support
                gained = (held.get(node) is not None) - (before is not None)
                facts += gained
                self._ownership.count(node, gained)
            if revision < self.baseline:
                continue
            if facts != believed:
                counts.append(f"revision {revision}")
            if self._ownership.wrong(made, concerned, concerns):
                foreign.append(f"revision {revision}")
            if revision in wanted:
                idle = off | self._outside(revision, made.instant)
                expected = self._graph.fixpoint(revision, idle)
                wrong += [
                    f"{self._name(node)} at revision {revision}"
                    for node in sorted(expected ^ held.keys())
                ]
                unfounded += [
                    f"{self._name(node)} at revision {revision}"
                    for node in self._graph.unfounded(revision, idle, held)
                ]
        add = self._findings.add
        add("alternation", "a belief changes to what it was", alternation)
        add("believed", "the count of believed facts is off", counts)
        add("scope", "a commit is not told to the scopes that it is of", foreign)
        add("label", "a label is not what the record supports", wrong)
        add("support", "a fact rests on support that does not hold it up", unfounded)

    def _outside(self, revision: int, instant: int) -> set[int]:
        """Return what is outside its window, as known at a revision."""
        outside = set()
        for target, windows in self._validity.items():
            known = [window for since, window in windows if since <= revision]
            if known and not known[-1].holds(instant):
                outside.add(target)
        return outside

    def check_cache(self) -> None:
        held: dict[int, int | None] = {0: None}  # the cache has a row of key 0 in each table
        for _, node, change, support in self._transitions:
            if change:
                held[node] = support
            else:
                held.pop(node, None)
        state = {target: state for _, target, state in self._switches}
        idle = {target for target, on in state.items() if not on}
        if self._commits:
            idle |= self._outside(self._made[-1].revision, self._made[-1].instant)
        labels = {node: (rank, support) for node, rank, support in self._audit.rows("cache_label")}
        wrong = [
            self._name(node)
            for node in sorted(held.keys() | labels.keys())
            if node not in held or node not in labels or labels[node][1] != held[node]
        ]
        for node, (rank, support) in labels.items():
            premises = self._premises.get(support, ()) if support is not None else ()
            if (support is None) != (rank == 0) or any(
                premise not in labels or labels[premise][0] >= rank for premise in premises
            ):
                wrong.append(f"rank of {self._name(node)}")
        cached_off = {row[0] for row in self._audit.rows("cache_off")}
        wrong += [f"switch of {self._name(key)}" for key in sorted(cached_off ^ {0, *idle})]
        self._findings.add(
            "cache", "the cache is not what the record says (run tms rebuild)", wrong
        )
