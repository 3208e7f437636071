"""tms: the truth-maintenance engine that agent memories run on, in one SQLite file.

``tms.open(path)`` gives a ``Memory``. Sources support facts through justifications;
``memory.retract(source)`` says what died and what survived and through what;
``memory.unretract(source)`` is its exact inverse; ``memory.as_of(recorded=anchor)`` replays what
was believed at any commit.
"""

from tms.answers import (
    Bearing,
    Because,
    BelievedDuring,
    Change,
    Commit,
    Critical,
    Cuts,
    Diff,
    Environments,
    Event,
    Impact,
    Lack,
    Link,
    Near,
    Neighbourhood,
    Origins,
    Period,
    Periods,
    Pruned,
    Reached,
    Revalidated,
    Revised,
    Span,
    Stats,
    Step,
    Waiting,
    Why,
    WhyNot,
)
from tms.batch import Batch
from tms.errors import (
    Busy,
    ContentConflict,
    CorruptStore,
    Forgotten,
    InvalidAnchor,
    InvalidArgument,
    InvalidContent,
    InvalidCursor,
    InvalidJustification,
    InvalidRef,
    InvalidWindow,
    Misuse,
    NoSuchAnchor,
    NoSuchFile,
    NoSuchJustification,
    NoSuchNode,
    NotATMSFile,
    ReadOnly,
    SchemaTooNew,
    StoreFailed,
    TMSError,
)
from tms.feed import Subscription
from tms.listening import Listener
from tms.memory import Memory, open
from tms.models import (
    Finding,
    Justification,
    Loaded,
    Node,
    Page,
    Report,
    Settled,
    Status,
    Survivor,
    Verification,
)
from tms.refs import Anchor, Ref
from tms.view import View

__all__ = [
    "Anchor",
    "Batch",
    "Bearing",
    "Because",
    "BelievedDuring",
    "Busy",
    "Change",
    "Commit",
    "ContentConflict",
    "CorruptStore",
    "Critical",
    "Cuts",
    "Diff",
    "Environments",
    "Event",
    "Finding",
    "Forgotten",
    "Impact",
    "InvalidAnchor",
    "InvalidArgument",
    "InvalidContent",
    "InvalidCursor",
    "InvalidJustification",
    "InvalidRef",
    "InvalidWindow",
    "Justification",
    "Lack",
    "Link",
    "Listener",
    "Loaded",
    "Memory",
    "Misuse",
    "Near",
    "Neighbourhood",
    "NoSuchAnchor",
    "NoSuchFile",
    "NoSuchJustification",
    "NoSuchNode",
    "Node",
    "NotATMSFile",
    "Origins",
    "Page",
    "Period",
    "Periods",
    "Pruned",
    "Reached",
    "ReadOnly",
    "Ref",
    "Report",
    "Revalidated",
    "Revised",
    "SchemaTooNew",
    "Settled",
    "Span",
    "Stats",
    "Status",
    "Step",
    "StoreFailed",
    "Subscription",
    "Survivor",
    "TMSError",
    "Verification",
    "View",
    "Waiting",
    "Why",
    "WhyNot",
    "open",
]


def __getattr__(name: str) -> str:
    if name != "__version__":
        raise AttributeError(f"module 'tms' has no attribute {name!r}")
    from importlib.metadata import version  # a tenth of the import, seldom asked

    return version("sqlite-tms")
