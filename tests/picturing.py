"""Answers of every kind to make pictures of, and strict readers of what comes out."""

import json
import re
from datetime import UTC, datetime

import tms
from tms.answers import Impact, Lack, Reached, Waiting, WhyNot

AT = tms.Anchor.kept(7, int(datetime(2026, 7, 21, 12, tzinfo=UTC).timestamp() * 1000))

HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(2)</script>",
    "<!--<script>",
    "a\"b'c`d\\",
    'x"];n1-->n2;%%{init:{}}%%',
    "]]>)}}|~|",
    "# *bold* _it_ [link](javascript:alert(3)) **",
    "1. item",
    "- item",
    "`code` $x$ &lt; &#60; #quot; #35;",
    "style:a#45;b classDef:#1;",
    "end",
    "subgraph end",
    "a\nb\r\tc\x00d\x1b[2J\x07e\x85f\u2028g\u2029h\u202ei",
    "🧠 語 é عربي",
    "{{title}} {{data}} $& $1 \\1 %s {0}",
    "__proto__",
    "constructor",
    "x" * 3_000,
    "ﬂ°°60¶ß",
)
"""Ids that a format could take for something else than a text."""


def ref(text: str) -> tms.Ref:
    return tms.Ref(text)


def lack(name: str, depth: int, *waiting: Waiting, role: str = "fact", off: bool = False) -> Lack:
    return Lack(
        ref=ref(name),
        role=role,
        depth=depth,
        content={"n": depth},
        retracted=off,
        since=AT,
        was_in=depth != 1,
        op="retract",
        by="oncall",
        reason="bad mapping",
        because=(ref("VulnFeed:1"),),
        waiting=waiting,
    )


def waiting(id: str, missing: tuple[str, ...], holding: tuple[str, ...] = ()) -> Waiting:
    return Waiting(
        ref=ref(f"justification:{id}"),
        rule=f"rule {id}",
        retracted=False,
        missing=tuple(map(ref, missing)),
        holding=tuple(map(ref, holding)),
        recorded=AT,
        by=None,
        reason=None,
    )


def absent(*, truncated: bool = False) -> WhyNot:
    """Why a page is not sent: its block is off, since the feed is; and the two hold each other."""
    return WhyNot(
        ref=ref("Page:22"),
        status=tms.Status.OUT,
        at=AT,
        lacks=(
            lack("Page:22", 0, waiting("page", ("Block:22",), ("Run:1",))),
            lack(
                "Block:22",
                1,
                waiting("block", ("Flag:22",), ("Policy:1",)),
                waiting("ring", ("Page:22",)),
            ),
            lack("Flag:22", 2, waiting("feed", ("VulnFeed:1",))),
            lack("VulnFeed:1", 3, role="source", off=True),
        ),
        retracted=(ref("VulnFeed:1"),),
        circles=((ref("Block:22"), ref("Page:22")),),
        repairs=((ref("VulnFeed:1"),),),
        truncated=truncated,
    )


def reached(
    name: str, fate: str, depth: int, previous: str, through: str, **kept: tuple[str, ...]
) -> Reached:
    return Reached(
        ref=ref(name),
        fate=fate,
        depth=depth,
        previous=ref(previous),
        through=ref(f"justification:{through}"),
        **kept,
    )


def impact(*steps: Reached, truncated: bool = False) -> Impact:
    """What a feed carries: of two flags one survives by a scan, and with it its block."""
    steps = steps or (
        reached(
            "Flag:14", "survived", 1, "VulnFeed:1", "feed-14", via=("scan",), lost=("feed-14",)
        ),
        reached("Flag:22", "died", 1, "VulnFeed:1", "feed-22"),
        reached("Block:14", "untouched", 2, "Flag:14", "block-14"),
        reached("Block:22", "died", 2, "Flag:22", "block-22"),
    )
    return Impact(
        ref=ref("VulnFeed:1"),
        at=AT,
        reached=steps,
        died=2,
        survived=1,
        untouched=1,
        out_of_reach=3,
        believed=7,
        truncated=truncated,
    )


def nothing_absent() -> WhyNot:
    return absent().model_copy(
        update={
            "status": tms.Status.IN,
            "lacks": (),
            "retracted": (),
            "circles": (),
            "repairs": (),
        }
    )


def nothing_reached() -> Impact:
    return impact().model_copy(update={"reached": (), "died": 0, "survived": 0, "untouched": 0})


def hostile(memory: tms.Memory) -> tms.Ref:
    """Record a fact that rests on everything hostile; return it."""
    premises = [memory.source(f"S:{text}", content={text: text}) for text in HOSTILE]
    for number, text in enumerate(HOSTILE):
        memory.justify(f"F:{text}", premises[number], rule=text, id=text)
    with memory.batch(reason=HOSTILE[0], by=HOSTILE[1]):
        memory.justify("Goal:1", [f"F:{text}" for text in HOSTILE], rule=HOSTILE[1])
    return tms.Ref("Goal:1")


