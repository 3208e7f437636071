"""Results as a person reads them: drawn on a terminal, plain text anywhere else.

``plain`` gives text that is never wrapped, cut or coloured. ``drawn`` gives what rich prints on a
terminal; streams are drawn a part at a time, by ``facts``, ``log``, ``events`` and ``reports``. All
are pure functions of the results. What a word says is never said by its colour alone.

Names and texts come from outside, so control characters in them are shown as escapes: an id can
neither move the cursor nor pass for another line. The JSON forms have them exactly.
"""

import json
from collections.abc import Callable, Sequence
from functools import singledispatch
from itertools import groupby
from typing import Any

from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from tms.answers import Change, Commit, Diff, Event, Impact
from tms.clock import iso as written
from tms.clock import period
from tms.content import line
from tms.models import Justification, Node, Page, Report, Status, Verification
from tms.refs import JUSTIFICATION, Anchor, Ref

_STYLES = {Status.IN: "green", Status.OUT: "red"}
_MOST = 20
"""How many ids of a kind a terminal shows; plain text and JSON have all."""
_ANCHOR = len(Anchor.kept(1, 0))


def plain(result: object) -> str:
    """Return the whole text form of a result; its lines are neither wrapped nor cut."""
    if isinstance(result, Ref):
        return line(result)
    text = result.text() if isinstance(result, Report | Diff | Impact) else str(result)
    return "\n".join(map(line, text.split("\n")))


@singledispatch
def drawn(result: object) -> RenderableType:
    """Return what to print of a result on a terminal."""
    return Text(plain(result))


@drawn.register
def _(report: Report) -> RenderableType:
    if not report.changed:
        return Text(plain(report))
    head = _titled(report.op, ", ".join(report.targets[:_MOST]) + _rest(report.targets))
    facts = _details()
    if report.reason is not None or report.by is not None:
        facts.add_row("because", _said(report.reason, report.by))
    facts.add_row("commit", line(report.after or "none, this is a preview"))
    facts.add_row("believed", f"{report.believed_before:,} → {report.believed_after:,}")
    parts: list[RenderableType] = [head, _indented(facts)]
    for word, refs, style in (("died", report.died, "red"), ("revived", report.revived, "green")):
        if refs:
            parts.append(_by_kind(Text(f"{word} {len(refs):,}", style=style), refs))
    if report.survived_via:
        tree = Tree(Text(f"survived {len(report.survived_via):,}", style="green"))
        for survivor in report.survived_via[:_MOST]:
            branch = tree.add(Text(line(survivor.fact)))
            branch.add(Text(f"via   {line(', '.join(survivor.via))}"))
            branch.add(Text(f"lost  {line(', '.join(survivor.lost))}", style="dim"))
        _leave_out(tree, report.survived_via)
        parts.append(tree)
    if report.settled:
        tree = Tree(Text(f"settled {len(report.settled):,}"))
        for item in report.settled[:_MOST]:
            tree.add(Text(line(item)))
        _leave_out(tree, report.settled)
        parts.append(tree)
    return Group(*parts)


def _by_kind(title: Text, refs: Sequence[Ref]) -> Tree:
    tree = Tree(title)
    for kind, group in groupby(refs, key=lambda ref: ref.kind):
        ids = [ref.id for ref in group]
        branch = tree.add(Text(f"{line(kind)} {len(ids):,}"))
        branch.add(Text(line(", ".join(ids[:_MOST])) + _rest(ids)))
    return tree


@drawn.register
def _(node: Node) -> RenderableType:
    facts = _details()
    if node.support is not None:
        facts.add_row("rests on", line(Ref.kept(JUSTIFICATION, node.support)))
    if node.content is not None:
        text = json.dumps(node.content, ensure_ascii=False, indent=2)
        facts.add_row("content", Text("\n".join(map(line, text.split("\n")))))
        facts.add_row("version", f"{node.version}")
    if valid := period(node.valid_from, node.valid_to):
        facts.add_row("valid", valid)
    facts.add_row("declared", line(node.declared))
    title = _titled(node.ref, f"{node.role}, ")
    title.append_text(_status(node.status, retracted=node.retracted))
    return Group(title, _indented(facts))


@drawn.register
def _(justification: Justification) -> RenderableType:
    title = _titled(justification.ref, "")
    fires = "fires" if justification.status is Status.IN else "does not fire"
    title.append(fires, style=_STYLES[justification.status])
    title.append(", retracted" * justification.retracted)
    facts = _details()
    if justification.rule is not None:
        facts.add_row("rule", line(justification.rule))
    if valid := period(justification.valid_from, justification.valid_to):
        facts.add_row("valid", valid)
    facts.add_row("declared", line(justification.declared))
    premises = Tree(Text("premises" if justification.premises else "no premises: an axiom"))
    for ref in justification.premises:
        premises.add(Text(line(ref)))
    derives = Tree(Text("derives"))
    for ref in justification.derives:
        derives.add(Text(line(ref)))
    return Group(title, *(_indented(part) for part in (facts, premises, derives)))


