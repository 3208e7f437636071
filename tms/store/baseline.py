"""Which rows of a record are left out when it is pruned."""

from typing import NamedTuple

from tms.store.connection import Connection

_NEWEST = (
    "k.revision > :baseline OR k.revision ="
    " (SELECT max(revision) FROM {0} WHERE {1} = k.{1} AND revision <= :baseline)"
)

KEPT = {
    "content": "k.revision > :baseline OR NOT EXISTS (SELECT 1 FROM content AS n"
    " WHERE n.node = k.node AND n.version = k.version + 1 AND n.revision <= :baseline)",
    "switch": f"({_NEWEST.format('switch', 'target')}) AND (k.revision > :baseline OR k.state = 0)",
    "validity": _NEWEST.format("validity", "target"),
    "transition": _NEWEST.format("transition INDEXED BY transition_by_node", "node"),
    "concern": _NEWEST.format("concern", "scope"),
}
"""Of what has a newer row at the baseline, the newest row; a switch that is on needs none."""

_TOLD_OF = " UNION ".join(
    [
        *(f"SELECT k.revision FROM {table} AS k WHERE {kept}" for table, kept in KEPT.items()),
        *(f"SELECT revision FROM {table}" for table in ("node", "justification", "redaction")),
        "SELECT revision FROM scope WHERE revision > 0",
        "SELECT baseline FROM pruned",
    ]
)
KEPT["commits"] = f"k.revision >= :baseline OR k.revision IN ({_TOLD_OF})"
KEPT["concern"] = f"({KEPT['concern']}) OR ({KEPT['commits']})"


class LeftOut(NamedTuple):
    """How many rows a pruned record leaves out."""

    commits: int
    contents: int
    switches: int
    windows: int
    transitions: int


def left_out(connection: Connection, baseline: int) -> LeftOut:
    """Count what a record that begins with a revision leaves out. Reads the whole record once."""
    counts = []
    for table in ("commits", "content", "switch", "validity", "transition"):
        statement = f"SELECT count(*) FROM {table} AS k WHERE NOT ({KEPT[table]})"
        (count,) = connection.sql.execute(statement, {"baseline": baseline}).fetchone()
        counts.append(int(count))
    return LeftOut(*counts)
