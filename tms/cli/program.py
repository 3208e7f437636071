"""The frame of the command line: which file, which errors, which exit status.

Exit statuses: 0 ok; 1 a check failed, or the file could not be worked on; 2 the command was given
something that cannot be; 3 something that was named is not there; 4 a conflict, with what is on
record or with another writer; 130 interrupted; 141 the reader of the output went away.
"""

import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import pairwise
from shlex import quote
from typing import Any, TypeVar

import click
from click.core import ParameterSource
from click.exceptions import Exit

import tms
from tms.errors import shortened
from tms.render import line
from tms.store import unmake

Command = TypeVar("Command", bound=Callable[..., Any])

FAILED, USAGE, NOT_FOUND, CONFLICT = 1, 2, 3, 4
INTERRUPTED, NO_READER = 130, 141
"""What a shell gives for SIGINT and for SIGPIPE."""


def exit_status(error: tms.TMSError) -> int:
    """Return the exit status for an error."""
    if isinstance(error, (tms.ContentConflict, tms.Busy)):
        return CONFLICT
    if isinstance(error, (LookupError, FileNotFoundError)):
        return NOT_FOUND
    return USAGE if isinstance(error, ValueError) else FAILED


@dataclass(frozen=True)
class Door:
    """Which file the command is about.

    Attributes:
        path: the file.
        given: whether the command line itself names it.
        scope: as which scope it is opened.
    """

    path: str
    given: bool
    scope: str | None

    def open(self, *, create: bool = False, read_only: bool = False) -> tms.Memory:
        """Open it."""
        try:
            return tms.open(self.path, scope=self.scope, create=create, read_only=read_only)
        except tms.NoSuchFile as error:
            error.hint = "Check --db and TMS_DB; tms init makes a memory."
            raise
        except tms.ScopeRequired as error:
            verb = click.get_current_context().info_name or error.operation
            told = tms.ScopeRequired.to(verb, self.path)
            told.hint = "Say --scope NAME, or --scope '' for what is shared."
            raise told from None

    @contextmanager
    def making(self) -> Iterator[tms.Memory]:
        """Open it, and make it if there is none; what was made for a failure is removed again."""
        fresh, made = not os.path.lexists(self.path), None
        try:
            with self.open(create=True) as memory:
                if fresh and os.path.exists(self.path):
                    made = os.stat(self.path)
                yield memory
        except BaseException:
            if made is not None:
                unmake(self.path, made)
            raise

    def damaged(self) -> bool:
        """Return whether the file does not keep its promises."""
        with tms.open(self.path, scope="", create=False, read_only=True) as memory:
            return not memory.verify()


class Program(click.Group):
    """The command, with errors as messages and exit statuses instead of tracebacks."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,  # noqa: FBT001, FBT002 - the signature is click's
        **extra: Any,
    ) -> Any:
        """Run, and exit with the status."""
        arguments = list(sys.argv[1:] if args is None else args)
        if not standalone_mode:
            return super().main(arguments, "tms", complete_var, standalone_mode=False, **extra)
        with_json = _asks_for_json(arguments)
        try:
            status = super().main(arguments, "tms", complete_var, standalone_mode=False, **extra)
        except tms.TMSError as error:
            _complain(error.code, error.message, spoken(error.hint), error.ids, with_json=with_json)
            status = exit_status(error)
        except click.ClickException as error:
            message = shortened(error.format_message())
            _complain("usage", message, _usage_hint(error), (), with_json=with_json)
            status = USAGE
        except click.Abort:
            message = "interrupted; nothing of an unfinished commit was kept."
            _complain("interrupted", message, "", (), with_json=with_json)
            status = INTERRUPTED
        except OSError as error:  # of the output; those of memories and of input are ours by now
            _hush()
            message = f"the output could not be written: {error.strerror or error}."
            hint = "What was written to the memory is kept; see tms log."
            _complain("output-failed", message, hint, (), with_json=with_json)
            status = FAILED
        sys.exit(status if isinstance(status, int) else 0)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the verb, and see that its output arrives."""
        try:
            result = super().invoke(ctx)
            if sys.stdout is not None:
                sys.stdout.flush()
        except BrokenPipeError:
            _hush()
            raise Exit(NO_READER) from None
        except (tms.TMSError, click.ClickException, Exit, click.Abort, OSError):
            raise
        except Exception as error:
            if isinstance(ctx.obj, Door) and ctx.obj.damaged():
                raise tms.CorruptStore(
                    f"{ctx.obj.path} is damaged.", hint="Run tms verify.", ids=(ctx.obj.path,)
                ) from error
            raise
        return result


