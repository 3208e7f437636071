"""The only room that speaks SQL: one SQLite file, as schema.sql defines it.

``file`` opens and checks a file, ``connection`` runs its transactions, ``record`` adds to it,
``network`` reads the graph for the labelling, ``beliefs`` answers questions about any revision,
``between`` about two of them, ``grounds`` of many nodes at one, ``around`` of all on record near
them, ``audit`` reads all of it.
"""

from tms.store.around import Around, Passed
from tms.store.audit import Audit, versions
from tms.store.beliefs import Beliefs, NodeRow
from tms.store.between import Between
from tms.store.connection import Connection
from tms.store.file import open_file
from tms.store.grounds import Firing, Grounds, Recorded, Standing
from tms.store.network import SqlNetwork
from tms.store.record import Head, Named, Record

__all__ = [
    "Around",
    "Audit",
    "Beliefs",
    "Between",
    "Connection",
    "Firing",
    "Grounds",
    "Head",
    "Named",
    "NodeRow",
    "Passed",
    "Record",
    "Recorded",
    "SqlNetwork",
    "Standing",
    "open_file",
    "versions",
]
