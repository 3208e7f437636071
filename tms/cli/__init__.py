"""The command line: ``tms [--db PATH] VERB``, a verb for each method of a memory.

``program`` is the frame: which file, and how an error becomes a message and an exit status.
``output`` is how results are told, ``feeding`` how a file of rows is read; ``writing``,
``reading``, ``asking`` and ``retaining`` hold the verbs, ``options`` what several of them take.
"""

from tms.cli import asking, reading, retaining, writing
from tms.cli.program import program as main

__all__ = ["asking", "main", "reading", "retaining", "writing"]
