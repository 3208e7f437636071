"""What a user would reach for instead, on the same worlds: time beside correctness.

    pip install -e '.[bench]' && python -m benchmarks.rivals

Each rival takes in a world, withdraws one source, and says what is believed then; what differs
from the least fixpoint, worked out here by itself, counts as a wrong answer.
"""

import argparse
import importlib
import platform
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

import tms
from benchmarks.families import FAMILIES, Family, Row

World = list[Row]
Answer = set[str]


class Engine(NamedTuple):
    """A world taken in: how to withdraw a source, and what is believed, sources included."""

    withdraw: Callable[[str], object]
    believed: Callable[[], Answer]


Rival = Callable[[World, Path], Engine]
"""Takes in a world; only the withdrawal is timed."""


def parts(rows: World) -> tuple[list[str], list[tuple[list[str], str]]]:
    """Return the sources of a world, and its justifications as (premises, conclusion)."""
    sources = [row["source"] for row in rows if "source" in row]
    rules = [(row["premises"], row["derives"][0]) for row in rows if "justification" in row]
    return sources, rules


def fixpoint(sources: Answer, rules: list[tuple[list[str], str]]) -> Answer:
    """Return the least fixpoint: passes over all justifications until nothing is added."""
    held, waiting = set(sources), rules
    while True:
        rest = [rule for rule in waiting if not held.issuperset(rule[0])]
        held.update(conclusion for premises, conclusion in waiting if held.issuperset(premises))
        if len(rest) == len(waiting):
            return held
        waiting = rest


def tms_file(rows: World, folder: Path) -> Engine:
    """This library, in a file, with its record, its report and its history."""
    with tms.open(":memory:") as warm:
        warm.source("S:1")
        warm.retract("S:1")
    memory = tms.open(folder / "tms.db")
    memory.load(rows)
    sources = [row["source"] for row in rows if "source" in row]

    def believed() -> Answer:
        with memory:
            return {str(ref) for ref in memory.holding()} | set(filter(memory.believes, sources))

    return Engine(memory.retract, believed)


def recompute(rows: World, folder: Path) -> Engine:
    """Load all of it from SQLite, label from scratch (Dowling & Gallier 1984), compare."""
    sources, rules = parts(rows)
    path = folder / "plain.db"
    sql = sqlite3.connect(path)
    sql.execute("CREATE TABLE edge (justification INTEGER, premise TEXT, conclusion TEXT)")
    sql.executemany(
        "INSERT INTO edge VALUES (?, ?, ?)",
        [(key, p, c) for key, (premises, c) in enumerate(rules) for p in premises],
    )
    sql.commit()
    held = label(sql, set(sources))

    def withdraw(source: str) -> Answer:
        died = held - label(sql, set(sources) - {source})
        held.difference_update(died)
        return died

    def believed() -> Answer:
        sql.close()
        return held

    return Engine(withdraw, believed)


def label(sql: sqlite3.Connection, sources: Answer) -> Answer:
    """Label from scratch what a table of edges says."""
    missing: dict[int, int] = {}
    concludes: dict[int, str] = {}
    uses: dict[str, list[int]] = {}
    for key, premise, conclusion in sql.execute("SELECT * FROM edge"):
        missing[key] = missing.get(key, 0) + 1
        concludes[key] = conclusion
        uses.setdefault(premise, []).append(key)
    held, arrived = set(sources), list(sources)
    for node in arrived:
        for key in uses.get(node, ()):
            missing[key] -= 1
            if missing[key] == 0 and concludes[key] not in held:
                held.add(concludes[key])
                arrived.append(concludes[key])
    return held


def reachability(rows: World, folder: Path) -> Engine:
    """Keep what a recursive query reaches from the sources that are left. Popular, and wrong."""
    sources, rules = parts(rows)
    sql = sqlite3.connect(folder / "reach.db")
    sql.execute("CREATE TABLE edge (premise TEXT, conclusion TEXT)")
    sql.execute("CREATE TABLE source (id TEXT PRIMARY KEY)")
    sql.executemany(
        "INSERT INTO edge VALUES (?, ?)", [(p, c) for premises, c in rules for p in premises]
    )
    sql.executemany("INSERT INTO source VALUES (?)", [(source,) for source in sources])
    sql.execute("CREATE INDEX by_premise ON edge (premise)")
    sql.commit()

    held: Answer = set()

    def withdraw(source: str) -> None:
        sql.execute("DELETE FROM source WHERE id = ?", (source,))
        reached = sql.execute(
            "WITH RECURSIVE held (id) AS (SELECT id FROM source UNION"
            " SELECT e.conclusion FROM held JOIN edge AS e ON e.premise = held.id)"
            " SELECT id FROM held"
        )
        held.update(row[0] for row in reached)

    def believed() -> Answer:
        sql.close()
        return held

    return Engine(withdraw, believed)


