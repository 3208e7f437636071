"""Options that several verbs share."""

from collections.abc import Callable
from functools import wraps
from typing import Any, cast

import click

import tms
from tms.cli.output import FORMS
from tms.cli.program import Command
from tms.cursors import LARGEST_PAGE
from tms.models import Page

kind_option = click.option("--kind", metavar="KIND", help="Only of this kind.")
ref = click.argument("ref", metavar="REF")


def at_option(command: Command) -> Command:
    """Let a verb answer for an earlier commit; see ``reader``."""
    return click.option(
        "--at", metavar="ANCHOR", help="As it was at this commit; by default as it is now."
    )(command)


def format_option(command: Command) -> Command:
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


def paged(command: Command) -> Command:
    """Give a verb ``limit`` and ``cursor``: a page in place of all, for ``page_of``."""
    for option in (
        click.option("--cursor", metavar="CURSOR", help="Go on where the page before ended."),
        click.option(
            "--limit",
            type=click.IntRange(1, LARGEST_PAGE),
            help=f"Print a page, of at most this many; {LARGEST_PAGE} with --cursor alone.",
        ),
    ):
        command = option(command)
    return command


def page_of(
    ask: Callable[..., Page[Any]], *given: object, limit: int | None, cursor: str | None
) -> Page[Any] | None:
    """Return the page that was asked for; None where neither option was given."""
    if limit is None and cursor is None:
        return None
    return ask(*given, limit=limit or LARGEST_PAGE, after=cursor)


def reader(memory: tms.Memory, at: str | None) -> tms.Memory | tms.View:
    """Return what answers: the memory, or a view of it."""
    return memory if at is None else memory.as_of(recorded=at)
