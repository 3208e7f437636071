"""Options that several verbs share."""

from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple, cast

import click

import tms
from tms.cli.output import FORMS
from tms.cli.program import Command
from tms.clock import instant
from tms.cursors import LARGEST_PAGE
from tms.models import Page

kind_option = click.option("--kind", metavar="KIND", help="Only of this kind.")
ref = click.argument("ref", metavar="REF")

_TIME = "Write it with an offset, for instance 2026-07-21T12:00:00Z."


def time(*words: str) -> Callable[[click.Context, click.Parameter, str | None], str | None]:
    """Return the callback of an option that is an instant, or one of some words.

    Raises, when it is called:
        InvalidWindow: it is no instant.
    """

    def checked(_context: click.Context, _param: click.Parameter, text: str | None) -> str | None:
        if text is not None and text not in words:
            try:
                instant(text)
            except tms.InvalidWindow as error:
                error.hint = _TIME
                raise
        return text

    return checked


class Seen(NamedTuple):
    """From where a verb looks at the memory.

    Attributes:
        recorded: the anchor of the commit; None for the last.
        valid: the instant in the world; None for that of the commit.
    """

    recorded: str | None
    valid: str | None

    @property
    def options(self) -> str:
        """The options that were given."""
        given = (("--at", self.recorded), ("--valid", self.valid))
        return " and ".join(name for name, value in given if value is not None)


def at_option(command: Command) -> Command:
    """Give a verb ``at``: from where it looks, None for here and now; see ``reader``."""

    @wraps(command)
    def seen(*args: Any, at: str | None, valid: str | None, **given: Any) -> Any:
        return command(*args, at=Seen(at, valid) if (at, valid) != (None, None) else None, **given)

    moment = click.option(
        "--valid",
        metavar="TIME",
        callback=time(),
        help="What holds in the world at this instant; by default now, or that of ANCHOR.",
    )
    commit = click.option(
        "--at", metavar="ANCHOR", help="As it was at this commit; by default as it is now."
    )
    return cast(Command, commit(moment(seen)))


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


def reader(memory: tms.Memory, at: Seen | None) -> tms.Memory | tms.View:
    """Return what answers: the memory, or a view of it."""
    return memory if at is None else memory.as_of(recorded=at.recorded, valid=at.valid)
