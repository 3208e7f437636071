"""The verbs that read. They never make a file."""

from functools import partial

import click

import tms
from tms import render
from tms.cli.options import (
    Seen,
    at_option,
    format_option,
    kind_option,
    page_of,
    paged,
    reader,
    ref,
    time,
)
from tms.cli.output import tell, tell_as, tell_each, tell_lines
from tms.cli.program import FAILED, Door, verb
from tms.keeping import write_bundle
from tms.upkeep import new_path


@verb
@kind_option
@at_option
def holding(door: Door, *, kind: str | None, at: Seen | None, as_json: bool) -> None:
    """List the facts that are believed, by kind and id.

    With --json a JSON text a line.
    """
    with door.open() as memory:
        tell_each(reader(memory, at).holding(kind), render.facts, as_json=as_json)


@verb
@ref
@at_option
def show(door: Door, *, ref: str, at: Seen | None, as_json: bool) -> None:
    """Show what is known of one source, fact or justification."""
    with door.open() as memory:
        tell(reader(memory, at).get(ref), as_json=as_json)


@verb
@click.argument("ref", metavar="[REF]", required=False)
@at_option
def status(door: Door, *, ref: str | None, at: Seen | None, as_json: bool) -> None:
    """Say whether REF is IN or OUT, or count what is on record.

    It counts if there is no REF. A justification is IN while it fires.
    """
    if ref is None and at is not None:
        raise click.UsageError(f"{at.options} needs a REF.")
    with door.open() as memory:
        tell(memory.stats() if ref is None else reader(memory, at).status(ref), as_json=as_json)


@verb
@click.option("--digest", is_flag=True, help="Print its digest behind it, to keep elsewhere.")
def head(door: Door, *, digest: bool, as_json: bool) -> None:
    """Print the anchor of the last commit.

    If there is none yet it says so, with --json by null.
    """
    with door.open() as memory:
        last = memory.digest() if digest else memory.head
        tell("no commit yet" if last is None and not as_json else last, as_json=as_json)


@verb
@click.argument("moment", metavar="TIME", callback=time())
def anchor_at(door: Door, *, moment: str, as_json: bool) -> None:
    """Print the anchor of the last commit at or before TIME.

    If there is none it says so, with --json by null.
    """
    with door.open() as memory:
        found = memory.anchor_at(moment)
        tell("no commit by then" if found is None and not as_json else found, as_json=as_json)


@verb
@click.option("--after", metavar="ANCHOR", help="Only the commits after this one.")
@paged
@at_option
def log(
    door: Door,
    *,
    after: str | None,
    limit: int | None,
    cursor: str | None,
    at: Seen | None,
    as_json: bool,
) -> None:
    """List the commits, oldest first.

    With --json a commit a line, or a page.
    """
    with door.open() as memory:
        seen = reader(memory, at)
        page = page_of(partial(seen.log_page, since=after), limit=limit, cursor=cursor)
        if page is not None:
            tell(page, as_json=as_json)
        else:
            tell_each(seen.log(after=after), render.log, as_json=as_json)


@verb
@click.option("--since", metavar="ANCHOR", help="Only of the commits after this one.")
@at_option
def changes(door: Door, *, since: str | None, at: Seen | None, as_json: bool) -> None:
    """List the reports of the commits, oldest first.

    With --json a report a line.
    """
    with door.open() as memory:
        tell_each(reader(memory, at).changes(since=since), render.reports, as_json=as_json)


@verb
@click.argument("anchor", metavar="[ANCHOR]", required=False)
@paged
@format_option
def report(
    door: Door, *, anchor: str | None, limit: int | None, cursor: str | None, form: str | None
) -> None:
    """Report what a commit did, without ANCHOR the last one."""
    with door.open() as memory:
        which = memory.head if anchor is None else anchor
        if which is None:
            raise tms.NoSuchAnchor("no commit yet.", hint="There is nothing to report.")
        page = page_of(memory.report_page, which, limit=limit, cursor=cursor)
        if page is None:
            tell_as(memory.report(which), form)
        elif form in (None, "json"):
            tell(page, as_json=form == "json")
        else:
            raise click.UsageError("A page is told as text or JSON.")


@verb
@ref
@paged
@at_option
def history(
    door: Door, *, ref: str, limit: int | None, cursor: str | None, at: Seen | None, as_json: bool
) -> None:
    """List what happened to one source, fact or justification.

    With --json an event a line, or a page.
    """
    with door.open() as memory:
        seen = reader(memory, at)
        page = page_of(seen.history_page, ref, limit=limit, cursor=cursor)
        if page is not None:
            tell(page, as_json=as_json)
        else:
            tell_each(seen.history(ref), render.events, as_json=as_json)


