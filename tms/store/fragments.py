"""Pieces of SQL that many statements are made of: what was IN, on, valid or firing when."""

# What differs at another instant than that of the commit stands in temp.overlay; see ``Overlay``.
_CHANGE = (
    "ifnull((SELECT change FROM temp.overlay AS o WHERE o.node = {node}),"
    " (SELECT change FROM transition AS t WHERE t.node = {node} AND t.revision <= {at}"
    " ORDER BY t.revision DESC LIMIT 1))"
)
_SUPPORT = (
    "CASE WHEN EXISTS (SELECT 1 FROM temp.overlay AS o WHERE o.node = {node})"
    " THEN (SELECT support FROM temp.overlay AS o WHERE o.node = {node})"
    " ELSE (SELECT support FROM transition AS t WHERE t.node = {node} AND t.revision <= {at}"
    " ORDER BY t.revision DESC LIMIT 1) END"
)
_COMMITTED = "(SELECT 1000 * at + micro FROM commits WHERE revision = {at})"
_MOMENT = f"ifnull((SELECT instant FROM temp.moment WHERE id = 0), {_COMMITTED})"
_INSIDE = (
    "ifnull((SELECT ifnull(v.valid_from <= {moment}, 1) AND ifnull({moment} < v.valid_to, 1)"
    " FROM validity AS v WHERE v.target = {target} AND v.revision <= {at}"
    " ORDER BY v.revision DESC LIMIT 1), 1)"
)
_ON = (
    "ifnull((SELECT state FROM switch AS w WHERE w.target = {target} AND w.revision <= {at}"
    " ORDER BY w.revision DESC LIMIT 1), 1)"
)
_TOLD = (
    "CASE WHEN {0}.scope IN temp.mine THEN {0}.op ELSE 'settle' END,"
    " CASE WHEN {0}.scope IN temp.mine THEN {0}.reason END,"
    ' CASE WHEN {0}.scope IN temp.mine THEN {0}."by" END'
)
IDENTITY = "ifnull(j.name, lower(hex(j.digest)))"
"""SQL for the id by which the justification j is known."""


def told(commit: str) -> str:
    """Return SQL for op, reason and by of a commit: of another scope's no more than it settled."""
    return _TOLD.format(commit)


def is_in(node: str, at: str) -> str:
    """Return SQL for whether a node was IN at a revision. One seek."""
    return f"ifnull({_CHANGE.format(node=node, at=at)}, 0) > 0"


def is_on(target: str, at: str) -> str:
    """Return SQL for the switch of a target at a revision: 1 on, 0 off. One seek."""
    return _ON.format(target=target, at=at)


def support(node: str, at: str) -> str:
    """Return SQL for the key of what an IN fact rested on at a revision, else NULL. One seek."""
    return _SUPPORT.format(node=node, at=at)


def is_inside(target: str, at: str) -> str:
    """Return SQL for whether a target was inside its window, 1 or 0. One seek."""
    return _INSIDE.format(target=target, at=at, moment=_MOMENT.format(at=at))


def works(target: str, at: str) -> str:
    """Return SQL for whether a target was on and inside its window. Two seeks."""
    return f"({is_on(target, at)} = 1 AND {is_inside(target, at)} = 1)"


def ceased(target: str, at: str) -> str:
    """Return SQL for whether a target worked at the commit before one and no longer at it."""
    return f"({_worked(target, f'{at} - 1')} AND NOT {_worked(target, at)})"


def resumed(target: str, at: str) -> str:
    """Return SQL for whether a target worked at a commit and did not at the one before."""
    return f"(NOT {_worked(target, f'{at} - 1')} AND {_worked(target, at)})"


def _worked(target: str, at: str) -> str:
    """Return SQL for whether a target worked at the time of a commit, whatever is looked at."""
    inside = _INSIDE.format(target=target, at=at, moment=_COMMITTED.format(at=at))
    return f"({is_on(target, at)} = 1 AND {inside} = 1)"


def fires(justification: str, at: str) -> str:
    """Return SQL for whether a justification fired at a revision. A seek for each premise."""
    return (
        f"{works(justification, at)} AND NOT EXISTS (SELECT 1 FROM premise AS p"
        f" WHERE p.justification = {justification} AND NOT {is_in('p.node', at)})"
    )
