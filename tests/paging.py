"""Walking through answers in pages, and comparing them with the whole answers."""

from collections.abc import Callable, Iterator
from typing import Any

import tms


def pages(ask: Callable[..., tms.Page[Any]], limit: int) -> Iterator[tms.Page[Any]]:
    """Ask for one page after the other; none is empty but a first, none is longer than asked."""
    page = ask(limit=limit)
    yield page
    while page.next_cursor is not None:
        assert len(page.items) == limit
        page = ask(limit=limit, after=page.next_cursor)
        assert 1 <= len(page.items) <= limit
        yield page


def items(ask: Callable[..., tms.Page[Any]], limit: int) -> list[Any]:
    return [item for page in pages(ask, limit) for item in page.items]


def changed(report: tms.Report) -> list[tms.Change]:
    """What the pages of a report say, in the order of the report."""
    told = [tms.Change(what="died", ref=ref) for ref in report.died]
    told += [tms.Change(what="revived", ref=ref) for ref in report.revived]
    told += [
        tms.Change(what="survived", ref=survivor.fact, survivor=survivor)
        for survivor in report.survived_via
    ]
    told += [tms.Change(what="settled", ref=item.ref, settled=item) for item in report.settled]
    return told


def ordered(changes: list[tms.Change]) -> list[tms.Change]:
    """Put what the pages of a report say into the order of a report."""

    def order(change: tms.Change) -> tuple[Any, ...]:
        parts = ("died", "revived", "survived", "settled")
        when = None if change.settled is None else change.settled.at.timestamp()
        return parts.index(change.what), when or 0, change.ref.partition(":")

    return sorted(changes, key=order)


def check_report(reader: Any, report: tms.Report, limit: int) -> None:
    """Compare the pages of a report with the report."""
    found = items(lambda **given: reader.report_page(report.after, **given), limit)
    assert ordered(found) == changed(report)
    parts = [change.what for change in found]
    assert parts == sorted(parts, key=("died", "revived", "survived", "settled").index)


def check_history(reader: Any, ref: object, limit: int) -> None:
    """Compare the pages of a life with the life."""
    found = items(lambda **given: reader.history_page(ref, **given), limit)
    assert tuple(found) == reader.history(ref)
