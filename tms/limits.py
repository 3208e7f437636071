"""How large what is kept may be, in bytes of UTF-8. What is larger is refused before any write.

A memory is read whole by people and programs: one monstrous value would be a burden to all of them,
and SQLite itself takes no value of a thousand million bytes.
"""

MIB = 2**20

TEXT = 4 * MIB
"""Of a kind, an id, a rule, a reason or a name."""

CONTENT = 64 * MIB
"""Of the content of a node, as canonical JSON."""

LINE = 256 * MIB
"""Of a line of an import, or of a content on standard input, as it is written there."""


def said(limit: int) -> str:
    """Return a limit in words."""
    return f"{limit // MIB} MiB" if limit % MIB == 0 else f"{limit} bytes"
