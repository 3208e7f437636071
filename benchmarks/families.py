"""The worlds to measure on, each a generator of interchange rows with one source to withdraw."""

import random
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

Row = dict[str, Any]

GROUP = 1000
"""Facts in a row of ``layers``, sources of ``pods``."""

RING = 100
"""Facts in a ring of ``rings``."""


class Family(NamedTuple):
    """A world: its rows for a size, and the source whose retraction is measured."""

    name: str
    rows: Callable[[int], Iterator[Row]]
    withdrawn: str


def justification(id: str, premises: list[str], derives: str) -> Row:
    """Return the row of a justification."""
    return {"justification": id, "premises": premises, "derives": [derives], "rule": "bench"}


def security(n: int) -> Iterator[Row]:
    """One feed flags n services, a scan every second; a block on each rests on flag and policy."""
    yield {"source": "Feed:bad"}
    yield {"source": "Scan:sast"}
    yield {"source": "Policy:block"}
    for i in range(n):
        yield justification(f"feed/{i}", ["Feed:bad"], f"Flag:{i:07}")
        if i % 2:
            yield justification(f"scan/{i}", ["Scan:sast"], f"Flag:{i:07}")
        yield justification(f"block/{i}", [f"Flag:{i:07}", "Policy:block"], f"Block:{i:07}")


def chain(n: int) -> Iterator[Row]:
    """Each fact rests on the one before."""
    yield {"source": "Root:0"}
    last = "Root:0"
    for i in range(n):
        yield justification(f"link/{i}", [last], f"Link:{i:07}")
        last = f"Link:{i:07}"


def fan(n: int) -> Iterator[Row]:
    """All facts rest on one source."""
    yield {"source": "Root:0"}
    for i in range(n):
        yield justification(f"blade/{i}", ["Root:0"], f"Blade:{i:07}")


def layers(n: int) -> Iterator[Row]:
    """Rows of 1000; each fact has two justifications of two premises from the row below."""
    below = [f"Ground:{i:04}" for i in range(GROUP)]
    for name in below:
        yield {"source": name}
    chance = random.Random(1)
    for layer in range(n // GROUP):
        here = [f"Layer:{layer:04}-{i:04}" for i in range(GROUP)]
        for i, name in enumerate(here):
            for side in "ab":
                premises = chance.sample(below, 2)
                yield justification(f"layer/{layer}/{i}/{side}", premises, name)
        below = here


def rings(n: int) -> Iterator[Row]:
    """Rings of 100 in mutual support, each grounded by g0, every second one by g1 opposite too."""
    yield {"source": "Ground:g0"}
    yield {"source": "Ground:g1"}
    for ring in range(n // RING):
        names = [f"Ring:{ring:05}-{i:03}" for i in range(RING)]
        yield justification(f"ground/{ring}/0", ["Ground:g0"], names[0])
        if ring % 2:
            yield justification(f"ground/{ring}/1", ["Ground:g1"], names[RING // 2])
        for i in range(RING):
            yield justification(f"next/{ring}/{i}", [names[i]], names[(i + 1) % RING])
            yield justification(f"back/{ring}/{i}", [names[i]], names[i - 1])


def memory(n: int) -> Iterator[Row]:
    """A source per ten facts; one to three premises, mostly recent; three in ten corroborated."""
    chance = random.Random(2)
    for i in range(n):
        if i % 10 == 0:
            yield {"source": f"Run:{i // 10:06}"}
        for vote in range(2 if chance.random() < 0.3 else 1):
            premises = {f"Run:{i // 10 if vote == 0 else chance.randrange(i // 10 + 1):06}"}
            for _ in range(chance.randrange(3)):
                if i:
                    low = max(0, i - 200) if chance.random() < 0.9 else 0
                    premises.add(f"Fact:{chance.randrange(low, i):07}")
            yield justification(f"fact/{i}/{vote}", sorted(premises), f"Fact:{i:07}")


def pods(n: int) -> Iterator[Row]:
    """1000 sources, of which source 0 reaches 30 facts of n, however many there are."""
    for i in range(GROUP):
        yield {"source": f"Pod:{i:04}"}
    for i in range(30):
        yield justification(f"pod/0/{i}", ["Pod:0000"], f"State:0-{i:07}")
    for i in range(30, n):
        pod = 1 + i % (GROUP - 1)
        yield justification(f"pod/{pod}/{i}", [f"Pod:{pod:04}"], f"State:{pod}-{i:07}")


def lattice(n: int) -> Iterator[Row]:
    """Rows of 2 on one source; each fact has a justification from each of the row below."""
    yield {"source": "Root:0"}
    below = ["Root:0"]
    for row in range(n // 2):
        here = [f"Row:{row:05}-{side}" for side in "ab"]
        for upper in here:
            for i, lower in enumerate(below):
                yield justification(f"{upper}/{i}", [lower], upper)
        below = here


def inlet(n: int) -> Iterator[Row]:
    """One fact on n sources, each of which is enough for it."""
    for i in range(n):
        yield {"source": f"Feed:{i:07}"}
        yield justification(f"inlet/{i}", [f"Feed:{i:07}"], "Sum:0")


FAMILIES = {
    family.name: family
    for family in (
        Family("security", security, "Feed:bad"),
        Family("chain", chain, "Root:0"),
        Family("fan", fan, "Root:0"),
        Family("layers", layers, "Ground:0000"),
        Family("rings", rings, "Ground:g0"),
        Family("memory", memory, "Run:000000"),
        Family("pods", pods, "Pod:0000"),
        Family("lattice", lattice, "Root:0"),
        Family("inlet", inlet, "Feed:0000000"),
    )
}
"""Every family by its name."""
