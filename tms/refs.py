"""Names of things: a ref names a node or a justification, an anchor names a commit."""

import re
from collections.abc import Iterable, Set
from datetime import UTC, datetime, timedelta
from typing import Any, Self

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from tms import clock, limits
from tms.errors import InvalidAnchor, InvalidDigest, InvalidRef, quoted

JUSTIFICATION = "justification"
"""The kind that justifications have in a ref; no node may have it."""

LAST_REVISION = 2**53 - 2
"""The largest revision an anchor can name; it stays exact in JSON readers with doubles."""


_EXACT = str.__str__
"""Returns the text that one is, also where its class shows another, as an enum may."""


class _Text(str):
    """Text of one checked form, which pydantic models take and give as that text."""

    __slots__ = ()

    @classmethod
    def __get_pydantic_core_schema__(
        cls, _source: Any, _handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.union_schema(
            [
                core_schema.is_instance_schema(cls),
                core_schema.no_info_after_validator_function(cls, core_schema.str_schema()),
            ],
            mode="left_to_right",
            serialization=core_schema.to_string_ser_schema(),
        )


class Ref(_Text):
    """The name of a source, a fact or a justification: ``kind:id``, split at the first colon.

    A ref is its text: it equals, hashes and prints as ``kind:id`` and is taken wherever text is.
    Refs sort by (kind, id).

    Raises:
        InvalidRef: no colon, an empty kind or id, a lone surrogate, or either part too long
            (``tms.limits``).
    """

    __slots__ = ()

    def __new__(cls, text: str) -> Self:
        if isinstance(text, cls):
            return text
        if not isinstance(text, str):
            raise InvalidRef(
                f"not a ref: {quoted(text)}.",
                hint="Give a Ref, a model that has one, or 'kind:id'.",
            )
        text = _EXACT(text)
        if not 0 < text.find(":") < len(text) - 1:
            raise InvalidRef(
                f"not a ref: {text!r}.", hint="Write kind:id, neither part empty.", ids=(text,)
            )
        if not text.isascii():
            _encodable(text)
        if len(text) > _SURELY_SHORT:
            _check_length(text)
        return str.__new__(cls, text)

    @classmethod
    def of(cls, kind: str, id: str) -> Self:
        """Join a kind and an id.

        Raises:
            InvalidRef: one is no text, ``kind`` holds a colon, or what ``Ref`` refuses.
        """
        if not isinstance(kind, str) or not isinstance(id, str):
            raise InvalidRef(f"not a kind and an id: {quoted((kind, id))}.", hint="Give two texts.")
        kind, id = _EXACT(kind), _EXACT(id)
        if ":" in kind:
            raise InvalidRef(
                f"a kind holds no colon: {kind!r}.", hint="The id may; the kind may not."
            )
        return cls(f"{kind}:{id}")

    @classmethod
    def kept(cls, kind: str, id: str) -> Self:
        """Join a kind and an id that come from the file, unchecked."""
        return str.__new__(cls, f"{kind}:{id}")

    @property
    def kind(self) -> str:
        """The part before the first colon."""
        return self.partition(":")[0]

    @property
    def id(self) -> str:
        """The part after the first colon."""
        return self.partition(":")[2]

    def __lt__(self, other: str) -> bool:
        return self.partition(":") < other.partition(":")

    def __le__(self, other: str) -> bool:
        return self.partition(":") <= other.partition(":")

    def __gt__(self, other: str) -> bool:
        return self.partition(":") > other.partition(":")

    def __ge__(self, other: str) -> bool:
        return self.partition(":") >= other.partition(":")

    def __repr__(self) -> str:
        return f"Ref({str.__repr__(self)})"


def is_digest(id: str) -> bool:
    """Return whether a justification id has the form of a content hash: 32 hex digits."""
    return _DIGEST.fullmatch(id) is not None


def ref_of(value: object) -> Ref:
    """Return the ref that a value is or has: a Ref, a model with a ``ref``, or ``kind:id`` text.

    Raises:
        InvalidRef: it is none of these.
    """
    if isinstance(value, str):
        return Ref(value)
    ref = getattr(value, "ref", None)
    if isinstance(ref, Ref):
        return ref
    raise InvalidRef(
        f"not a ref: {quoted(value)}.", hint="Give a Ref, a model that has one, or 'kind:id'."
    )


def refs_of(value: object) -> list[Ref]:
    """Return the refs of one such value or of several, in order, each once.

    A set has no order of its own, so its refs are sorted: no answer may depend on hashes.

    Raises:
        InvalidRef: one of them is no ref.
    """
    if isinstance(value, str):
        return [Ref(value)]
    if not isinstance(value, Iterable) or hasattr(value, "ref"):
        return [ref_of(value)]
    refs = [ref_of(item) for item in value]
    if len(refs) == 1:
        return refs
    return sorted(set(refs)) if isinstance(value, Set) else list(dict.fromkeys(refs))


def _encodable(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidRef(
            f"a lone surrogate at position {error.start} of {text!r}.",
            hint="It is no Unicode text; decode the bytes it came from with their own encoding.",
            ids=(text,),
        ) from None


def _check_length(text: str) -> None:
    kind, _, id = text.partition(":")
    for name, part in (("kind", kind), ("id", id)):
        if len(part.encode()) > limits.TEXT:
            raise InvalidRef(
                f"a ref whose {name} is longer than {limits.said(limits.TEXT)}: {text!r:.80}….",
                hint="Name it by a hash of that, and keep the rest as content.",
                ids=(text,),
            )


_SURELY_SHORT = limits.TEXT // 4
_DIGEST = re.compile(r"[0-9a-f]{32}")
_ANCHOR = re.compile(r"r1:([0-9]{16}):(.*)", re.DOTALL)
_INSTANT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class Anchor(_Text):
    """The name of a commit: ``r1:<16-digit revision>:<UTC milliseconds, ISO, Z>``.

    Anchors of one file sort by revision, as text too. The time is for people: it never goes
    back from one revision to the next, but it may repeat.

    Raises:
        InvalidAnchor: any other text; a plain ISO instant is told apart in the message.
    """

    __slots__ = ()

    def __new__(cls, text: str) -> Self:
        if isinstance(text, cls):
            return text
        if not isinstance(text, str):
            raise InvalidAnchor(f"not an anchor: {quoted(text)}.", hint=_WHERE)
        text = _EXACT(text)
        match = _ANCHOR.fullmatch(text)
        if match and 1 <= int(match[1]) <= LAST_REVISION and clock.read(match[2]) is not None:
            return super().__new__(cls, text)
        if _INSTANT.match(text):
            raise InvalidAnchor(
                f"an instant is not an anchor: {text!r}.",
                hint="Several commits may share an instant, so it names none of them; "
                "memory.anchor_at(instant) gives the last by then. " + _WHERE,
                ids=(text,),
            )
        raise InvalidAnchor(f"not an anchor: {text!r}.", hint=_WHERE, ids=(text,))

    @classmethod
    def kept(cls, revision: int, at: int) -> Self:
        """Name a commit that comes from the file, unchecked."""
        return str.__new__(cls, f"r1:{revision:016d}:{clock.written(at)}")

    @property
    def revision(self) -> int:
        """The number of the commit, from 1 up."""
        return int(self[3:19])

    @property
    def at(self) -> datetime:
        """When it was recorded, in UTC, to the millisecond."""
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=self.milliseconds)

    @property
    def milliseconds(self) -> int:
        """When it was recorded, in milliseconds since 1970."""
        at = clock.read(self[20:])
        assert at is not None  # checked on construction
        return at

    def __repr__(self) -> str:
        return f"Anchor({str.__repr__(self)})"


class Digest(_Text):
    """A commit with the digest of all that was recorded up to it: ``ANCHOR HEX``.

    It is its text, the anchor, a space and 64 hex digits, to be kept out of reach of who can write
    the file: ``verify(kept=digest)`` tells whether the file still says all that it said then.

    Raises:
        InvalidDigest: any other text.
    """

    __slots__ = ()

    def __new__(cls, text: str) -> Self:
        if isinstance(text, cls):
            return text
        if isinstance(text, str):
            text = _EXACT(text)
            anchor, _, digits = text.partition(" ")
            try:
                Anchor(anchor)
            except InvalidAnchor:
                digits = ""
            if _HEX.fullmatch(digits):
                return str.__new__(cls, text)
        raise InvalidDigest(
            f"not a digest: {quoted(text)}.",
            hint="Take one from memory.digest(): an anchor, a space, and 64 hex digits.",
            ids=(text,) if isinstance(text, str) else (),
        )

    @classmethod
    def kept(cls, revision: int, at: int, digest: bytes) -> Self:
        """Name the digest of a commit that comes from the file, unchecked."""
        return str.__new__(cls, f"{Anchor.kept(revision, at)} {digest.hex()}")

    @property
    def anchor(self) -> Anchor:
        """The commit."""
        return Anchor(self.partition(" ")[0])

    @property
    def hex(self) -> str:
        """The digest alone, in lower hexadecimal."""
        return self.partition(" ")[2]

    def __repr__(self) -> str:
        return f"Digest({str.__repr__(self)})"


_HEX = re.compile(r"[0-9a-f]{64}")
_WHERE = (
    "Take one from memory.head, memory.log() or a report; "
    "it looks like r1:0000000000000042:2026-07-21T10:00:00.000Z."
)
