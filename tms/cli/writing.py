"""The verbs that write."""

import os
import tempfile
from collections.abc import Iterable, Mapping
from functools import partial
from itertools import chain, islice

import click

import tms
from tms import demo as demonstration
from tms import interchange
from tms.bundle import is_bundle
from tms.cli.feeding import Bar, Lines, content_of, located, opened
from tms.cli.options import time
from tms.cli.output import tell
from tms.cli.program import FAILED, Command, Door, verb
from tms.clock import window
from tms.refs import ref_of, refs_of

Bound = str | None


def _content_option(command: Command) -> Command:
    return click.option(
        "--content", metavar="JSON", help="What it says, a JSON object; - reads it from stdin."
    )(command)


def _valid_options(command: Command) -> Command:
    start = click.option(
        "--valid-from",
        metavar="TIME",
        callback=time(),
        help="From when on it holds; open if left out.",
    )
    end = click.option(
        "--valid-to", metavar="TIME", callback=time(), help="When it no longer holds; likewise."
    )
    return start(end(command))


def _revised_options(command: Command) -> Command:
    start = click.option(
        "--valid-from",
        metavar="TIME",
        callback=time(_OPEN),
        help="From when on it holds, or open; kept if left out.",
    )
    end = click.option(
        "--valid-to",
        metavar="TIME",
        callback=time(_OPEN),
        help="When it no longer holds, or open; likewise.",
    )
    return start(end(command))


_OPEN = "open"


def said_options(command: Command) -> Command:
    """Add why and by whom as options."""
    by = click.option("--by", metavar="NAME", help="By whom.")
    reason = click.option("--reason", metavar="TEXT", help="Why.")
    return reason(by(command))


def _justified_options(command: Command) -> Command:
    id = click.option("--id", metavar="ID", help="Its id; by default a hash of what it says.")
    rule = click.option("--rule", metavar="TEXT", help="What it was drawn by.")
    return rule(id(command))


_refs = click.argument("refs", metavar="REF...", nargs=-1, required=True)
_conclusions = click.argument("conclusions", metavar="CONCLUSION...", nargs=-1, required=True)


@verb
def init(door: Door, *, as_json: bool) -> None:
    """Make an empty memory, unless there is one already.

    Prints what it holds.
    """
    with door.making() as memory:
        tell(memory.stats(), as_json=as_json)


@verb
@click.argument("ref")
@_content_option
@_valid_options
def source(door: Door, *, ref: str, content: str | None, as_json: bool, **valid: Bound) -> None:
    """Declare a source, which supports by itself.

    Makes the file if there is none. Prints the ref; with --json all of the source.
    """
    _declare(door, "source", ref, content, valid, as_json=as_json)


@verb
@click.argument("ref")
@_content_option
@_valid_options
def fact(door: Door, *, ref: str, content: str | None, as_json: bool, **valid: Bound) -> None:
    """Declare a fact, believed only through justifications.

    Makes the file if there is none. Prints the ref; with --json all of the fact.
    """
    _declare(door, "fact", ref, content, valid, as_json=as_json)


def _declare(
    door: Door,
    role: str,
    ref: str,
    content: str | None,
    valid: Mapping[str, Bound],
    *,
    as_json: bool,
) -> None:
    named, said = ref_of(ref), content_of(content)
    window(**valid)  # refused before a file is made
    with door.making() as memory:
        declare = memory.source if role == "source" else memory.fact
        _tell_ref(memory, declare(named, content=said, **valid), as_json=as_json)


def _tell_ref(memory: tms.Memory, ref: tms.Ref, *, as_json: bool) -> None:
    tell(memory.get(ref) if as_json else ref, as_json=as_json)


@verb
@_conclusions
@click.option("--from", "premises", metavar="PREMISE", multiple=True, help="A premise; repeat it.")
@_justified_options
@_valid_options
def justify(
    door: Door,
    *,
    conclusions: tuple[str, ...],
    premises: tuple[str, ...],
    rule: str | None,
    id: str | None,
    as_json: bool,
    **valid: Bound,
) -> None:
    """Record that the premises together derive each CONCLUSION.

    A premise must be on record; a conclusion that is new is declared. Makes the file if there is
    none. Prints the ref of the justification; with --json all of it.
    """
    derived, needed = refs_of(conclusions), refs_of(premises)
    window(**valid)
    with door.making() as memory:
        ref = memory.justify(derived, needed, rule=rule, id=id, **valid)
        _tell_ref(memory, ref, as_json=as_json)


@verb
@_conclusions
@_justified_options
@_valid_options
def axiom(
    door: Door,
    *,
    conclusions: tuple[str, ...],
    rule: str | None,
    id: str | None,
    as_json: bool,
    **valid: Bound,
) -> None:
    """Say on purpose that each CONCLUSION holds without premises.

    Makes the file if there is none. Prints the ref to retract it by; with --json all of it.
    """
    derived = refs_of(conclusions)
    window(**valid)
    with door.making() as memory:
        _tell_ref(memory, memory.axiom(derived, rule=rule, id=id, **valid), as_json=as_json)


