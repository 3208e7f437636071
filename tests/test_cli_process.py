import json
import os
import pty
import signal
import subprocess
import sys

import pytest
from shell import ROOT, kept, process, started

import tms
from tms.interchange import PROGRESS


@pytest.fixture
def path(tmp_path):
    return kept(tmp_path / "memory.db")


def lines_of(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_the_module_runs_as_the_command(path):
    done = process("--db", str(path), "show", "Flag:1", "--json")
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["support"] == "j1"
    done = process("--db", str(path), "show", "Flag:9")
    assert (done.returncode, done.stdout) == (3, b"")
    assert done.stderr.startswith(b"error[no-such-node]: no such node: Flag:9.\nhint: ")


def test_arguments_of_undecodable_bytes_are_told_as_escapes(tmp_path):
    path = os.fsencode(tmp_path) + b"/\xff.db"
    done = process("--db", path, "show", "Feed:1")
    assert done.returncode == 3
    assert b"\\udcff.db" in done.stderr
    done = process("--db", path, "show", b"Feed:\xff", "--json")
    assert done.returncode in (2, 3)
    assert set(json.loads(done.stderr)) == {"code", "message", "hint", "ids"}
    done = process("--db", path, "source", b"Feed:\xff")
    assert done.returncode == 2
    assert done.stderr.startswith(b"error[invalid-ref]: a lone surrogate at position 5")


@pytest.mark.parametrize("as_json", [[], ["--json"]])
def test_what_an_encoding_lacks_is_an_escape_in_text_and_utf_8_in_json(tmp_path, as_json):
    path = tmp_path / "m.db"
    with tms.open(path) as memory:
        memory.axiom("Flag:ö☃😀")
    env = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    done = process("--db", str(path), "holding", *as_json, env=env)
    assert (done.returncode, done.stderr) == (0, b"")
    expected = '"Flag:ö☃😀"\n'.encode() if as_json else b"Flag:\xf6\\u2603\\U0001f600\n"
    assert done.stdout == expected


def test_a_reader_that_goes_away_ends_the_verb_quietly(path):
    with tms.open(path) as memory:
        memory.source("Big:1")
        memory.justify([f"Flag:{number:06}" for number in range(20_000)], "Big:1")
    with started("--db", str(path), "holding") as running:
        assert running.stdout.readline() == b"Block:1\n"
        running.stdout.close()
        assert running.stderr.read() == b""
        assert running.wait(timeout=60) == 141


def test_output_that_cannot_be_written_is_an_error(path):
    for args in (["log"], ["--help"]):
        with open("/dev/full", "wb") as full:
            done = process("--db", str(path), *args, stdout=full)
        assert done.returncode == 1
        assert done.stderr.startswith(b"error[output-failed]: the output could not be written: No ")


@pytest.mark.parametrize(
    ("args", "closed", "status"),
    [
        ("import -", "<&-", 2),
        ("head", ">&-", 1),
        ("nonsense", "2>&-", 2),
        ("holding", "<&- >&- 2>&-", 1),
    ],
)
def test_closed_standard_streams_show_no_traceback(path, args, closed, status):
    done = subprocess.run(
        ["sh", "-c", f'"$0" -m tms --db "$1" {args} {closed}', sys.executable, str(path)],
        cwd=ROOT,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == status
    assert b"Traceback" not in done.stderr
    assert b"Exception" not in done.stderr


def test_an_interrupt_drops_the_open_commit_and_exits_as_shells_expect(path):
    with started("--db", str(path), "import", "-", "--json") as running:
        rows = lines_of({"source": "Kept:1"}, {"commit": {}}, {"source": "Dropped:1"})
        running.stdin.write(rows.encode())
        running.stdin.flush()
        assert json.loads(running.stdout.readline())["sources"] == 1
        running.send_signal(signal.SIGINT)
        assert running.wait(timeout=60) == 130
        assert json.loads(running.stderr.read())["code"] == "interrupted"
    with tms.open(path) as memory:
        assert memory.believes("Kept:1")
        with pytest.raises(tms.NoSuchNode):
            memory.get("Dropped:1")


def on_terminal(*args, input=None, **environment):
    """Run a verb with stdout and stderr on a terminal; return what it showed."""
    ours, theirs = pty.openpty()
    environment = {"TERM": "xterm", "COLUMNS": "80", "LINES": "40", **environment}
    inherited = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    streams = {"stdout": theirs, "stderr": theirs, "env": {**inherited, **environment}}
    with started(*args, **streams) as running:
        os.close(theirs)
        if input is not None:
            running.stdin.write(input)
        running.stdin.close()
        shown = b""
        with open(ours, "rb", buffering=0) as terminal:
            try:
                while part := terminal.read(65536):
                    shown += part
            except OSError:  # how Linux tells that the other end is closed
                pass
    assert running.returncode == 0
    return shown.decode().replace("\r\n", "\n")


def test_a_terminal_is_shown_tables_with_colours_unless_they_are_not_wanted(path):
    table = "ref      role    status  rests on"
    coloured = on_terminal("--db", str(path), "scan")
    assert "\x1b[32mIN" in coloured
    bare = on_terminal("--db", str(path), "scan", NO_COLOR="1")
    assert table in bare.replace("\x1b[1m", "").replace("\x1b[0m", "")
    assert "\x1b[32m" not in bare
    assert "no commit yet" not in on_terminal("--db", str(path), "log")
    assert "Flag\x1b[0m\n  1" in on_terminal("--db", str(path), "holding")


def test_a_long_import_shows_a_bar_on_a_terminal_and_nothing_of_it_stays(path):
    rows = lines_of(*({"source": f"Feed:{number}"} for number in range(2, PROGRESS + 3)))
    rows += lines_of({"commit": {}}, {"source": "Last:1"})
    shown = on_terminal("--db", str(path), "import", "-", input=rows.encode())
    assert "5,000 rows" in shown
    assert "━" in shown
    after = shown.rpartition("\x1b[2K")[2]
    assert "1 rows: 1 new sources" in after
    short = on_terminal("--db", str(path), "import", "-", input=b'{"source": "Short:1"}\n')
    assert "\x1b" not in short
