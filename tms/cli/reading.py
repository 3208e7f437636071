"""The verbs that read. They never make a file."""

import click

import tms
from tms import render
from tms.cli.options import Seen, at_option, format_option, kind_option, reader, ref, time
from tms.cli.output import tell, tell_as, tell_each
from tms.cli.program import FAILED, Door, verb


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
def head(door: Door, *, as_json: bool) -> None:
    """Print the anchor of the last commit.

    If there is none yet it says so, with --json by null.
    """
    with door.open() as memory:
        last = memory.head
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
@at_option
def log(door: Door, *, after: str | None, at: Seen | None, as_json: bool) -> None:
    """List the commits, oldest first.

    With --json a commit a line.
    """
    with door.open() as memory:
        tell_each(reader(memory, at).log(after=after), render.log, as_json=as_json)


@verb
@click.argument("anchor", metavar="[ANCHOR]", required=False)
@format_option
def report(door: Door, *, anchor: str | None, form: str | None) -> None:
    """Report what a commit did, without ANCHOR the last one."""
    with door.open() as memory:
        which = memory.head if anchor is None else anchor
        if which is None:
            raise tms.NoSuchAnchor("no commit yet.", hint="There is nothing to report.")
        tell_as(memory.report(which), form)


@verb
@ref
@at_option
def history(door: Door, *, ref: str, at: Seen | None, as_json: bool) -> None:
    """List what happened to one source, fact or justification.

    With --json an event a line.
    """
    with door.open() as memory:
        tell_each(reader(memory, at).history(ref), render.events, as_json=as_json)


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
@click.option("--after", metavar="CURSOR", help="Where the page before ended.")
@at_option
def scan(
    door: Door, *, kind: str | None, limit: int, after: str | None, at: Seen | None, as_json: bool
) -> None:
    """Print a page of all sources and facts, IN or OUT.

    They come by kind and id; a page that is not the last tells where the next begins.
    """
    with door.open() as memory:
        page = reader(memory, at).scan(kind=kind, limit=limit, after=after)
        tell(page, as_json=as_json)


@verb
@click.option(
    "--revisions",
    type=click.IntRange(min=1),
    default=16,
    show_default=True,
    help="At how many revisions the labels are worked out again and compared.",
)
@click.option("--all", "every", is_flag=True, help="At every revision.")
def verify(door: Door, *, revisions: int, every: bool, as_json: bool) -> int:
    """Check that the file keeps its promises.

    It is only read, and exit status 1 tells that it does not.
    """
    with door.open(read_only=True) as memory:
        found = memory.verify(revisions=None if every else revisions)
        tell(found, as_json=as_json)
    return 0 if found else FAILED