@verb
@click.argument("a", metavar="ANCHOR")
@click.argument("b", metavar="[ANCHOR]", required=False)
@at_option
@format_option
def diff(door: Door, *, a: str, b: str | None, at: Seen | None, form: str | None) -> None:
    """Tell how two commits differ, in either direction.

    Without a second ANCHOR it is compared with the last commit.
    """
    with door.open() as memory:
        seen = reader(memory, at)
        tell_as(seen.diff(a, b or str(seen.head)), form)


@verb
@kind_option
@click.option(
    "--limit",
    type=click.IntRange(1, 1000),
    default=1000,
    show_default=True,
    help="At most this many.",
)
@click.option("--cursor", "--after", metavar="CURSOR", help="Go on where the page before ended.")
@at_option
def scan(
    door: Door, *, kind: str | None, limit: int, cursor: str | None, at: Seen | None, as_json: bool
) -> None:
    """Print a page of all sources and facts, IN or OUT.

    They come by kind and id; a page that is not the last tells where the next begins.
    """
    with door.open() as memory:
        page = reader(memory, at).scan(kind=kind, limit=limit, after=cursor)
        tell(page, as_json=as_json)


@verb
def doctor(door: Door, *, as_json: bool) -> int:
    """Say how the file and the SQLite in use fare.

    Exit status 1 tells that there is something to mend.
    """
    with door.open(read_only=True) as memory:
        health = memory.doctor()
        tell(health, as_json=as_json)
    return 0 if health else FAILED


@verb
@click.argument("path", metavar="FILE")
def backup(door: Door, *, path: str, as_json: bool) -> None:
    """Copy the whole memory into FILE, where nothing is yet.

    It is safe while others write, and FILE is there only when it is complete.
    """
    with door.open(read_only=True) as memory:
        tell(memory.backup(path), as_json=as_json)


@verb
@click.argument("file", metavar="[FILE]", default="-")
def export(door: Door, *, file: str, as_json: bool) -> None:
    """Write all of the memory into FILE, as JSON Lines.

    Nothing is lost: tms import makes the same memory of it, commit by commit. FILE, where nothing
    is yet, is there only when it is complete, and what was written is told. Without FILE the
    lines go to stdout.
    """
    with door.open(read_only=True) as memory:
        if file == "-":
            tell_lines(memory.export())
        else:
            tell(write_bundle(memory.export(), new_path(file)), as_json=as_json)


@verb
@click.argument("name", metavar="NAME")
@click.option(
    "--take",
    metavar="N",
    type=click.IntRange(1, 1000),
    help="Print at most N reports after the position.",
)
@click.option("--acknowledge", metavar="ANCHOR", help="First move the position to this commit.")
@click.option("--forget", is_flag=True, help="Remove the position.")
def subscribe(
    door: Door,
    *,
    name: str,
    take: int | None,
    acknowledge: str | None,
    forget: bool,
    as_json: bool,
) -> None:
    """Follow the commits as NAME, from where NAME left off.

    The position is kept in the file. What was taken is given again until it is acknowledged, with
    --json a report a line. Without --take the position is printed, null if there is none.
    """
    if forget and (take is not None or acknowledge is not None):
        raise click.UsageError("Give --forget alone.")
    with door.open() as memory:
        subscription = memory.subscribe(name)
        if forget:
            subscription.forget()
        if acknowledge is not None:
            subscription.acknowledge(acknowledge)
        if take is not None:
            tell_each(subscription.take(take), render.reports, as_json=as_json)
        else:
            position = subscription.position
            none = position is None and not as_json
            tell("nothing acknowledged yet" if none else position, as_json=as_json)


@verb
@click.option(
    "--revisions",
    type=click.IntRange(min=1),
    default=16,
    show_default=True,
    help="At how many revisions the labels are worked out again and compared.",
)
@click.option("--all", "every", is_flag=True, help="At every revision.")
@click.option("--kept", metavar="DIGEST", help="What tms head --digest printed once.")
def verify(door: Door, *, revisions: int, every: bool, kept: str | None, as_json: bool) -> int:
    """Check that the file keeps its promises.

    It is only read, and exit status 1 tells that it does not.
    """
    with door.open(read_only=True) as memory:
        found = memory.verify(revisions=None if every else revisions, kept=kept)
        tell(found, as_json=as_json)
    return 0 if found else FAILED