@verb
@_refs
@said_options
def retract(
    door: Door, *, refs: tuple[str, ...], reason: str | None, by: str | None, as_json: bool
) -> None:
    """Retract sources, facts or justifications; report what dies.

    Each is switched off, and nothing is deleted: unretract is the inverse. The report also names
    what survives, and through what.
    """
    with door.open() as memory:
        tell(memory.retract(refs, reason=reason, by=by), as_json=as_json)


@verb
@_refs
@said_options
def unretract(
    door: Door, *, refs: tuple[str, ...], reason: str | None, by: str | None, as_json: bool
) -> None:
    """Switch on again what was retracted; report what comes back.

    The exact inverse of retract.
    """
    with door.open() as memory:
        tell(memory.unretract(refs, reason=reason, by=by), as_json=as_json)


@verb
@click.argument("ref")
@_content_option
@_revised_options
@said_options
def revise(
    door: Door,
    *,
    ref: str,
    content: str | None,
    reason: str | None,
    by: str | None,
    as_json: bool,
    **valid: Bound,
) -> None:
    """Give a source or a fact new content or another window.

    --content is all of the new content. A bound that is not given stays as it is, and the word
    open takes one away. What was before stays on record.
    """
    said = content_of(content)
    bounds = {
        name: None if bound == _OPEN else bound
        for name, bound in valid.items()
        if bound is not None
    }
    if said is None and not bounds:
        raise tms.InvalidContent(
            f"nothing to revise {ref} to.", hint="Give --content JSON, --valid-from or --valid-to."
        )
    with door.open() as memory:
        report = memory.revise(ref, content=said, reason=reason, by=by, **bounds)
        tell(report, as_json=as_json)


@verb
@said_options
def settle(door: Door, *, reason: str | None, by: str | None, as_json: bool) -> None:
    """Commit what began or expired since the last commit.

    Nothing needs it: every commit settles this first, and reading sees it at once. It makes a
    report that tells of it; if nothing began or expired there is no commit.
    """
    with door.open() as memory:
        tell(memory.settle(reason=reason, by=by), as_json=as_json)


@verb
@click.argument("file", metavar="FILE")
def import_(door: Door, *, file: str, as_json: bool) -> None:
    """Take in a FILE of JSON Lines, plain or gzip; - reads stdin.

    Each line is one of

    \b
      {"source": "VulnFeed:1", "content": {…}}
      {"fact": "Flag:svc-14", "content": {…}}
      {"justification": "j1", "premises": ["VulnFeed:1"],
       "derives": ["Flag:svc-14"], "rule": "…"}
      {"axiom": "Policy:1", "rule": "…", "id": "…"}
      {"retract": ["VulnFeed:1"], "reason": "…", "by": "…"}
      {"unretract": ["VulnFeed:1"], "reason": "…", "by": "…"}
      {"commit": {"reason": "…", "by": "…"}}

    where the first four also take "valid_from" and "valid_to", and the last begins a commit;
    without such a line all is one commit. Prints a line for each commit. A line that
    cannot be taken in stops the import: its commit is dropped, those before it are kept. Makes the
    memory if there is none.

    A file of tms export is told by its first line, and taken in whole or not at all: commits that
    are missing are made as they were; of another history, what is new is merged in one commit, and
    what was retracted here stays so. Prints what came of it.
    """  # noqa: D301 - click wants the control character
    with opened(file) as lines, door.making() as memory:
        rest = iter(lines)
        first = list(islice(rest, 1))
        if first and is_bundle(first[0]):
            tell(memory.import_(chain(first, rest)), as_json=as_json)
        else:
            _load(memory, chain(first, rest), lines, as_json=as_json)


def _load(memory: tms.Memory, rest: Iterable[bytes], lines: Lines, *, as_json: bool) -> None:
    with Bar(lines) as bar:
        done = 0
        for group in interchange.commits(interchange.objects(rest)):
            with located(group.rows, lines) as rows:
                show = partial(bar.show, done)
                loaded = memory.load(rows, reason=group.reason, by=group.by, progress=show)
            bar.clear()
            done += loaded.rows
            if loaded.rows:
                tell(loaded, as_json=as_json)
        if not done:
            tell(loaded, as_json=as_json)


@verb
def rebuild(door: Door, *, as_json: bool) -> None:
    """Make the labels anew from the record.

    Prints what the memory holds.
    """
    with door.open() as memory:
        memory.rebuild()
        tell(memory.stats(), as_json=as_json)


@verb
def demo(door: Door, *, as_json: bool) -> int:
    """Tell the story of a vulnerability feed that was wrong.

    It happens in a temporary file; to keep it, name a path where nothing is yet before the verb:
    tms --db PATH demo. TMS_DB is left alone. With --json prints what came of the story. Exit
    status 1 if something that the story claims does not hold.
    """
    with tempfile.TemporaryDirectory(prefix="tms-demo-") as folder:
        path = door.path if door.given else os.path.join(folder, "memory.db")
        if os.path.lexists(path):
            raise tms.ContentConflict(
                f"there is something at {path} already.",
                hint="The story is told on a fresh file; give another path.",
                ids=(path,),
            )
        with tms.open(path) as memory:
            told = demonstration.story(memory, _silent if as_json else _narrate)
            if as_json:
                tell(told, as_json=True)
    return 0 if told else FAILED


def _narrate(said: object) -> None:
    tell(said, as_json=False)


def _silent(_said: object) -> None:
    return
