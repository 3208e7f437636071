"""Whether supports are well-founded, and which facts support themselves through others."""

from collections.abc import Iterable, Mapping

from oracle import Said


def founded(supports: Mapping[str, Said]) -> bool:
    """Return whether each fact rests on a justification of it, in no ring of supports."""
    if any(fact not in said.conclusions for fact, said in supports.items()):
        return False
    left = dict(supports)
    while left:
        grounded = [fact for fact, said in left.items() if not said.premises & left.keys()]
        if not grounded:
            return False
        for fact in grounded:
            del left[fact]
    return True


def on_rings(facts: Iterable[str], justifications: Iterable[Said]) -> set[str]:
    """Return those of the facts that support themselves through others of them."""
    among = set(facts)
    above: dict[str, set[str]] = {fact: set() for fact in among}
    for said in justifications:
        for premise in said.premises & among:
            above[premise] |= said.conclusions & among
    rings = set()
    for fact in among:
        reached, waiting = set(), [fact]
        while waiting:
            new = above[waiting.pop()] - reached
            reached |= new
            waiting += new
        if fact in reached:
            rings.add(fact)
    return rings
