"""What a justification says, checked as far as it can be without a look at the record."""

import hashlib
import json
from collections.abc import Set
from typing import NamedTuple

from tms.clock import ALWAYS, Window
from tms.content import check_text
from tms.errors import InvalidJustification
from tms.refs import JUSTIFICATION, Ref, is_digest


class Statement(NamedTuple):
    """A justification before it is recorded.

    Attributes:
        conclusions, premises: each once, in the order given.
        rule: what it was drawn by.
        window: when it holds.
        name: the id it was given, unless that is its digest.
        digest: a hash of what it says, the same in any order of its premises and conclusions.
    """

    conclusions: list[Ref]
    premises: list[Ref]
    rule: str | None
    window: Window
    name: str | None
    digest: bytes

    @property
    def ref(self) -> Ref:
        """The ref that it has when it is new."""
        return Ref.kept(JUSTIFICATION, self.digest.hex() if self.name is None else self.name)


def statement(
    conclusions: list[Ref],
    premises: list[Ref],
    rule: str | None,
    id: str | None,
    window: Window = ALWAYS,
) -> Statement:
    """Put a justification together.

    Raises:
        InvalidJustification: no conclusions, a conclusion among the premises, a justification in
            either place, a rule or an id that cannot be kept.
    """
    check_text("rule", rule, InvalidJustification)
    check_text("id", id, InvalidJustification, empty=False)
    id = None if id is None else str.__str__(id)  # an enum shows another text than it is
    if not conclusions:
        raise InvalidJustification("no conclusion.", hint="Name at least one fact.")
    needed = premises if len(conclusions) == 1 else frozenset(premises)
    for ref in conclusions:
        if ref in needed:
            raise InvalidJustification(
                f"{ref} is among its own premises.",
                hint="Nothing can support itself; leave it out of the premises.",
                ids=(ref,),
            )
    for refs, place, who in (
        (conclusions, "conclusion", "Only facts are derived."),
        (premises, "premise", "Only sources and facts are."),
    ):
        for ref in refs:
            if ref.startswith(_PREFIX):
                raise InvalidJustification(f"{ref} cannot be a {place}.", hint=who, ids=(ref,))
    digest = _digest(conclusions, premises, rule, window)
    return Statement(
        conclusions, premises, rule, window, None if id == digest.hex() else id, digest
    )


def identified(said: Statement, shared: Set[Ref]) -> Statement:
    """Give a justification of a scope the digest it has there, and check its id against that.

    Args:
        said: the justification.
        shared: those of its premises that are not of its scope, but shared.

    Raises:
        InvalidJustification: an id that lies about its hash.
    """
    if shared:
        digest = _digest(said.conclusions, said.premises, said.rule, said.window, shared)
        said = said._replace(digest=digest)
    id, hexed = said.name, said.digest.hex()
    if id is not None and id != hexed and is_digest(id):
        raise InvalidJustification(
            f"the id {id} looks like a content hash, but this justification's is {hexed}.",
            hint="Give no id, or one that is not 32 hex digits.",
            ids=(id,),
        )
    return said._replace(name=None) if id == hexed else said


def check_premises(premises: list[Ref], conclusions: list[Ref]) -> None:
    """Check that there are premises.

    Raises:
        InvalidJustification: there are none.
    """
    if not premises:
        raise InvalidJustification(
            "a justification without premises.",
            hint="If it is meant to hold by itself, say memory.axiom(...).",
            ids=tuple(conclusions),
        )


def _digest(
    conclusions: list[Ref],
    premises: list[Ref],
    rule: str | None,
    window: Window,
    shared: Set[Ref] = frozenset(),
) -> bytes:
    """Hash the JSON ``[[premises], [conclusions], rule]``, both lists sorted as text.

    If it does not hold always, ``[valid_from, valid_to]`` in microseconds is a fourth item. In
    a justification of another scope a shared premise stands in a list of its own: ``["kind:id"]``.
    """
    ruled = "null" if rule is None else _quoted(rule)
    held = "" if window == ALWAYS else f", {json.dumps(window)}"
    said = f"[[{_listed(premises, shared)}], [{_listed(conclusions)}], {ruled}{held}]"
    return hashlib.blake2b(said.encode(), digest_size=16).digest()


def _listed(refs: list[Ref], shared: Set[Ref] = frozenset()) -> str:
    ordered = refs if len(refs) == 1 else sorted(refs, key=str)
    if not shared:
        return ", ".join(map(_quoted, ordered))
    return ", ".join(f"[{_quoted(ref)}]" if ref in shared else _quoted(ref) for ref in ordered)


_quoted = json.encoder.encode_basestring
_PREFIX = f"{JUSTIFICATION}:"
