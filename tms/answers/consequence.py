"""What rests on something, and what would happen to it."""

from collections.abc import Iterator
from typing import Literal

from tms.content import line
from tms.models import Model
from tms.refs import Anchor, Ref


class Reached(Model):
    """A fact that is IN and has something that would be retracted among what stands behind it.

    Attributes:
        ref: which.
        fate: ``died``, ``survived`` (would lose a justification that fires and stay IN), or
            ``untouched`` (all that fires for it would still fire).
        depth: how many justifications lead there, at least; 0 for what is asked about.
        previous, through: the step before on one shortest path, and the justification from there.
        via, lost: of a survivor, the ids of what would still fire and of what would stop.
    """

    ref: Ref
    fate: Literal["died", "survived", "untouched"]
    depth: int
    previous: Ref | None
    through: Ref | None
    via: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()

    def __str__(self) -> str:
        parts = [f"{self.fate:<9} {self.depth}  {self.ref}"]
        if self.previous is not None and self.through is not None:
            parts.append(f"from {self.previous} by {self.through}")
        if self.via:
            parts.append(f"via {', '.join(self.via)}  (lost {', '.join(self.lost)})")
        return line("  ".join(parts))


class Impact(Model):
    """What retracting something would do to all that rests on it. Falsy when it reaches no fact.

    It iterates over the facts reached: by depth, then by (kind, id). ``died + survived +
    untouched + out_of_reach = believed``, whatever was left out of ``reached``.

    Attributes:
        ref: what would be retracted.
        at: the commit asked about.
        reached: the facts downstream, itself at depth 0 if it is a fact that is IN.
        died, survived, untouched: how many of each fate there are.
        out_of_reach: how many facts that are IN have it nowhere behind them.
        believed: how many facts are IN.
        truncated: ``reached`` was cut at a limit.
    """

    ref: Ref
    at: Anchor | None
    reached: tuple[Reached, ...]
    died: int
    survived: int
    untouched: int
    out_of_reach: int
    believed: int
    truncated: bool

    def __bool__(self) -> bool:
        return self.died + self.survived + self.untouched > 0

    def __iter__(self) -> Iterator[Reached]:  # type: ignore[override]
        return iter(self.reached)

    def path(self, ref: str) -> tuple[Ref, ...]:
        """Return one shortest path to a fact reached, nodes and justifications in turn.

        Args:
            ref: a fact in ``reached``.

        Raises:
            KeyError: it is none.
        """
        steps = {step.ref: step for step in self.reached}
        step: Reached | None = steps[Ref(ref)]
        path: list[Ref] = []
        while step is not None:
            path += [ref for ref in (step.ref, step.through) if ref is not None]
            if step.previous is not None and step.previous not in steps:
                path.append(step.previous)
            step = steps.get(step.previous) if step.previous is not None else None
        return tuple(reversed(path))

    def __str__(self) -> str:
        return self.text(most=_SHOWN)

    def text(self, *, most: int | None = None) -> str:
        """Return the text form; ``str(impact)`` is the same, cut after 20 facts.

        Args:
            most: how many facts are named; None for all.
        """
        lines = [
            f"retract {self.ref}",
            f"  would die     {self.died:,}",
            f"  survive       {self.survived:,}",
            f"  untouched     {self.untouched:,}  (downstream)",
            f"  out of reach  {self.out_of_reach:,}",
            f"  believed      {self.believed:,}",
        ]
        lines += [f"    {item}" for item in self.reached[:most]]
        if most is not None and len(self.reached) > most:
            lines.append(f"    … {len(self.reached) - most:,} more")
        if self.truncated:
            lines.append("    … more, left out because of a limit")
        return "\n".join(map(line, lines))


_SHOWN = 20