def clips(rows: World, _folder: Path) -> Engine:
    """CLIPS through clipspy, one rule with logical support for each number of premises.

    The justification comes first in the pattern: the premises alone would join all with all.
    """
    engine = importlib.import_module("clips").Environment()
    sources, rules = parts(rows)
    for width in sorted({len(premises) for premises, _ in rules}):
        names = " ".join(f"?p{i}" for i in range(width))
        held = " ".join(f"(in ?p{i})" for i in range(width))
        engine.build(
            f"(defrule needs{width} (logical (needs{width} {names} ?c) {held}) => (assert (in ?c)))"
        )
    for premises, conclusion in rules:
        names = " ".join(f'"{name}"' for name in (*premises, conclusion))
        engine.assert_string(f"(needs{len(premises)} {names})")
    facts = {source: engine.assert_string(f'(in "{source}")') for source in sources}
    engine.run()

    def withdraw(source: str) -> None:
        facts.pop(source).retract()
        engine.run()

    def believed() -> Answer:
        return {fact[0] for fact in engine.facts() if fact.template.name == "in"}

    return Engine(withdraw, believed)


def ltms(rows: World, _folder: Path) -> Engine:
    """The JTMS of the ltms package, after Forbus & de Kleer 1993."""
    network = importlib.import_module("ltms.jtms").JTMS()
    sources, rules = parts(rows)
    nodes = {source: network.create_node(source, assumption=True) for source in sources}
    for source in sources:
        network.enable_assumption(nodes[source])
    for premises, conclusion in rules:
        for name in (*premises, conclusion):
            if name not in nodes:
                nodes[name] = network.create_node(name)
        network.justify_node("bench", nodes[conclusion], [nodes[p] for p in premises])

    def believed() -> Answer:
        return {name for name, node in nodes.items() if node.is_in}

    return Engine(lambda source: network.retract_assumption(nodes[source]), believed)


def reasons(rows: World, _folder: Path) -> Engine:
    """The network of the ftl-reasons package, in memory."""
    package = importlib.import_module("reasons")
    network = importlib.import_module("reasons.network").Network()
    sources, rules = parts(rows)
    for source in sources:
        network.add_node(source, source)
    for premises, conclusion in rules:
        justification = package.Justification(type="SL", antecedents=list(premises))
        for premise in premises:
            if premise not in network.nodes:
                _declare(package, network, premise)
        if conclusion in network.nodes:
            network.add_justification(conclusion, justification)
        else:
            network.add_node(conclusion, conclusion, [justification])

    def believed() -> Answer:
        return {name for name, node in network.nodes.items() if node.truth_value == "IN"}

    return Engine(network.retract, believed)


def _declare(package: Any, network: Any, name: str) -> None:
    """Declare a node that is to be OUT until justified: one that nothing grounds yet."""
    never = package.Justification(type="SL", antecedents=["never"])
    network.add_node(name, name, [never])


RIVALS: dict[str, Rival] = {
    "tms": tms_file,
    "recompute in Python": recompute,
    "recursive query": reachability,
    "CLIPS (clipspy)": clips,
    "JTMS of ltms": ltms,
    "ftl-reasons": reasons,
}


def rows(families: list[Family], n: int) -> Iterator[str]:
    """Yield the lines of the table."""
    yield f"| world of {n:,} | engine | withdraw, ms | wrong answers |"
    yield "|---|---|---:|---:|"
    for family in families:
        world = list(family.rows(n))
        sources, rules = parts(world)
        right = fixpoint(set(sources) - {family.withdrawn}, rules)
        for name, rival in RIVALS.items():
            with tempfile.TemporaryDirectory() as folder:
                try:
                    spent, answer = withdrawal(rival, world, Path(folder), family.withdrawn)
                except ModuleNotFoundError as error:
                    yield f"| {family.name} | {name} | | not installed: {error.name} |"
                except RecursionError:
                    yield f"| {family.name} | {name} | | fails: RecursionError |"
                else:
                    wrong = len(answer ^ right)
                    yield f"| {family.name} | {name} | {spent * 1e3:,.2f} | {wrong:,} |"


def withdrawal(rival: Rival, world: World, folder: Path, source: str) -> tuple[float, Answer]:
    """Return the seconds that a withdrawal takes, and what is believed after it."""
    engine = rival(world, folder)
    started = time.perf_counter()
    engine.withdraw(source)
    return time.perf_counter() - started, engine.believed()


def versions() -> str:
    """Say what is compared: the versions of the packages, of Python and of SQLite."""
    told = [f"CPython {platform.python_version()}", f"SQLite {sqlite3.sqlite_version}"]
    for package in ("sqlite-tms", "clipspy", "ltms", "ftl-reasons"):
        try:
            told.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            told.append(f"{package} not installed")
    return ", ".join(told) + "."


NOTE = """\
Only tms writes what it did to a file, with a report and its history, in one transaction. The
recomputation and the query read a file and write nothing; their time grows with the file, not with
the change. The last three hold all in memory. A wrong answer is a node whose status is not that of
the least fixpoint."""

FACTS = 5_000
"""How many facts a world has in a full run."""


def main() -> None:
    """Print the table, and for a full run keep it in RIVALS.md."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rivals", description=__doc__)
    parser.add_argument("--facts", type=int, help="a world of another size; keeps nothing")
    given = parser.parse_args().facts
    names = ("security", "chain", "layers", "rings", "memory", "pods")
    kept = [f"{versions()}\n", f"{NOTE}\n"]
    print("\n".join(kept))
    for line in rows([FAMILIES[name] for name in names], given or FACTS):
        print(line, flush=True)
        kept.append(line)
    if not given:
        text = "# Rivals\n\nWritten by `python -m benchmarks.rivals`.\n\n" + "\n".join(kept) + "\n"
        Path(__file__).with_name("RIVALS.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
