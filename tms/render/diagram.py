"""Pictures as the source of a diagram: Mermaid and Graphviz."""

import re
from collections.abc import Callable, Iterator

from tms.render.sketch import MOST, Kind, Picture, Role, Spot, cut
from tms.render.views import picture

_LONGEST = 60
"""How many characters of a label are shown."""


def mermaid(answer: object, *, most: int = MOST) -> str:
    """Return an answer as a Mermaid flowchart, from premises to conclusions.

    Mermaid itself refuses more than 500 edges or 50,000 characters unless its ``maxEdges`` and
    ``maxTextSize`` are raised.

    Args:
        answer: what ``why``, ``why_not``, ``impact``, ``neighbourhood``, ``report`` or ``diff``
            returned.
        most: at most so many nodes; what is left out is counted.

    Raises:
        InvalidArgument: there is no picture of such a thing, or the limit is out of range.

    Cost: grows with the answer.
    """
    shown = picture(answer, most=most)
    ids = {spot.id: f"n{number}" for number, spot in enumerate(shown.spots, 1)}
    lines = ["flowchart LR"]
    for number, (title, spots) in enumerate(_parts(shown), 1):
        if title:
            lines.append(f'    subgraph g{number} ["{_entities(title)}"]')
        lines += [f"    {ids[spot.id]}{_shaped(spot)}" for spot in spots]
        if title:
            lines.append("    end")
    for edge in shown.edges:
        lines.append(f"    {ids[edge.start]} {_ARROWS[edge.kind]} {ids[edge.end]}")
    lines.append(f'    told["{_entities(shown.title)}{_rest(shown, "<br/>", _entities)}"]')
    lines += [f"    classDef {name} {style}" for name, style in _STYLES.items()]
    for name in _STYLES:
        members = [ids[spot.id] for spot in shown.spots if _is(spot, name)]
        if name == "told":
            members = ["told"]
        if members:
            lines.append(f"    class {','.join(members)} {name}")
    return "\n".join(lines)


_ARROWS: dict[Kind, str] = {
    "premise": "-->",
    "derives": "-->",
    "supports": "==>",
    "circular": "-. circular .->",
    "lost": "-. lost .->",
}
_SHAPES: dict[Role, tuple[str, str]] = {
    "source": ("([", "])"),
    "fact": ("[", "]"),
    "justification": ("{{", "}}"),
    "node": ("(", ")"),
    "set": ("[[", "]]"),
}
_STYLES = {
    "in": "fill:#e3f4e8,stroke:#1c7c3c,color:#10231a",
    "out": "fill:#fdeceb,stroke:#b3261e,color:#3a0d0a,stroke-dasharray:5 3",
    "untold": "fill:#f1f3f5,stroke:#68707a,color:#1b1f24",
    "asked": "stroke-width:4px",
    "told": "fill:none,stroke:none",
}


def _is(spot: Spot, name: str) -> bool:
    return name in (*spot.marks, spot.status.lower() or "untold")


def _shaped(spot: Spot) -> str:
    opening, closing = _SHAPES[spot.role]
    label = _entities(cut(spot.label, _LONGEST))
    return f'{opening}"{label}<br/>{_entities(", ".join(spot.words))}"{closing}'


_READ = re.compile(r"\\(?=n)|ﬂ|¶")
_WORD = re.compile(r"[^\W_]+|[^\S\n]|.", re.DOTALL)


def _entities(text: str) -> str:
    """Escape a text for a quoted label of Mermaid.

    Only letters, digits, commas and spaces stay. Mermaid gives many others a meaning
    (Markdown, HTML, a ``style…:…#…;`` anywhere in a line), and the word ``end``, too. What it reads
    even from escapes, a backslash with an n and its own marks for escapes, is kept apart by a space
    of no width.
    """
    apart = _READ.sub("\\g<0>\u200b", text)
    return "".join(map(_entity, _WORD.findall(apart)))


def _entity(part: str) -> str:
    if part == "end":
        return f"#{ord(part[0])};{part[1:]}"
    if part in " ," or part.isalnum():
        return part
    return "".join(f"#{ord(character)};" for character in part)


def dot(answer: object, *, most: int = MOST) -> str:
    """Return an answer as a graph for Graphviz, from premises to conclusions.

    Args:
        answer: what ``why``, ``why_not``, ``impact``, ``neighbourhood``, ``report`` or ``diff``
            returned.
        most: at most so many nodes; what is left out is counted.

    Raises:
        InvalidArgument: there is no picture of such a thing, or the limit is out of range.

    Cost: grows with the answer.
    """
    shown = picture(answer, most=most)
    ids = {spot.id: f"n{number}" for number, spot in enumerate(shown.spots, 1)}
    label = f'"{_quoted(shown.title)}{_rest(shown, chr(92) + "n", _quoted)}"'
    lines = [
        "digraph tms {",
        f'  graph [rankdir="LR", label={label}, labelloc="t", fontname="sans-serif"];',
        '  node [fontname="sans-serif", fontsize="11"];',
        '  edge [fontname="sans-serif", fontsize="10", color="#5c6670"];',
    ]
    for number, (title, spots) in enumerate(_parts(shown), 1):
        if title:
            lines += [f"  subgraph cluster_{number} {{", f'  label="{_quoted(title)}";']
        lines += [f"  {ids[spot.id]} [{_drawn(spot)}];" for spot in spots]
        lines += ["  }"] if title else []
    for edge in shown.edges:
        lines.append(f"  {ids[edge.start]} -> {ids[edge.end]}{_LINES[edge.kind]};")
    return "\n".join([*lines, "}"])


_LINES: dict[Kind, str] = {
    "premise": "",
    "derives": "",
    "supports": ' [penwidth="2.5"]',
    "circular": ' [style="dotted", label="circular", constraint="false"]',
    "lost": ' [style="dashed", label="lost", color="#b3261e"]',
}
_FORMS: dict[Role, str] = {
    "source": "house",
    "fact": "box",
    "justification": "ellipse",
    "node": "note",
    "set": "tab",
}


def _drawn(spot: Spot) -> str:
    fill, stroke = {"IN": ("#e3f4e8", "#1c7c3c"), "OUT": ("#fdeceb", "#b3261e")}.get(
        spot.status, ("#f1f3f5", "#68707a")
    )
    parts = {
        "label": f"{_quoted(cut(spot.label, _LONGEST))}\\n{_quoted(', '.join(spot.words))}",
        "tooltip": _quoted(spot.label),
        "shape": _FORMS[spot.role],
        "style": "filled,dashed" if spot.status == "OUT" else "filled",
        "fillcolor": fill,
        "color": stroke,
        "penwidth": "3" if "asked" in spot.marks else "1",
    }
    return ", ".join(f'{name}="{value}"' for name, value in parts.items())


def _quoted(text: str) -> str:
    """Escape a text on one line for a quoted string of Graphviz, which also reads entities."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")


def _parts(shown: Picture) -> Iterator[tuple[str, list[Spot]]]:
    for place, title in enumerate(shown.groups):
        spots = [spot for spot in shown.spots if spot.group == place]
        if spots:
            yield title, spots


def _rest(shown: Picture, between: str, escape: Callable[[str], str]) -> str:
    notes = [*shown.notes, shown.more] if shown.more else shown.notes
    return "".join(f"{between}{escape(note)}" for note in notes)
