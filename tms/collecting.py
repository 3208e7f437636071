"""Long work without the cycle collector."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Keep the cycle collector from running: it would walk much that is new and find nothing.

    Settlements and loads make many objects at once and none of them in cycles.
    """
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()
        else:
            gc.disable()
