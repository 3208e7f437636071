"""What an operation costs in statements and steps of SQLite: counts, which do not jitter."""

import re
from contextlib import contextmanager

import pytest
from making import Clock, Hand, days

import tms
from benchmarks.families import FAMILIES

HOT = {
    "source": lambda m: m.source("New:source", content={"a": 1}),
    "fact": lambda m: m.fact("New:fact"),
    "justify": lambda m: m.justify("New:conclusion", ["Pod:0001", "State:0-0000003"], rule="new"),
    "justify again": lambda m: m.justify("State:0-0000001", "Pod:0000", rule="bench"),
    "axiom": lambda m: m.axiom("New:axiom"),
    "retract": lambda m: m.retract("Pod:0000"),
    "unretract": lambda m: m.unretract("Pod:0000"),
    "retract a fact": lambda m: m.retract("State:0-0000001"),
    "retract a justification": lambda m: m.retract("justification:pod/0/2"),
    "retract again": lambda m: m.retract("Pod:0000"),
    "revise": lambda m: m.revise("Pod:0002", content={"a": 2}),
    "believes": lambda m: m.believes("State:0-0000001"),
    "get": lambda m: (m.get("State:0-0000001"), m.get("justification:pod/0/2")),
    "status": lambda m: m.status("justification:pod/0/2"),
    "scan": lambda m: m.scan(limit=20),
    "scan of a kind": lambda m: m.scan(
        kind="State", limit=20, after=m.scan(kind="State", limit=3).next_cursor
    ),
    "head": lambda m: m.head,
    "report": lambda m: m.report(m.head),
    "history": lambda m: m.history("State:0-0000001"),
    "why": lambda m: m.why("State:0-0000001"),
    "what_if": lambda m: m.what_if(
        retract="Pod:0000", unretract="Pod:0003", justify=[("New:maybe", "Pod:0001")]
    ),
    "what_if before": lambda m: m.as_of(recorded=m.report(m.head).before).what_if(
        retract="Pod:0000"
    ),
    "impact": lambda m: m.impact("Pod:0000"),
    "why_not": lambda m: (m.why_not("State:0-0000001"), m.why_not("State:0-0000002")),
    "environments": lambda m: m.environments("State:0-0000001"),
    "origins": lambda m: m.origins("State:0-0000001"),
    "cuts": lambda m: m.cuts("State:0-0000001"),
    "neighbourhood": lambda m: m.neighbourhood("State:0-0000001", depth=2),
    "periods": lambda m: (m.periods("State:0-0000001"), m.periods("justification:pod/0/2")),
    "believed_during": lambda m: (
        m.believed_during("State:0-0000001"),
        m.believed_during("justification:pod/0/2"),
    ),
    "diff": lambda m: m.diff(m.report(m.head).before, m.head),
    "as_of": lambda m: m.as_of(recorded=m.head).believes("Pod:0000"),
    "log": lambda m: list(m.log(after=m.head)),
    "source with a window": lambda m: m.source("New:trial", valid_to=days(9)),
    "justify with a window": lambda m: m.justify("New:try", "New:trial", valid_from=days(-9)),
    "revise a window": lambda m: (
        m.unretract("Pod:0000"),
        m.revise("Pod:0000", valid_to=days(5)),
    ),
    "as_of an instant": lambda m: (
        m.as_of(valid=days(7)).believes("New:try"),
        m.as_of(valid=days(7)).why_not("State:0-0000001"),
        m.as_of(valid=days(7)).neighbourhood("New:try"),
        m.as_of(valid=days(7)).scan(kind="State", limit=20),
    ),
    "anchor_at": lambda m: m.anchor_at(days(0)),
    "settle": lambda m: m.settle(),
    "expire": lambda m: m.revise("Pod:0000", valid_to=days(-5)),
    "log_page": lambda m: m.log_page(2, since=m.report(m.head).before),
    "history_page": lambda m: m.history_page(
        "Pod:0000", 2, after=m.history_page("Pod:0000", 1).next_cursor
    ),
    "report_page": lambda m: (
        anchor := m.retract("Pod:0000").after,
        m.report_page(anchor, 5, after=m.report_page(anchor, 5).next_cursor),
    ),
    "changes": lambda m: list(m.changes(since=m.head)),
    "subscribe": lambda m: (
        m.subscribe("mail").acknowledge(m.head),
        m.subscribe("mail").take(),
        m.subscribe("mail").forget(),
    ),
}
"""Work whose cost must not grow with the file, in this order on one memory."""


@contextmanager
def watched(memory):
    """Count the statements and the steps of the virtual machine of a memory."""
    sql = memory._connection.sql
    seen = {"statements": [], "steps": 0}

    def step():
        seen["steps"] += 1

    def trace(statement):
        if seen["statements"][-1:] != [statement]:  # a guard that runs reports its statement again
            seen["statements"].append(statement)

    sql.set_trace_callback(trace)
    sql.set_progress_handler(step, 1)
    try:
        yield seen
    finally:
        sql.set_trace_callback(None)
        sql.set_progress_handler(None, 0)


