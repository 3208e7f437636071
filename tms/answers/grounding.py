"""Which sources hold something up, alone, together and against loss."""

from collections.abc import Iterator

from tms.content import line
from tms.models import Model, Status
from tms.refs import Anchor, Ref


class _Sets(Model):
    ref: Ref
    status: Status
    at: Anchor | None
    sets: tuple[tuple[Ref, ...], ...]
    truncated: bool

    def __bool__(self) -> bool:
        return bool(self.sets)

    def __len__(self) -> int:
        return len(self.sets)

    def __iter__(self) -> Iterator[tuple[Ref, ...]]:  # type: ignore[override]
        return iter(self.sets)

    def _text(self, title: str) -> str:
        lines = [f"{self.ref}  {self.status}", f"  {title}"]
        lines += [f"    {', '.join(refs)}" for refs in self.sets]
        if self.truncated:
            lines.append("    … more, left out because of a limit")
        return "\n".join(map(line, lines))


class Environments(_Sets):
    """The minimal sets of sources and axioms each of which supports something on its own.

    It iterates over them, the smallest first, equal ones by their refs. An axiom stands in them as
    its justification. What is retracted supports nothing and stands in none.

    Attributes:
        ref, status: what was asked about.
        at: the commit asked about.
        sets: the environments; those of a size are all there before the next size begins.
        truncated: some were left out because of a limit.
    """

    def __str__(self) -> str:
        return self._text(f"environments  {len(self.sets):,}")


class Origins(_Sets):
    """How many independent origins something has: environments that share no source.

    It iterates over such a family of environments.

    Attributes:
        ref, status: what was asked about.
        at: the commit asked about.
        sets: the family.
        count: how many; the most there can be, unless ``truncated``.
        truncated: there may be more; ``count`` is a lower bound.
    """

    count: int

    def __str__(self) -> str:
        return self._text(f"independent origins  {'at least ' * self.truncated}{self.count:,}")


class Cuts(_Sets):
    """The minimal sets of sources whose loss would take something OUT.

    It iterates over them, the smallest first, equal ones by their refs. A set of one is a single
    point of failure. Empty if it is OUT, or stands without any source.

    Attributes:
        ref, status: what was asked about.
        at: the commit asked about.
        sets: the cuts; those of a size are all there before the next size begins.
        truncated: some were left out because of a limit.
    """

    def __str__(self) -> str:
        return self._text(f"cuts  {len(self.sets):,}")


class Bearing(Model):
    """A source, and how much stands with it alone.

    Attributes:
        ref: the source.
        facts: how many facts that are IN would go OUT if it alone were retracted.
    """

    ref: Ref
    facts: int

    def __str__(self) -> str:
        return line(f"{self.facts:>9,}  {self.ref}")


class Critical(Model):
    """The sources by how many facts would go OUT without each alone. Falsy when there are none.

    It iterates over them: those with the most first, equal ones by (kind, id).

    Attributes:
        at: the commit asked about.
        sources: those without which some fact would go OUT.
        truncated: some were left out because of the limit.
    """

    at: Anchor | None
    sources: tuple[Bearing, ...]
    truncated: bool

    def __bool__(self) -> bool:
        return bool(self.sources)

    def __len__(self) -> int:
        return len(self.sources)

    def __iter__(self) -> Iterator[Bearing]:  # type: ignore[override]
        return iter(self.sources)

    def __str__(self) -> str:
        lines = ["facts that would die without the source alone"]
        lines += [str(item) for item in self.sources]
        if not self.sources:
            lines.append("  no fact rests on one source alone")
        if self.truncated:
            lines.append("  … more, left out because of the limit")
        return "\n".join(lines)
