"""Pictures of what holds something up: sets of sources, and how much stands with each source."""

from tms.answers import Critical, Cuts, Environments, Origins
from tms.refs import Ref
from tms.render.sketch import Kind, Sketch, Tree
from tms.render.views import TRUNCATED, as_of, sketched


def _sets(answer: Environments | Origins | Cuts, word: str, kind: Kind) -> Sketch:
    sketch = Sketch(f"{word.capitalize()}s of {answer.ref}")
    sketch.spot(answer.ref, status=answer.status.value, marks=["asked"])
    sketch.notes += as_of(answer.at)
    sketch.notes.append(f"{'at least ' * answer.truncated}{len(answer):,} {word}s")
    for place, members in enumerate(answer, 1):
        name = f"{word} {place:,}"
        sketch.spot(name, "set")
        sketch.edge(name, answer.ref, kind)
        for ref in members:
            sketch.spot(ref, "source", "IN")
            sketch.edge(ref, name, "premise")
    if answer.truncated:
        sketch.notes.append(TRUNCATED)
    sketch.trees.append(Tree("", (answer.ref,), forward=False))
    return sketch


@sketched.register
def _(answer: Environments) -> Sketch:
    return _sets(answer, "environment", "derives")


@sketched.register
def _(answer: Origins) -> Sketch:
    return _sets(answer, "origin", "derives")


@sketched.register
def _(answer: Cuts) -> Sketch:
    return _sets(answer, "cut", "lost")


@sketched.register
def _(answer: Critical) -> Sketch:
    sketch = Sketch("Sources by what would die without each alone")
    sketch.notes += as_of(answer.at)
    roots: list[Ref] = []
    for bearing in answer:
        facts = f"{bearing.facts:,} fact{'s' * (bearing.facts != 1)} would die"
        sketch.spot(bearing.ref, "source", "IN", marks=[facts])
        roots.append(bearing.ref)
    if not answer:
        sketch.notes.append("no fact rests on one source alone")
    if answer.truncated:
        sketch.notes.append(TRUNCATED)
    sketch.trees.append(Tree("", tuple(roots), forward=False))
    return sketch
