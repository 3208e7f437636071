"""Does the chain of digests hold, and does it lead to the one that was kept elsewhere?"""

from collections.abc import Collection

from tms.findings import Findings
from tms.refs import Anchor, Digest
from tms.store import Chain


def check_chain(
    chain: Chain, times: dict[int, int], baseline: int, blamed: Collection[int], findings: Findings
) -> None:
    """Check every digest on record.

    Args:
        chain: the digests.
        times: of each commit on record its time, in milliseconds.
        baseline: the revision that a pruned file begins with; else 0.
        blamed: the revisions of rows that other checks found changed and no digest of a commit is
            over: premises and conclusions, and contents that nothing redacted.
        findings: where to add what is wrong.

    Cost: reads the record once.
    """
    broken = [] if chain.kept_stands() else [f"what is kept up to {_named(baseline, times)}"]
    broken += [_named(revision, times) for revision in sorted(blamed) if 0 < revision <= baseline]
    follows = baseline + 1
    for revision, sound in chain.links(baseline):
        if revision != follows:
            broken.append(f"revision {follows} is not there")
        if not sound or revision in blamed:
            broken.append(_named(revision, times))
        follows = revision + 1
    findings.add(
        "chain",
        "a commit is not what its digest says; trust neither the first one named nor later ones",
        broken,
    )


def check_kept(chain: Chain, kept: Digest, findings: Findings) -> None:
    """Check that a commit is on record with the digest that was kept elsewhere."""
    revision = kept.anchor.revision
    here = [Digest.kept(revision, *one) for one in chain.vouching(revision)]
    if not here:
        wrong = [f"{kept.anchor} is not there"]
    elif kept in here[1:]:
        wrong = [
            f"{kept.anchor}: the file was pruned since, so it does not vouch for what was kept"
        ]
    else:
        wrong = [f"{here[0]} is there instead"] if here[0] != kept else []
    findings.add("kept", "the commit whose digest was kept elsewhere is another, or gone", wrong)


def _named(revision: int, times: dict[int, int]) -> str:
    try:
        return str(Anchor.kept(revision, times[revision]))
    except (KeyError, OverflowError):
        return f"revision {revision}"
