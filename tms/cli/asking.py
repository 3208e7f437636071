"""The verbs that ask why and what if. They never make a file."""

from collections.abc import Callable
from typing import Any

import click

import tms
from tms.cli.options import Seen, at_option, format_option, kind_option, reader, ref
from tms.cli.output import tell, tell_as
from tms.cli.program import Command, Door, verb
from tms.content import parsed


def _nodes(default: int) -> Callable[[Command], Command]:
    """Return the option that bounds an answer."""
    return click.option(
        "--nodes",
        type=click.IntRange(min=1),
        default=default,
        show_default=True,
        help="At most this many.",
    )


@verb
@ref
@click.option("--depth", type=click.IntRange(min=0), help="How many supports down; all by default.")
@_nodes(1000)
@at_option
@format_option
def why(
    door: Door, *, ref: str, depth: int | None, nodes: int, at: Seen | None, form: str | None
) -> None:
    """Show what REF rests on, down to sources and axioms."""
    with door.open() as memory:
        tell_as(reader(memory, at).why(ref, depth=depth, nodes=nodes), form)


@verb
@ref
@click.option(
    "--depth",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    help="How many justifications away, both ways.",
)
@_nodes(100)
@at_option
@format_option
def neighbourhood(
    door: Door, *, ref: str, depth: int, nodes: int, at: Seen | None, form: str | None
) -> None:
    """Show what stands around REF, whether it fires or not.

    That is what REF rests on or could rest on, and what rests or could rest on it.
    """
    with door.open() as memory:
        tell_as(reader(memory, at).neighbourhood(ref, depth=depth, nodes=nodes), form)


def _limit_option(default: int) -> Callable[[Command], Command]:
    return click.option(
        "--limit",
        type=click.IntRange(min=1),
        default=default,
        show_default=True,
        help="At most this many.",
    )


@verb
@ref
@_limit_option(100)
@at_option
@format_option
def environments(door: Door, *, ref: str, limit: int, at: Seen | None, form: str | None) -> None:
    """List the sets of sources that each support REF alone.

    They are minimal; axioms stand in them as their justifications.
    """
    with door.open() as memory:
        tell_as(reader(memory, at).environments(ref, limit=limit), form)


@verb
@ref
@at_option
@format_option
def origins(door: Door, *, ref: str, at: Seen | None, form: str | None) -> None:
    """Count the origins of REF that share no source."""
    with door.open() as memory:
        tell_as(reader(memory, at).origins(ref), form)


@verb
@ref
@_limit_option(100)
@at_option
@format_option
def cuts(door: Door, *, ref: str, limit: int, at: Seen | None, form: str | None) -> None:
    """List the sets of sources whose loss would take REF out.

    They are minimal.
    """
    with door.open() as memory:
        tell_as(reader(memory, at).cuts(ref, limit=limit), form)


@verb
@ref
@_limit_option(1000)
@at_option
def periods(door: Door, *, ref: str, limit: int, at: Seen | None, as_json: bool) -> None:
    """List the periods in which REF holds in the world.

    They are told as known at the commit; of a justification, when it fires.
    """
    with door.open() as memory:
        tell(reader(memory, at).periods(ref, limit=limit), as_json=as_json)


@verb
@ref
@_limit_option(1000)
@at_option
def believed_during(door: Door, *, ref: str, limit: int, at: Seen | None, as_json: bool) -> None:
    """List between which commits REF was believed.

    Of a justification, between which commits it fired.
    """
    with door.open() as memory:
        tell(reader(memory, at).believed_during(ref, limit=limit), as_json=as_json)


@verb
@kind_option
@_limit_option(20)
@at_option
@format_option
def critical(
    door: Door, *, kind: str | None, limit: int, at: Seen | None, form: str | None
) -> None:
    """Rank sources by the facts that would die without each.

    Each is taken to be retracted alone.
    """
    with door.open() as memory:
        tell_as(reader(memory, at).critical(kind, limit=limit), form)


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
@at_option
@format_option
def what_if(
    door: Door,
    *,
    refs: tuple[str, ...],
    unretract: tuple[str, ...],
    rows: tuple[str, ...],
    at: Seen | None,
    form: str | None,
) -> None:
    """Report what retracting each REF would do, without doing it.

    It is the report that retract would give; with --unretract and --justify, the one that all of
    it in one commit would have.
    """
    if not (refs or unretract or rows):
        raise click.UsageError("Name something to retract, --unretract or --justify.")
    added = [{"justification": None, **row} if "derives" in row else row for row in map(_row, rows)]
    with door.open() as memory:
        preview = reader(memory, at).what_if(retract=refs, unretract=unretract, justify=added)
        tell_as(preview, form)


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
@ref
@click.option(
    "--nodes",
    type=click.IntRange(min=0),
    default=1000,
    show_default=True,
    help="Name at most this many.",
)
@at_option
@format_option
def impact(door: Door, *, ref: str, nodes: int, at: Seen | None, form: str | None) -> None:
    """Show what rests on REF and would die or survive without it."""
    with door.open() as memory:
        tell_as(reader(memory, at).impact(ref, nodes=nodes), form)


@verb
@ref
@click.option(
    "--depth", type=click.IntRange(min=0), help="How many missing premises down; all by default."
)
@_nodes(1000)
@click.option(
    "--repairs",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="At most this many sets of sources to bring back.",
)
@at_option
@format_option
def why_not(
    door: Door,
    *,
    ref: str,
    depth: int | None,
    nodes: int,
    repairs: int,
    at: Seen | None,
    form: str | None,
) -> None:
    """Show what REF waits for, down to what was switched off."""
    with door.open() as memory:
        absence = reader(memory, at).why_not(ref, depth=depth, nodes=nodes, repairs=repairs)
        tell_as(absence, form)
