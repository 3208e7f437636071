"""The verbs that read. They never make a file."""

from collections.abc import Callable
from typing import Any

import click

import tms
from tms import render
from tms.cli.output import tell, tell_each
from tms.cli.program import FAILED, Command, Door, verb
from tms.content import parsed

_kind_option = click.option("--kind", metavar="KIND", help="Only of this kind.")
_ref = click.argument("ref", metavar="REF")


def _at_option(command: Command) -> Command:
    return click.option(
        "--at", metavar="ANCHOR", help="As it was at this commit; by default as it is now."
    )(command)


def _reader(memory: tms.Memory, at: str | None) -> tms.Memory | tms.View:
    return memory if at is None else memory.as_of(recorded=at)


@verb
@_kind_option
@_at_option
def holding(door: Door, *, kind: str | None, at: str | None, as_json: bool) -> None:
    """List the facts that are believed, by kind and id.

    With --json a JSON text a line.
    """
    with door.open() as memory:
        tell_each(_reader(memory, at).holding(kind), render.facts, as_json=as_json)


@verb
@_ref
@_at_option
def show(door: Door, *, ref: str, at: str | None, as_json: bool) -> None:
    """Show all that is known of one source, fact or justification."""
    with door.open() as memory:
        tell(_reader(memory, at).get(ref), as_json=as_json)


@verb
@click.argument("ref", metavar="[REF]", required=False)
@_at_option
def status(door: Door, *, ref: str | None, at: str | None, as_json: bool) -> None:
    """Say whether REF is IN or OUT, or count what is on record.

    It counts if there is no REF. A justification is IN while it fires.
    """
    if ref is None and at is not None:
        raise click.UsageError("--at needs a REF.")
    with door.open() as memory:
        tell(memory.stats() if ref is None else _reader(memory, at).status(ref), as_json=as_json)


@verb
def head(door: Door, *, as_json: bool) -> None:
    """Print the anchor of the last commit.

    If there is none yet it says so, with --json by null.
    """
    with door.open() as memory:
        last = memory.head
        tell("no commit yet" if last is None and not as_json else last, as_json=as_json)


@verb
@click.option("--after", metavar="ANCHOR", help="Only the commits after this one.")
@_at_option
def log(door: Door, *, after: str | None, at: str | None, as_json: bool) -> None:
    """List the commits, oldest first.

    With --json a commit a line.
    """
    with door.open() as memory:
        tell_each(_reader(memory, at).log(after=after), render.log, as_json=as_json)


@verb
@click.argument("anchor", metavar="[ANCHOR]", required=False)
def report(door: Door, *, anchor: str | None, as_json: bool) -> None:
    """Report what a commit did, without ANCHOR the last one."""
    with door.open() as memory:
        which = memory.head if anchor is None else anchor
        if which is None:
            raise tms.NoSuchAnchor("no commit yet.", hint="There is nothing to report.")
        tell(memory.report(which), as_json=as_json)


@verb
@_ref
@click.option("--depth", type=click.IntRange(min=0), help="How many supports down; all by default.")
@click.option(
    "--nodes",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    help="At most this many.",
)
@_at_option
def why(
    door: Door, *, ref: str, depth: int | None, nodes: int, at: str | None, as_json: bool
) -> None:
    """Show what REF rests on, down to sources and axioms."""
    with door.open() as memory:
        tell(_reader(memory, at).why(ref, depth=depth, nodes=nodes), as_json=as_json)


def _limit_option(default: int) -> Callable[[Command], Command]:
    return click.option(
        "--limit",
        type=click.IntRange(min=1),
        default=default,
        show_default=True,
        help="At most this many.",
    )


@verb
@_ref
@_limit_option(100)
@_at_option
def environments(door: Door, *, ref: str, limit: int, at: str | None, as_json: bool) -> None:
    """List the sets of sources that each support REF alone.

    They are minimal; axioms stand in them as their justifications.
    """
    with door.open() as memory:
        tell(_reader(memory, at).environments(ref, limit=limit), as_json=as_json)


@verb
@_ref
@_at_option
def origins(door: Door, *, ref: str, at: str | None, as_json: bool) -> None:
    """Count the origins of REF that share no source."""
    with door.open() as memory:
        tell(_reader(memory, at).origins(ref), as_json=as_json)


@verb
@_ref
@_limit_option(100)
@_at_option
def cuts(door: Door, *, ref: str, limit: int, at: str | None, as_json: bool) -> None:
    """List the sets of sources whose loss would take REF out.

    They are minimal.
    """
    with door.open() as memory:
        tell(_reader(memory, at).cuts(ref, limit=limit), as_json=as_json)


