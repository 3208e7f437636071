"""Write ``docs/cli.md`` from the help of every verb: ``python docs/build.py``."""

from pathlib import Path

import click

import tms
from tms.cli import main
from tms.cli.program import exit_status

TARGET = Path(__file__).with_name("cli.md")

INTRODUCTION = """\
# Command line

Printed from the help of the verbs by `python docs/build.py`.

```text
tms [--db PATH] VERB [--json] ...
```

**Which file.** `--db PATH` before the verb, else the environment variable `TMS_DB`, else
`memory.db`. `init`, `source`, `fact`, `justify`, `axiom`, `import` and `demo` make the file if
there is none; for every other verb a missing file is an error, and nothing is made.

**Output.** On a terminal results are drawn as tables and trees; a long list of ids is cut
there, and says so. Anywhere else they are plain text, whole, neither wrapped nor coloured.
`NO_COLOR` takes the colours off a terminal, too. Control characters in names and texts are
shown as escapes.

**Times.** A `TIME` is ISO 8601 with an offset, for instance `2026-07-21T12:00:00Z` or
`2026-07-21T17:30+05:30`, to the microsecond.

**JSON.** With `--json` a verb prints the JSON of its result, in UTF-8: one document on one
line. The verbs that list (`holding`, `log`, `history`, `changes`, `subscribe --take`, and `import`
its commits) print JSON Lines, a document for each thing listed. Keys are camelCase.

**Pages.** `scan`, and `log`, `history` and `report` with `--limit`, print a page: one document with
`items` and a `nextCursor`, which `--cursor` takes for the next page, and which is null on the last.

**Errors** go to stderr, as `error[code]: message` and a line `hint: what to do next`. With
`--json` they are an object with `code`, `message`, `hint` and `ids`.

**Exit status.**

| status | when |
|---|---|
"""

STATUSES = {
    0: "it was done, or there was nothing to do",
    1: "a check failed (`verify`, `demo`), or the file or the output could not be worked with",
    2: "the command was given something that cannot be, or the path of a file that is no memory",
    3: "something that was named is not there",
    4: "a conflict: with what is on record, or with another writer (`busy`: try again)",
    130: "interrupted; a commit that was not finished is dropped",
    141: "whoever read the output went away",
}


def reference() -> str:
    """Return the text of ``docs/cli.md``."""
    parts = [INTRODUCTION]
    codes = _codes()
    for status, when in STATUSES.items():
        named = ", ".join(f"`{code}`" for code in codes.get(status, ()))
        parts.append(f"| {status} | {when}{f': {named}' if named else ''} |\n")
    parts.append(f"\n## tms\n\n{_help(main, 'tms')}")
    for name, verb in sorted(main.commands.items()):
        parts.append(f"\n## tms {name}\n\n{_help(verb, name)}")
    return "".join(parts)


def _codes() -> dict[int, list[str]]:
    codes: dict[int, list[str]] = {2: ["usage"], 1: ["output-failed"], 130: ["interrupted"]}
    for name in tms.__all__:
        public = getattr(tms, name)
        if isinstance(public, type) and issubclass(public, tms.TMSError):
            codes.setdefault(exit_status(public("")), []).append(public.code)
    return {status: sorted(named) for status, named in codes.items()}


def _help(verb: click.Command, name: str) -> str:
    top = click.Context(main, info_name="tms", terminal_width=80, **main.context_settings)
    context = top if verb is main else click.Context(verb, parent=top, info_name=name)
    return f"```text\n{verb.get_help(context)}\n```\n"


if __name__ == "__main__":
    TARGET.write_text(reference(), encoding="utf-8")