def _asks_for_json(arguments: Sequence[str]) -> bool:
    given = {"--json", "--format=json"}
    return not given.isdisjoint(arguments) or ("--format", "json") in pairwise(arguments)


def _hush() -> None:
    """Let what is still buffered for stdout go nowhere, or the interpreter complains at its end."""
    if sys.stdout is not None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _complain(code: str, message: str, hint: str, ids: Sequence[str], *, with_json: bool) -> None:
    if with_json:
        error = {"code": code, "message": message, "hint": hint, "ids": list(ids)}
        text = json.dumps(error, ensure_ascii=False)
    else:
        text = f"error[{code}]: {line(message)}"
        if hint:
            text += f"\nhint: {line(hint)}"
    with suppress(OSError):
        click.echo(text, err=True)


_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_METHOD = re.compile(rf"""memory\.(\w+)(\((?:{_QUOTED}|[^()'"])*\))?""")
_SCOPE = re.compile(r'scope="([^"]*)"')

ELSE = {
    "as_of": "--at ANCHOR",
    "batch": "tms import",
    "believes": "tms status",
    "digest": "tms head --digest",
    "get": "tms show",
    "history_page": "tms history",
    "import_": "tms import",
    "load": "tms import",
    "log_page": "tms log",
    "report_page": "tms report",
    "stats": "tms status",
}
"""What is called otherwise at the command line than the method is."""


def spoken(hint: str) -> str:
    """Return what a hint says to do, in the words of the command line."""
    told = _METHOD.sub(lambda found: ELSE.get(found[1], f"tms {found[1].replace('_', '-')}"), hint)
    return _SCOPE.sub(lambda found: f"--scope {quote(found[1])}", told)


def _usage_hint(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)
    verb = "tms" if context is None else context.command_path
    if isinstance(error, click.NoSuchOption) and error.option_name == "--db":
        return "--db stands before the verb: tms --db PATH VERB."
    return f"See {verb} --help."


@click.command(
    cls=Program,
    invoke_without_command=True,
    subcommand_metavar="VERB ...",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
)
@click.option(
    "--db",
    metavar="PATH",
    default="memory.db",
    envvar="TMS_DB",
    show_default=True,
    show_envvar=True,
    help="The file of the memory.",
)
@click.option(
    "--scope",
    metavar="NAME",
    envvar="TMS_SCOPE",
    show_envvar=True,
    help="Work as this scope, with its own and what is shared; by default with what is shared.",
)
@click.version_option(tms.__version__)
@click.pass_context
def program(context: click.Context, db: str, scope: str | None) -> None:
    """Keep a memory that knows why it believes each thing, in one SQLite file.

    Sources support facts through justifications. retract says what dies with a source and what
    survives, and unretract is its inverse. A REF is kind:id, for instance VulnFeed:2026-07-21.
    """
    given = context.get_parameter_source("db") is ParameterSource.COMMANDLINE
    context.obj = Door(db, given, scope)
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def verb(command: Command) -> click.Command:
    """Make a function a verb of the program; it is called with the door and ``as_json``."""
    name = command.__name__.strip("_").replace("_", "-")
    option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
    return program.command(name)(option(click.pass_obj(command)))
