"""The verbs that read. They never make a file."""

from functools import wraps
from typing import Any, cast

import click

import tms
from tms import render
from tms.cli.output import FORMS, tell, tell_as, tell_each
from tms.cli.program import FAILED, Command, Door, verb

_kind_option = click.option("--kind", metavar="KIND", help="Only of this kind.")
_ref = click.argument("ref", metavar="REF")


def _at_option(command: Command) -> Command:
    return click.option(
        "--at", metavar="ANCHOR", help="As it was at this commit; by default as it is now."
    )(command)


def _format_option(command: Command) -> Command:
    """Give a verb ``form`` in place of ``as_json``: what to tell its answer as, for ``tell_as``."""

    @wraps(command)
    def formed(*args: Any, as_json: bool, form: str | None, **given: Any) -> Any:
        if as_json and form is not None:
            raise click.UsageError("Give --json or --format, not both.")
        return command(*args, form="json" if as_json else form, **given)

    option = click.option(
        "--format",
        "form",
        type=click.Choice(["json", *FORMS]),
        help="Print a tree of text, JSON, the source of a diagram, or a page for a browser.",
    )
    return cast(Command, option(formed))


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
    """Say whether REF is IN or OUT, or count what the memory holds.

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
@_format_option
def report(door: Door, *, anchor: str | None, form: str | None) -> None:
    """Report what a commit did, without ANCHOR the last one."""
    with door.open() as memory:
        which = memory.head if anchor is None else anchor
        if which is None:
            raise tms.NoSuchAnchor("no commit yet.", hint="There is nothing to report.")
        tell_as(memory.report(which), form)


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
@_format_option
def why(
    door: Door, *, ref: str, depth: int | None, nodes: int, at: str | None, form: str | None
) -> None:
    """Show what REF rests on, down to sources and axioms."""
    with door.open() as memory:
        tell_as(_reader(memory, at).why(ref, depth=depth, nodes=nodes), form)


@verb
@_ref
@click.option(
    "--depth",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    help="How many justifications away, both ways.",
)
@click.option(
    "--nodes",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    help="At most this many.",
)
@_at_option
@_format_option
def neighbourhood(
    door: Door, *, ref: str, depth: int, nodes: int, at: str | None, form: str | None
) -> None:
    """Show what stands around REF, whether it fires or not.

    That is what REF rests on or could rest on, and what rests or could rest on it.
    """
    with door.open() as memory:
        tell_as(_reader(memory, at).neighbourhood(ref, depth=depth, nodes=nodes), form)


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
@_format_option
def diff(door: Door, *, a: str, b: str | None, at: str | None, form: str | None) -> None:
    """Tell how one commit differs from another, either way.

    Without a second ANCHOR it is compared with the last commit.
    """
    with door.open() as memory:
        reader = _reader(memory, at)
        tell_as(reader.diff(a, b or str(reader.head)), form)


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
