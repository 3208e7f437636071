"""What a check of a file finds, gathered."""

from collections.abc import Iterable

from tms.models import Finding

_EXAMPLES = 5


class Findings:
    """The findings of one check.

    Attributes:
        found: them, in the order in which they were met.
    """

    def __init__(self) -> None:
        self.found: list[Finding] = []

    def add(self, rule: str, message: str, examples: Iterable[str]) -> None:
        """Add a finding, if there is any example of it."""
        examples = list(examples)
        if examples:
            self.found.append(
                Finding(
                    rule=rule,
                    message=message,
                    count=len(examples),
                    examples=tuple(examples[:_EXAMPLES]),
                )
            )