# ---------------------------------------------------------------- readers

_ENTITY = re.compile(r"#(\d+);")
_LABEL = r'"((?:[^\W_]|[ ,]|#\d+;|<br/>)*)"'
_NODE = re.compile(rf"(n\d+|told)(\(\[|\[\[|\[|\{{\{{|\(){_LABEL}(\]\)|\]\]|\]|\}}\}}|\))")
_LINK = re.compile(r"(n\d+) (-->|==>|-\. circular \.->|-\. lost \.->) (n\d+)")
_PAIRS = {"([": "])", "[[": "]]", "[": "]", "{{": "}}", "(": ")"}


def read_mermaid(source: str) -> tuple[dict[str, str], list[tuple[str, str, str]]]:
    """Return the labels by id and the edges; anything out of place fails."""
    first, *lines = source.split("\n")
    assert first == "flowchart LR"
    nodes: dict[str, str] = {}
    edges, classes, open_groups = [], set(), 0
    for line in lines:
        assert line.startswith("    ")
        line = line[4:]
        if found := _NODE.fullmatch(line):
            assert _PAIRS[found[2]] == found[4]
            assert found[1] not in nodes
            assert not re.search(r"\bend\b", found[3])
            label = _ENTITY.sub(lambda code: chr(int(code[1])), found[3])
            assert not re.search(r"\\n|ﬂ°|¶ß", label)
            nodes[found[1]] = label.replace("\u200b", "")
        elif found := _LINK.fullmatch(line):
            edges.append((found[1], found[2], found[3]))
        elif found := re.fullmatch(r"classDef (\w+) [\w#:,\- ]+", line):
            classes.add(found[1])
        elif found := re.fullmatch(r"class ((?:n\d+|told)(?:,n\d+)*) (\w+)", line):
            assert found[2] in classes
            assert set(found[1].split(",")) <= nodes.keys()
        elif re.fullmatch(rf"subgraph g\d+ \[{_LABEL}\]", line):
            open_groups += 1
            assert open_groups == 1
        else:
            assert line == "end", line
            open_groups -= 1
            assert open_groups == 0
    assert open_groups == 0
    assert {end for start, _, end in edges} | {start for start, *_ in edges} <= nodes.keys()
    nodes.pop("told")
    return nodes, edges


_STRING = r'"((?:[^"\\\n]|\\["\\n])*)"'
_PARTS = rf"\w+={_STRING}(?:, \w+={_STRING})*"
_UNQUOTED = {"\\n": "\n", '\\"': '"', "\\\\": "\\"}


def read_dot(source: str) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """Return the labels by id and the edges; anything out of place fails."""
    lines = source.split("\n")
    assert (lines[0], lines[-1]) == ("digraph tms {", "}")
    nodes: dict[str, str] = {}
    edges, depth = [], 0
    for line in lines[1:-1]:
        line = line.removeprefix("  ")
        if found := re.fullmatch(rf"(n\d+) \[label={_STRING}, {_PARTS}\];", line):
            assert found[1] not in nodes
            text = re.sub(r'\\["\\n]', lambda two: _UNQUOTED[two[0]], found[2])
            nodes[found[1]] = text.replace("&amp;", "&")
        elif found := re.fullmatch(rf"(n\d+) -> (n\d+)(?: \[{_PARTS}\])?;", line):
            edges.append((found[1], found[2]))
        elif re.fullmatch(r"subgraph cluster_\d+ \{", line):
            depth += 1
        elif line == "}":
            depth -= 1
        else:
            assert re.fullmatch(rf"(graph|node|edge) \[{_PARTS}\];|label={_STRING};", line), line
        assert depth in (0, 1)
    assert depth == 0
    assert {end for edge in edges for end in edge} <= nodes.keys()
    return nodes, edges


def read_html(page: str) -> dict:
    """Return the data of a page, and see that nothing in it reaches out of its place."""
    assert page.startswith("<!doctype html>")
    assert re.findall(r"<script[^>]*>", page) == [
        '<script type="application/json" id="data">',
        "<script>",
        "<script>",
    ]
    assert page.count("</script>") == 3
    assert re.findall(r"<(?:img|iframe|object|embed|base|audio|video|a)\b", page) == []
    assert re.findall(r'(?:src|href)="([^"]*)"', page) == ["data:,"]
    assert set(re.findall(r"https?://[^\s\"']+", page)) == {"http://www.w3.org/2000/svg"}
    text = page.partition('id="data">')[2].partition("</script>")[0]
    assert text.isascii()
    assert not re.search(r"[<>&'\x00-\x1f]", text)
    return json.loads(text)
