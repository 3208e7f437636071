"""What a reader shows of its nodes, and what a snapshot says it should."""

import json
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from commands import EPOCH
from oracle import Snapshot, by_ref

import tms

MICROSECOND = timedelta(microseconds=1)


def moment(instant: int) -> datetime:
    return EPOCH + instant * MICROSECOND


def written(instant: int) -> str:
    """Write an instant as the JSON of a report has it."""
    return moment(instant).isoformat().replace("+00:00", "Z")


def scan(reader: Any, limit: int) -> Iterable[tms.Node]:
    page = reader.scan(limit=limit)
    yield from page.items
    while page.next_cursor is not None:
        page = reader.scan(limit=limit, after=page.next_cursor)
        yield from page.items


def seen(node: tms.Node) -> tuple[Any, ...]:
    content = None if node.content is None else json.dumps(node.content, sort_keys=True)
    valid = (bound and (bound - EPOCH) // MICROSECOND for bound in (node.valid_from, node.valid_to))
    return (node.ref, node.role, node.status == "IN", node.retracted, node.version, content, *valid)


def expected(snapshot: Snapshot) -> list[tuple[Any, ...]]:
    return [
        (
            *(ref, node.role, ref in snapshot.held, ref in snapshot.off, node.version),
            *(node.content, *node.valid),
        )
        for ref, node in sorted(snapshot.nodes.items(), key=lambda item: by_ref(item[0]))
    ]