@drawn.register
def _(page: Page) -> RenderableType:  # type: ignore[type-arg] # singledispatch takes the bare class
    items = page.items
    kind = type(items[0]) if items else None
    part = Text("nothing on record") if kind is None else _PARTS[kind](items)
    if page.next_cursor is None:
        return part
    more = f"more with --cursor {line(page.next_cursor)}"
    return Group(part, Text(more, no_wrap=True, overflow="ignore"))


@drawn.register
def _(verification: Verification) -> RenderableType:
    return Text(plain(verification), style=_STYLES[Status.IN if verification else Status.OUT])


def facts(refs: Sequence[Ref]) -> RenderableType:
    """Draw the facts that are IN, by kind."""
    parts: list[RenderableType] = []
    for kind, group in groupby(refs, key=lambda ref: ref.kind):
        parts.append(Text(line(kind), style="bold"))
        ids = Columns([Text(line(ref.id)) for ref in group], padding=(0, 2))
        parts.append(_indented(ids))
    return Group(*parts) if parts else Text("no fact is believed")


def log(commits: Sequence[Commit]) -> RenderableType:
    """Draw entries of the log, with why and by whom below each anchor."""
    table = _table("commit", "verb", "died", "revived", "believed")
    for column in table.columns[2:]:
        column.justify = "right"
    for commit in commits:
        table.add_row(
            _anchored(commit),
            line(commit.op),
            Text(f"{commit.died:,}", style="red" if commit.died else "dim"),
            Text(f"{commit.revived:,}", style="green" if commit.revived else "dim"),
            f"{commit.believed:,}",
        )
    return table if commits else Text("no commit yet")


def events(happened: Sequence[Event]) -> RenderableType:
    """Draw the life of a node or a justification."""
    table = _table("commit", "what", "")
    for event in happened:
        details = [] if event.support is None else [f"via {line(event.support)}"]
        if event.because:
            named = line(", ".join(event.because[:_MOST]))
            details.append(f"because of {named}{_rest(event.because)}")
        if event.content is not None:
            details.append(line(json.dumps(event.content, ensure_ascii=False)))
        if event.valid:
            details.append(event.valid)
        style = {"in": "green", "out": "red"}.get(event.what, "")
        table.add_row(_anchored(event), Text(event.what, style=style), Text("\n".join(details)))
    return table


def reports(told: Sequence[Report]) -> RenderableType:
    """Draw reports one below the other."""
    return Group(*map(drawn, told)) if told else Text("no more commits")


def _nodes(nodes: Sequence[Node]) -> RenderableType:
    table = _table("ref", "role", "status", "rests on")
    for node in nodes:
        table.add_row(
            line(node.ref),
            node.role,
            _status(node.status, retracted=node.retracted),
            "" if node.support is None else line(node.support),
        )
    return table


def _changes(changes: Sequence[Change]) -> RenderableType:
    table = _table("what", "", "")
    for change in changes:
        style = {"died": "red", "revived": "green"}.get(change.what, "")
        how = ""
        if change.survivor is not None:
            how = f"via {line(', '.join(change.survivor.via))}"
        elif change.settled is not None:
            how = f"{change.settled.cause} {written(change.settled.at)}"
        table.add_row(Text(change.what, style=style), Text(line(change.ref)), Text(how))
    return table


_PARTS: dict[type, Callable[[Sequence[Any]], RenderableType]] = {
    Node: _nodes,
    Commit: log,
    Event: events,
    Change: _changes,
}
"""How the items of a page are drawn."""


def _anchored(entry: Commit | Event) -> Text:
    cell = Text(line(entry.anchor))
    if entry.reason is not None or entry.by is not None:
        cell.append(f"\n  {_said(entry.reason, entry.by)}", style="dim")
    return cell


def _said(reason: str | None, by: str | None) -> str:
    return line(" ".join(text for text in (reason, by and f"(by {by})") if text))


def _titled(name: str, text: str) -> Text:
    title = Text(line(name), style="bold")
    return Text.assemble(title, "  ", line(text))


def _status(status: Status, *, retracted: bool) -> Text:
    text = Text(status, style=_STYLES[status])
    return text.append(", retracted" * retracted)


def _rest(items: Sequence[object]) -> str:
    return f" and {len(items) - _MOST:,} more" if len(items) > _MOST else ""


def _leave_out(tree: Tree, items: Sequence[object]) -> None:
    if len(items) > _MOST:
        tree.add(Text(f"… {len(items) - _MOST:,} more"))


def _indented(part: RenderableType) -> Padding:
    return Padding(part, (0, 0, 0, 2), expand=False)


def _details() -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    return table


def _table(*headers: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for header in headers:
        # an anchor stays in one piece, whatever else is in its column
        table.add_column(header, overflow="fold", width=_ANCHOR if header == "commit" else None)
    return table
