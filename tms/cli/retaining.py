"""The verbs by which something leaves a memory for good, and which scopes may come in."""

import click

from tms.cli.options import ref
from tms.cli.output import tell
from tms.cli.program import Door, verb
from tms.cli.writing import said_options


@verb
@click.argument("anchor", metavar="ANCHOR")
@click.option("--into", metavar="FILE", help="Write what is kept into this new file.")
@said_options
def prune(
    door: Door,
    *,
    anchor: str,
    into: str | None,
    reason: str | None,
    by: str | None,
    as_json: bool,
) -> None:
    """Leave out what came before ANCHOR, in a new file.

    Without --into it only tells what would be left out. The new file begins with that commit and
    answers everything about later ones as this file does, which is not changed.
    """
    with door.open(read_only=True) as memory:
        tell(memory.prune(before=anchor, path=into, reason=reason, by=by), as_json=as_json)


@verb
@ref
@said_options
def redact(door: Door, *, ref: str, reason: str | None, by: str | None, as_json: bool) -> None:
    """Remove the content of a source or a fact for good.

    It goes in all its versions, and its bytes leave the file; refs, belief and reports stay. It
    cannot be undone. Backups, copies and exports are not reached.
    """
    with door.open() as memory:
        tell(memory.redact(ref, reason=reason, by=by), as_json=as_json)


@verb
@click.option("--off", is_flag=True, help="Take the mark away.")
def require_scope(door: Door, *, off: bool, as_json: bool) -> None:
    """Refuse commands without --scope from now on.

    The file is marked strict, which guards against a forgotten scope, with which things would go
    to all.
    """
    with door.open() as memory:
        memory.require_scope(required=not off)
        tell(memory.stats(), as_json=as_json)
