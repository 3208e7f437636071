import inspect
import re
from collections.abc import Callable, Iterator
from types import ModuleType

import pytest

import tms

CLASSES = [getattr(tms, name) for name in tms.__all__ if isinstance(getattr(tms, name), type)]
FUNCTIONS = [getattr(tms, name) for name in tms.__all__ if inspect.isfunction(getattr(tms, name))]


def own(kind: type) -> Iterator[tuple[str, Callable[..., object]]]:
    """The public methods and properties that a class has from tms, not from others."""
    for name, value in inspect.getmembers_static(kind):
        if name.startswith("_"):
            continue
        found = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
        if inspect.isfunction(found) and found.__module__.startswith("tms"):
            yield name, found


MEMBERS = {f"{kind.__name__}.{name}": found for kind in CLASSES for name, found in own(kind)}
VERBS = {
    name: found
    for name, found in MEMBERS.items()
    if name.split(".")[0] in ("Memory", "View") and name != "Memory.close"
} | {"open": tms.open}


def test_the_public_names_are_sorted_and_complete() -> None:
    assert tms.__all__ == sorted(tms.__all__)
    public = {
        name
        for name, value in vars(tms).items()
        if not name.startswith("_") and not isinstance(value, ModuleType)
    }
    assert set(tms.__all__) == public
    assert len(CLASSES) + len(FUNCTIONS) == len(tms.__all__)


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_every_public_class_has_a_docstring_of_its_own(kind: type) -> None:
    assert kind.__doc__
    assert kind.__doc__ not in [base.__doc__ for base in kind.__mro__[1:]]


@pytest.mark.parametrize("name", MEMBERS)
def test_every_public_method_has_a_docstring(name: str) -> None:
    assert MEMBERS[name].__doc__
    first = MEMBERS[name].__doc__.splitlines()[0]
    assert first[0].isupper()
    assert first.endswith((".", ";", ",")) or "." in first


@pytest.mark.parametrize("name", VERBS)
def test_every_verb_says_what_it_returns_and_costs(name: str) -> None:
    text = inspect.getdoc(VERBS[name])
    assert re.search(r"\b[Cc]osts?\b|[Gg]rows|index seek", text), text
    if inspect.signature(VERBS[name]).return_annotation not in (None, "None"):
        assert re.search(r"[Rr]eturns?\b|Yields?\b|^The |^Count ", text), text


QUIET = {"Memory.head", "View.head", "Memory.scope", "View.scope", "Memory.stats", "Memory.mend"}


@pytest.mark.parametrize("name", sorted(set(VERBS) - QUIET))
def test_every_verb_says_what_it_raises(name: str) -> None:
    text = inspect.getdoc(VERBS[name])
    named = set(re.findall(r"\b[A-Z]\w+\b", text)) & set(tms.__all__)
    raised = {error for error in named if issubclass(getattr(tms, error), tms.TMSError)}
    assert raised or re.search(r"raises", text), text


@pytest.mark.parametrize("name", VERBS)
def test_at_most_two_arguments_of_a_verb_go_without_their_names(name: str) -> None:
    parameters = [
        parameter
        for parameter in inspect.signature(VERBS[name]).parameters.values()
        if parameter.name != "self" and parameter.kind is not parameter.KEYWORD_ONLY
    ]
    assert len(parameters) <= 2
    options = {p.name for p in parameters if p.default is not p.empty}
    assert options <= {"content", "kind", "limit"}  # never a reason that might be a second ref


@pytest.mark.parametrize("name", MEMBERS)
def test_every_public_method_is_annotated(name: str) -> None:
    signature = inspect.signature(MEMBERS[name])
    assert signature.return_annotation is not signature.empty
    for parameter in signature.parameters.values():
        assert parameter.name in ("self", "cls") or parameter.annotation is not parameter.empty


def test_a_memory_and_a_view_answer_the_same_questions() -> None:
    view, memory = ({name for name, _ in own(kind)} for kind in (tms.View, tms.Memory))
    assert view <= memory
    assert view >= {
        "believed_during",
        "believes",
        "changes",
        "critical",
        "cuts",
        "diff",
        "digest",
        "environments",
        "get",
        "head",
        "history",
        "history_page",
        "holding",
        "impact",
        "log",
        "log_page",
        "origins",
        "neighbourhood",
        "periods",
        "report",
        "report_page",
        "scan",
        "what_if",
        "why",
        "why_not",
    }


def test_public_things_print_as_what_they_are() -> None:
    with tms.open(":memory:") as memory:
        memory.source("Feed:1")
        view = memory.as_of(recorded=memory.head)
        assert repr(memory) == "<tms memory :memory:>"
        assert repr(view) == "<tms view of :memory: at revision 1>"
