"""Where the time goes, and what plain Python cannot do without: ``python -m benchmarks.limits``.

For the work whose absolute aims depend on the machine: a bulk load, small commits, and a small
retraction. The profile adds up the time of each room; a bare loader in Python, which checks
nothing and labels nothing, is the least that any loader in CPython does.
"""

import argparse
import cProfile
import pstats
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import tms
from benchmarks import floor
from benchmarks.families import FAMILIES, Row

OF_SQLITE = ("'sqlite3.", "sqlite3.connect")


def bare(rows: list[Row], path: Path) -> float:
    """Return the seconds for names to keys, rows to tuples, and ``executemany``, all unchecked."""
    sql = floor.empty(path)
    keys: dict[str, int] = {}
    tables: dict[str, list[tuple[object, ...]]] = {name: [] for name in _BARE}
    started = time.perf_counter()
    key = 0
    for row in rows:
        key += 1
        named = row.get("source") or row.get("fact")
        if named is None:
            tables["justification"].append(
                (key, 0, row["justification"], key.to_bytes(16, "big"), row.get("rule"), 1)
            )
            tables["premise"] += [(key, keys[ref]) for ref in row["premises"]]
            new = [ref for ref in row["derives"] if ref not in keys]
        else:
            new = [named]
        for ref in new:
            key += 1
            keys[ref] = key
            kind, _, id = ref.partition(":")
            tables["node"].append((key, 0, kind, id, "fact" if named is None else "source", 1))
        if named is None:
            first = tables["justification"][-1][0]
            tables["derive"] += [(first, keys[ref]) for ref in row["derives"]]
    sql.execute("BEGIN IMMEDIATE")
    for table, width in _BARE.items():
        places = ", ".join("?" * width)
        sql.executemany(f"INSERT INTO {table} VALUES ({places})", tables[table])
    sql.execute("COMMIT")
    spent = time.perf_counter() - started
    sql.close()
    return spent


_BARE = {"node": 6, "justification": 6, "premise": 2, "derive": 2}


def shares(work: Callable[[], object]) -> list[tuple[str, float]]:
    """Return the share of the time of a piece of work that each room takes, largest first."""
    profile = cProfile.Profile()
    profile.runcall(work)
    spent: Counter[str] = Counter()
    for (file, _, function), (_, _, own, _, _) in pstats.Stats(profile).stats.items():  # type: ignore[attr-defined]
        path = Path(file)
        if any(name in function for name in OF_SQLITE):
            room = "SQLite"
        elif path.suffix == ".py" and "tms" in path.parts:
            room = ".".join(path.with_suffix("").parts[path.parts.index("tms") :])
        else:
            room = "pydantic" if "pydantic" in file + function else "Python's own"
        spent[room] += own
    total = sum(spent.values())
    return [(room, part / total) for room, part in spent.most_common()]


def put(title: str, work: Callable[[], object]) -> None:
    """Print the shares of a piece of work."""
    listed = ", ".join(f"{room} {share:.0%}" for room, share in shares(work) if share >= 0.01)
    print(f"{title}: {listed}", flush=True)


def small(memory: tms.Memory, times: int) -> None:
    """Retract and unretract thirty facts again and again."""
    for _ in range(times):
        memory.retract(FAMILIES["pods"].withdrawn)
        memory.unretract(FAMILIES["pods"].withdrawn)


def commit(memory: tms.Memory, times: int) -> None:
    """Commit one fact and its justification again and again."""
    for i in range(times):
        memory.justify(f"New:{i}", "Pod:0001", rule="new")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.limits", description=__doc__)
    parser.add_argument("--facts", type=int, default=30_000, help="size of the memory")
    n = parser.parse_args().facts
    if n < 1:
        parser.error("a memory has at least one fact.")
    rows = list(FAMILIES["memory"].rows(n))
    with tempfile.TemporaryDirectory() as folder:
        with tms.open(Path(folder, "load.db")) as memory:
            started = time.perf_counter()
            memory.load(rows)
            ours = time.perf_counter() - started
        least = bare(rows, Path(folder, "bare.db"))
        print(f"load memory({n:,}): {n / ours:,.0f} facts/s; bare loader {n / least:,.0f} facts/s")
        with tms.open(Path(folder, "profiled.db")) as memory:
            put("  load", lambda: memory.load(rows))
        with tms.open(Path(folder, "pods.db")) as memory:
            memory.load(FAMILIES["pods"].rows(n))
            put("  retract and unretract 30 facts", lambda: small(memory, 200))
            put("  commit one fact", lambda: commit(memory, 400))


if __name__ == "__main__":
    main()
