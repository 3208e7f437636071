import pickle
import re
from collections import UserDict
from collections.abc import Callable, KeysView
from pathlib import Path

import pytest
from making import Clock, fill, plain

import tms
from tms import errors


def walk(kind: type[tms.TMSError]) -> list[type[tms.TMSError]]:
    return [kind, *(below for child in kind.__subclasses__() for below in walk(child))]


KINDS = walk(tms.TMSError)
each_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)


def _busy(path: Path, memory: tms.Memory) -> None:
    with tms.open(path, timeout=0) as other, memory.batch():
        other.source("Feed:9")


def _corrupt(path: Path, memory: tms.Memory) -> None:
    with plain(path) as connection:
        connection.execute("DROP TABLE derive")
    memory.justify("Flag:9", ["Feed:1"])


def _text(path: Path, memory: tms.Memory) -> None:
    path.with_name("text").write_text("some text")
    tms.open(path.with_name("text"))


def _newer(path: Path, memory: tms.Memory) -> None:
    memory.close()
    with plain(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    tms.open(path)


def _read_only(path: Path, memory: tms.Memory) -> None:
    with tms.open(path, read_only=True) as reader:
        reader.source("Feed:9")


def _naive(path: Path, memory: tms.Memory) -> None:
    with tms.open(path, clock=lambda: Clock()().replace(tzinfo=None)) as naive:
        naive.source("Feed:9")


def _unreported(path: Path, memory: tms.Memory) -> None:
    with memory.batch() as batch:
        _ = batch.report


def _full(path: Path, memory: tms.Memory) -> None:
    sql = memory._connection.sql
    (pages,) = sql.execute("PRAGMA page_count").fetchone()
    sql.execute(f"PRAGMA max_page_count = {pages}")
    memory.source("Feed:9", content={"text": "x" * 100_000})


def _strict(path: Path, memory: tms.Memory) -> None:
    memory.require_scope()
    tms.open(path)


def _pruned(path: Path, memory: tms.Memory) -> None:
    memory.prune(before=memory.head, path=path.with_name("pruned.db"))
    with tms.open(path.with_name("pruned.db")) as pruned:
        pruned.report(memory.head)


RAISES: dict[type[tms.TMSError], Callable[[Path, tms.Memory], object]] = {
    tms.NoSuchNode: lambda _, memory: memory.retract("Feed:9"),
    tms.NoSuchJustification: lambda _, memory: memory.retract("justification:9"),
    tms.NoSuchAnchor: lambda _, memory: memory.report(
        "r1:0000000000000099:2026-07-21T12:00:00.000Z"
    ),
    tms.Forgotten: _pruned,
    tms.InvalidRef: lambda _, memory: memory.source("Feed"),
    tms.InvalidAnchor: lambda _, memory: memory.report("yesterday"),
    tms.InvalidDigest: lambda _, memory: memory.verify(kept=f"{memory.head} 00"),
    tms.InvalidCursor: lambda _, memory: memory.scan(after="here"),
    tms.InvalidWindow: _naive,
    tms.InvalidContent: lambda _, memory: memory.source("Feed:9", content={"rate": float("nan")}),
    tms.InvalidJustification: lambda _, memory: memory.justify("Flag:9", []),
    tms.InvalidArgument: lambda _, memory: memory.scan(limit=0),
    tms.ContentConflict: lambda _, memory: memory.source("Feed:1", content={"rows": 0}),
    tms.NotATMSFile: _text,
    tms.NoSuchFile: lambda path, _: tms.open(path.with_name("nowhere.db"), create=False),
    tms.ScopeRequired: _strict,
    tms.SchemaTooNew: _newer,
    tms.ReadOnly: _read_only,
    tms.Busy: _busy,
    tms.CorruptStore: _corrupt,
    tms.StoreFailed: _full,
    tms.Misuse: _unreported,
}


def test_every_kind_of_error_is_raised_somewhere_here() -> None:
    assert set(RAISES) == set(KINDS) - {tms.TMSError}


@pytest.mark.parametrize("kind", RAISES, ids=lambda kind: kind.__name__)
def test_an_error_says_what_is_wrong_and_what_to_do(
    tmp_path: Path, kind: type[tms.TMSError]
) -> None:
    path = tmp_path / "memory.db"
    with tms.open(path, clock=Clock()) as memory:
        fill(memory)
        with pytest.raises(tms.TMSError) as caught:
            RAISES[kind](path, memory)
    error = caught.value
    assert type(error) is kind
    assert error.message
    assert error.hint
    assert str(error) == f"{error.message} {error.hint}"
    for part in (error.message, error.hint):
        assert re.search(r"[.)…]$", part), part
        assert "  " not in part
        assert "\n" not in part
    assert isinstance(error.ids, tuple)
    assert all(isinstance(id, str) for id in error.ids)
    assert error.__context__ is None or error.__suppress_context__ or error.__cause__ is not None


NAMED = {
    tms.NoSuchNode: "Feed:9",
    tms.NoSuchJustification: "justification:9",
    tms.NoSuchAnchor: "r1:0000000000000099:2026-07-21T12:00:00.000Z",
    tms.InvalidRef: "Feed",
    tms.InvalidAnchor: "yesterday",
    tms.InvalidJustification: "Flag:9",
    tms.ContentConflict: "Feed:1",
}


@pytest.mark.parametrize("kind", NAMED, ids=lambda kind: kind.__name__)
def test_an_error_names_what_it_is_about(tmp_path: Path, kind: type[tms.TMSError]) -> None:
    path = tmp_path / "memory.db"
    with tms.open(path, clock=Clock()) as memory:
        fill(memory)
        with pytest.raises(kind) as caught:
            RAISES[kind](path, memory)
    assert caught.value.ids == (NAMED[kind],)


@each_kind
def test_every_kind_of_error_is_public_and_documented(kind: type[tms.TMSError]) -> None:
    assert kind.__name__ in tms.__all__
    assert getattr(tms, kind.__name__) is kind
    assert kind.__doc__
    assert kind.__doc__ != kind.__mro__[1].__doc__
    assert kind.__module__ == errors.__name__


def test_every_kind_of_error_has_a_code_of_its_own() -> None:
    codes = [kind.code for kind in KINDS]
    assert len(set(codes)) == len(codes)
    for kind in KINDS[1:]:
        assert "code" in vars(kind)
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", kind.code)
        assert kind.code.replace("-", "") == kind.__name__.lower()


def drawn() -> dict[str, tuple[str, str]]:
    """The tree in the module docstring: of each error its parent and its builtin."""
    tree, parents = {}, {0: "TMSError"}
    for line in errors.__doc__.splitlines():
        match = re.fullmatch(r"    ([│ ]*)[├└]── (\w+) +(\w+) *(.*)", line)
        if match:
            depth = len(match[1]) // 4 + 1
            parents[depth] = match[2]
            tree[match[2]] = (parents[depth - 1], match[3])
    return tree


def test_the_tree_in_the_docstring_is_the_tree() -> None:
    tree = drawn()
    assert set(tree) == {kind.__name__ for kind in KINDS[1:]}
    for kind in KINDS[1:]:
        parent, builtin = tree[kind.__name__]
        assert kind.__bases__[0].__name__ == parent
        assert kind.__bases__[1].__name__ == builtin
        assert kind.__bases__[1].__module__ == "builtins"


@each_kind
def test_an_error_survives_a_pickle(kind: type[tms.TMSError]) -> None:
    error = kind("What is wrong.", hint="What to do.", ids=("Feed:1",))
    twin = pickle.loads(pickle.dumps(error))
    assert type(twin) is kind
    assert (twin.message, twin.hint, twin.ids) == (error.message, error.hint, error.ids)
    assert str(twin) == "What is wrong. What to do."


@each_kind
def test_an_error_without_a_hint_is_its_message(kind: type[tms.TMSError]) -> None:
    error = kind("What is wrong.")
    assert str(error) == "What is wrong."
    assert error.ids == ()


@each_kind
def test_an_error_is_the_builtin_that_a_stranger_would_catch(kind: type[tms.TMSError]) -> None:
    if kind is tms.TMSError:
        assert not issubclass(kind, (ValueError, LookupError, OSError, RuntimeError))
    elif kind.__name__.startswith("Invalid"):
        assert issubclass(kind, ValueError)
    elif kind.__name__.startswith("NoSuch") or kind is tms.Forgotten:
        assert issubclass(kind, (LookupError, FileNotFoundError))
    else:
        assert issubclass(kind, (ValueError, RuntimeError, OSError))


def test_a_reason_that_ends_with_a_full_stop_gets_no_second_one() -> None:
    class Odd(UserDict[str, object]):
        def keys(self) -> KeysView[str]:
            raise TypeError("it is no object.")

    with tms.open(":memory:") as memory, pytest.raises(tms.InvalidContent) as caught:
        memory.source("Feed:1", content=Odd(a=1))
    assert ".." not in str(caught.value)