@pytest.fixture(scope="module")
def costs():
    """Return the cost of all hot work in a small and in a twenty times larger memory."""
    sizes = []
    for n in (1_000, 20_000):
        with tms.open(":memory:", clock=Clock()) as memory:
            memory.load(FAMILIES["pods"].rows(n))
            cost = {}
            for name, work in HOT.items():
                with watched(memory) as seen:
                    work(memory)
                cost[name] = seen
            sizes.append(cost)
    return sizes


@pytest.mark.parametrize("name", HOT)
def test_the_cost_of_small_work_does_not_grow_with_the_file(costs, name):
    small, large = costs[0][name], costs[1][name]
    assert len(large["statements"]) == len(small["statements"])
    assert large["steps"] <= 1.1 * small["steps"] + 50


def test_a_retraction_that_touches_thirty_facts_issues_a_bounded_number_of_statements(costs):
    assert len(costs[1]["retract"]["statements"]) <= 40
    assert costs[1]["retract"]["steps"] <= 10_000


def test_windows_that_neither_open_nor_close_cost_nothing():
    counts = []
    for n in (200, 4_000):
        clock = Hand()
        with tms.open(":memory:", clock=clock) as memory:
            with memory.batch():
                for number in range(n):
                    ref = memory.source(f"S:{number}", valid_from=days(-9), valid_to=days(99))
                    memory.justify(f"F:{number}", ref)
                memory.justify("F:last", memory.source("S:last", valid_to=days(1)))
            clock.now = days(2)
            with watched(memory) as seen:
                assert not memory.believes("F:last")
                assert memory.believes("F:1")
                assert memory.as_of(valid=days(0)).believes("F:last")
                assert memory.settle().died == ("F:last",)
                assert not memory.settle()
                memory.source("S:new")
                assert memory.believes("F:1")
            assert_no_scan(memory, seen["statements"])
            counts.append(seen)
    assert len(counts[1]["statements"]) == len(counts[0]["statements"])
    assert counts[1]["steps"] <= 1.1 * counts[0]["steps"] + 50


def test_a_wide_wave_is_one_statement_not_one_for_each_fact():
    counts = []
    for n in (1_000, 8_000):
        with tms.open(":memory:") as memory:
            memory.load(FAMILIES["fan"].rows(n))
            with watched(memory) as seen:
                assert len(memory.retract("Root:0").died) == n
            counts.append(len(seen["statements"]))
    assert counts[1] <= counts[0] + 4  # derivations come in blocks that grow fourfold


@pytest.mark.parametrize("n", [1, 5_000])
def test_the_digest_of_a_commit_is_one_statement_however_many_rows_it_has(n):
    with tms.open(":memory:") as memory:
        with watched(memory) as seen:
            memory.load(FAMILIES["fan"].rows(n))
            memory.retract("Root:0")
        assert sum("json_array('before'" in text for text in seen["statements"]) == 2


@pytest.mark.parametrize("family", ["chain", "layers", "rings", "memory", "security"])
def test_no_hot_statement_scans_a_table(family):
    with tms.open(":memory:") as memory:
        memory.load(FAMILIES[family].rows(2_000))
        with watched(memory) as seen:
            memory.retract(FAMILIES[family].withdrawn)
            memory.unretract(FAMILIES[family].withdrawn)
        assert_no_scan(memory, seen["statements"])


def test_no_statement_of_small_work_scans_a_table():
    with tms.open(":memory:") as memory:
        memory.load(FAMILIES["pods"].rows(1_000))
        with watched(memory) as seen:
            for work in HOT.values():
                work(memory)
        assert_no_scan(memory, seen["statements"])


def assert_no_scan(memory, statements):
    sql = memory._connection.sql
    tables = {row[0] for row in sql.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    explained = 0
    for statement in dict.fromkeys(statements):
        if not re.match(r"\s*(SELECT|INSERT|DELETE|WITH|UPDATE)", statement):
            continue
        explained += 1
        aliases = dict(re.findall(r"\b(\w+) AS (\w+)", statement))
        names = tables | {alias for table, alias in aliases.items() if table in tables}
        for *_, step in sql.execute("EXPLAIN QUERY PLAN " + statement):
            scanned = re.match(r"SCAN (\w+)", step)
            last = "FROM commits ORDER BY revision DESC LIMIT 1" in statement  # a seek to the end
            # the plan has a look for rows that wait for a parent; it runs only for deferred keys
            parent = (
                "INSERT INTO justification" in statement and scanned and scanned[1] == "transition"
            )
            assert not scanned or scanned[1] not in names or last or parent, (step, statement)
    assert explained > 5
