"""The only room that speaks SQL: one SQLite file, as schema.sql defines it.

``places`` knows where a file can lie, ``shape`` what it must declare, ``file`` opens and checks it,
``settings`` how it is to be opened, ``connection`` runs its transactions, ``lookup`` finds what the
next commit needs and ``record`` adds it, ``chain`` works out its digest, ``commits`` tells of it;
``network`` reads the graph for the labelling, ``beliefs`` answers questions about any revision,
``between`` about two of them, ``grounds`` and ``lacks`` of many nodes at one, ``causes`` about what
moved in a commit, which ``moves`` gives a page at a time, ``turns`` when something came and went;
``around`` and ``cone`` read what is near a node and all that stands behind it, ``adjacency`` walks
the graph at a revision, ``imagined`` takes in a commit that is not made, ``consumers`` keeps how
far each reader of the commits has come; ``chronicle`` tells it all as it came, ``audit`` checks it;
``redacting`` and ``pruning`` take away from it.
"""

from tms.store.adjacency import Adjacency
from tms.store.around import Around, Passed
from tms.store.audit import Audit, versions
from tms.store.baseline import LeftOut, left_out
from tms.store.beliefs import Beliefs, NodeRow
from tms.store.between import Between
from tms.store.causes import Causes, Change
from tms.store.chain import Chain
from tms.store.chronicle import Chronicle
from tms.store.commits import CommitRow
from tms.store.cone import Cone, Support
from tms.store.connection import SHARED, Connection, Overlay
from tms.store.consumers import Consumers
from tms.store.copying import back_up, write_out
from tms.store.file import open_file
from tms.store.grounds import Firing, Grounds, Recorded, Standing
from tms.store.health import Condition, condition
from tms.store.imagined import Imagined
from tms.store.lacks import Absent, Awaited, Lacks
from tms.store.lookup import Crossed, Head, Named
from tms.store.moves import Loss, Moves
from tms.store.network import SqlNetwork
from tms.store.owned import Owned
from tms.store.places import unfit
from tms.store.pruning import Pruner, Pruning, prunings
from tms.store.record import Record
from tms.store.redacting import overwriting, scrub
from tms.store.settings import be_strict
from tms.store.turns import Turns
from tms.store.unmaking import unmake
from tms.store.windows import Bound, Windows

__all__ = [
    "SHARED",
    "Absent",
    "Adjacency",
    "Around",
    "Audit",
    "Awaited",
    "Beliefs",
    "Between",
    "Bound",
    "Causes",
    "Chain",
    "Change",
    "Chronicle",
    "CommitRow",
    "Condition",
    "Cone",
    "Connection",
    "Consumers",
    "Crossed",
    "Firing",
    "Grounds",
    "Head",
    "Imagined",
    "Lacks",
    "LeftOut",
    "Loss",
    "Moves",
    "Named",
    "NodeRow",
    "Overlay",
    "Owned",
    "Passed",
    "Pruner",
    "Pruning",
    "Record",
    "Recorded",
    "SqlNetwork",
    "Standing",
    "Support",
    "Turns",
    "Windows",
    "back_up",
    "be_strict",
    "condition",
    "left_out",
    "open_file",
    "overwriting",
    "prunings",
    "scrub",
    "unfit",
    "unmake",
    "versions",
    "write_out",
]
