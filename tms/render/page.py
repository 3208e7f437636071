"""Pictures as one HTML page that needs nothing else and asks no network for anything."""

import base64
import hashlib
import html as markup
import json
import re
from functools import cache
from importlib.resources import files
from typing import Any

from tms.content import line
from tms.render.layout import Layout, extent, laid_out
from tms.render.sketch import MOST, Picture
from tms.render.views import picture

_PLACE = re.compile(r"\{\{(\w+)\}\}")
_UNSAFE = {ord(character): f"\\u{ord(character):04x}" for character in "<>&'"}


def html(answer: object, *, most: int = MOST) -> str:
    """Return an answer as one self-contained HTML page, to be written to a file as UTF-8.

    The page draws the graph from premises to conclusions; it can be moved, enlarged and searched
    by mouse and by keyboard, and tells all of a node that is chosen. Its content security policy
    allows its own script and style and no network. The same answer is the same bytes.

    Args:
        answer: what ``why``, ``why_not``, ``impact``, ``neighbourhood``, ``report`` or ``diff``
            returned.
        most: at most so many nodes; what is left out is counted.

    Raises:
        InvalidArgument: there is no picture of such a thing, or the limit is out of range.

    Cost: grows with the answer; about as n log n where it has many nodes.
    """
    shown = picture(answer, most=most)
    style, draw, script = map(_asset, ("page.css", "draw.js", "page.js"))
    parts = {
        "policy": _policy(style, draw, script),
        "title": markup.escape(shown.title),
        "style": style,
        "data": _data(shown, laid_out(shown)),
        "draw": draw,
        "script": script,
    }
    return _PLACE.sub(lambda place: parts[place[1]], _asset("page.html")).rstrip("\n")


@cache
def _asset(name: str) -> str:
    return files("tms.render").joinpath(name).read_text("utf-8")


def _policy(style: str, *scripts: str) -> str:
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src {' '.join(map(_hash, scripts))}",
            f"style-src {_hash(style)}",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _data(shown: Picture, layout: Layout) -> str:
    """Return the picture as JSON that may stand inside a script element."""
    place = {spot.id: number for number, spot in enumerate(shown.spots)}
    whole = extent(shown.spots, layout)
    data: dict[str, Any] = {
        "title": shown.title,
        "notes": shown.notes,
        "more": shown.more,
        "width": _round(whole.width),
        "height": _round(whole.height),
        "nodes": [
            {
                "id": spot.id,
                "shown": line(spot.id),
                "label": label,
                "role": spot.role,
                "status": spot.status,
                "marks": spot.marks,
                "words": spot.words,
                "details": spot.details,
                "box": _numbers(box.x, box.y, box.width, box.height),
            }
            for spot, label, box in zip(shown.spots, layout.labels, layout.boxes, strict=True)
        ],
        "edges": [
            {
                "from": place[edge.start],
                "to": place[edge.end],
                "kind": edge.kind,
                "bends": [_numbers(*point) for point in bends],
            }
            for edge, bends in zip(shown.edges, layout.bends, strict=True)
        ],
        "groups": [
            {"title": title, "box": _numbers(box.x, box.y, box.width, box.height)}
            for title, box in layout.headings
        ],
    }
    return json.dumps(data, separators=(",", ":")).translate(_UNSAFE)


def _numbers(*numbers: float) -> list[float]:
    return [_round(number) for number in numbers]


def _round(number: float) -> float:
    return round(number, 1)
