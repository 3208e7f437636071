"""Answers as a person reads them: on a terminal, as plain text, and as pictures.

``plain`` gives text that is never wrapped, cut or coloured; ``drawn``, ``facts``, ``log``,
``events`` and ``reports`` give what rich prints on a terminal. ``text``, ``mermaid``, ``dot`` and
``html`` show the answer to a question as a graph: a tree in plain text, the source of a diagram, or
a page that needs nothing else. All are pure functions of the results: the same answer is the same
text. What a word says is never said by its colour alone.

Names and texts come from outside. Where they are shown, control characters are escapes, so that an
id can neither move the cursor nor pass for another line, and whatever a format gives a meaning to
is escaped in the manner of the format. The JSON forms have them exactly.
"""

from tms.render import sets as _sets  # noqa: F401 # registers its kinds of answers
from tms.render.diagram import dot, mermaid
from tms.render.page import html
from tms.render.sketch import MOST, Edge, Picture, Spot, Tree
from tms.render.terminal import drawn, events, facts, line, log, plain, reports
from tms.render.tree import text
from tms.render.views import picture

__all__ = [
    "MOST",
    "Edge",
    "Picture",
    "Spot",
    "Tree",
    "dot",
    "drawn",
    "events",
    "facts",
    "html",
    "line",
    "log",
    "mermaid",
    "picture",
    "plain",
    "reports",
    "text",
]