@verb
@_kind_option
@_limit_option(20)
@_at_option
def critical(door: Door, *, kind: str | None, limit: int, at: str | None, as_json: bool) -> None:
    """Rank sources by the facts that would die without each.

    Each is taken to be retracted alone.
    """
    with door.open() as memory:
        tell(_reader(memory, at).critical(kind, limit=limit), as_json=as_json)


@verb
@click.argument("refs", metavar="[REF]...", nargs=-1)
@click.option("--unretract", metavar="REF", multiple=True, help="Switch this on; repeat it.")
@click.option(
    "--justify",
    "rows",
    metavar="JSON",
    multiple=True,
    help='Add this, an object as for import: {"derives": …, "premises": …}; repeat it.',
)
@_at_option
def what_if(
    door: Door,
    *,
    refs: tuple[str, ...],
    unretract: tuple[str, ...],
    rows: tuple[str, ...],
    at: str | None,
    as_json: bool,
) -> None:
    """Report what retracting each REF would do, without doing it.

    It is the report that retract would give; with --unretract and --justify, the one that all of
    it in one commit would have.
    """
    if not (refs or unretract or rows):
        raise click.UsageError("Name something to retract, --unretract or --justify.")
    added = [{"justification": None, **row} if "derives" in row else row for row in map(_row, rows)]
    with door.open() as memory:
        reader = _reader(memory, at)
        tell(reader.what_if(retract=refs, unretract=unretract, justify=added), as_json=as_json)


def _row(text: str) -> dict[str, Any]:
    try:
        row = parsed(text)
    except ValueError as error:
        raise tms.InvalidContent(f"--justify cannot be read: {error}.", hint=_JUSTIFY) from None
    if not isinstance(row, dict):
        raise tms.InvalidContent(f"--justify is no JSON object: {text:.80}.", hint=_JUSTIFY)
    return row


_JUSTIFY = """Write for instance --justify '{"derives": "Flag:1", "premises": ["Feed:1"]}'."""


@verb
@_ref
@click.option(
    "--nodes",
    type=click.IntRange(min=0),
    default=1000,
    show_default=True,
    help="Name at most this many.",
)
@_at_option
def impact(door: Door, *, ref: str, nodes: int, at: str | None, as_json: bool) -> None:
    """Show what rests on REF and would die or survive without it."""
    with door.open() as memory:
        tell(_reader(memory, at).impact(ref, nodes=nodes), as_json=as_json)


@verb
@_ref
@click.option(
    "--depth", type=click.IntRange(min=0), help="How many missing premises down; all by default."
)
@click.option(
    "--nodes",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    help="At most this many.",
)
@click.option(
    "--repairs",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="At most this many sets of sources to bring back.",
)
@_at_option
def why_not(
    door: Door,
    *,
    ref: str,
    depth: int | None,
    nodes: int,
    repairs: int,
    at: str | None,
    as_json: bool,
) -> None:
    """Show what REF waits for, down to what was switched off."""
    with door.open() as memory:
        absence = _reader(memory, at).why_not(ref, depth=depth, nodes=nodes, repairs=repairs)
        tell(absence, as_json=as_json)


@verb
@_ref
@_at_option
def history(door: Door, *, ref: str, at: str | None, as_json: bool) -> None:
    """List what happened to one source, fact or justification.

    With --json an event a line.
    """
    with door.open() as memory:
        tell_each(_reader(memory, at).history(ref), render.events, as_json=as_json)


@verb
@click.argument("a", metavar="ANCHOR")
@click.argument("b", metavar="[ANCHOR]", required=False)
@_at_option
def diff(door: Door, *, a: str, b: str | None, at: str | None, as_json: bool) -> None:
    """Tell how two commits differ, in either direction.

    Without a second ANCHOR it is compared with the last commit.
    """
    with door.open() as memory:
        reader = _reader(memory, at)
        tell(reader.diff(a, b or str(reader.head)), as_json=as_json)


@verb
@_kind_option
@click.option(
    "--limit",
    type=click.IntRange(1, 1000),
    default=1000,
    show_default=True,
    help="At most this many.",
)
@click.option("--after", metavar="CURSOR", help="Where the page before ended.")
@_at_option
def scan(
    door: Door, *, kind: str | None, limit: int, after: str | None, at: str | None, as_json: bool
) -> None:
    """Print a page of all sources and facts, IN or OUT.

    They come by kind and id; a page that is not the last tells where the next begins.
    """
    with door.open() as memory:
        page = _reader(memory, at).scan(kind=kind, limit=limit, after=after)
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
