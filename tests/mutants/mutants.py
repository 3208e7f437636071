"""Small breaks of tms/labelling.py, each of which the tests have to notice.

A mutant is a text that stands there once and what is put in its place. When the module changes,
a test tells which texts no longer stand there.
"""

from typing import NamedTuple


class Mutant(NamedTuple):
    """A break.

    Attributes:
        name: what is broken.
        old: the text that stands in the module, exactly once.
        new: what is put in its place.
        survives: why no test can notice it; empty if one must.
    """

    name: str
    old: str
    new: str
    survives: str = ""


MUTANTS = [
    # -------------------------------------------------------- settle
    Mutant(
        "gain before lose",
        """    hopeful = settlement.lose(turned.nodes_off, turned.justifications_off)
    settlement.gain(turned.sources_on, [*hopeful, *turned.facts_on], turned.justifications_on)
""",
        """    settlement.gain(turned.sources_on, turned.facts_on, turned.justifications_on)
    settlement.lose(turned.nodes_off, turned.justifications_off)
""",
    ),
    Mutant("no phase 2 for what was lost", "[*hopeful, *turned.facts_on]", "turned.facts_on"),
    Mutant("facts switched on stay OUT", "[*hopeful, *turned.facts_on]", "hopeful"),
    Mutant(
        "justifications switched on do not fire",
        "[*hopeful, *turned.facts_on], turned.justifications_on)",
        "[*hopeful, *turned.facts_on], ())",
    ),
    Mutant(
        "sources switched on stay OUT", "settlement.gain(turned.sources_on,", "settlement.gain((),"
    ),
    Mutant(
        "nodes switched off stay IN",
        "settlement.lose(turned.nodes_off, ",
        "settlement.lose((), ",
    ),
    Mutant(
        "justifications switched off go on firing",
        "turned.justifications_off)",
        "())",
    ),
    # -------------------------------------------------------- changes
    Mutant("labels that came back count as changes", "if before[node] != label", "if True"),
    Mutant(
        "only a change of status counts",
        "if before[node] != label",
        "if not (before[node] and label)",
    ),
    Mutant(
        "the last label before stands for the first",
        "self._before.setdefault(node, stored)",
        "self._before[node] = stored",
    ),
    # -------------------------------------------------------- phase 1
    Mutant(
        "what was switched off adopts support",
        "[fact for fact in wave if fact not in switched_off]",
        "list(wave)",
    ),
    Mutant(
        "what rests on a justification switched off is not disturbed",
        "        self._disturb(justifications, waves)\n        for rank",
        "        for rank",
    ),
    Mutant(
        "a justification switched off is not known to be dead",
        "dead.update(justifications)",
        "pass",
        survives="Equivalent: the network yields no justification that is off, so none of them is "
        "met again.",
    ),
    Mutant("only the last wave has hope", "hopeful += pending", "hopeful = pending"),
    Mutant("no wave has hope", "hopeful += pending", "pass"),
    Mutant("what adopted support falls", "now[node] = adopted.get(node)", "now[node] = None"),
    Mutant(
        "the label before loses its support",
        "before[node] = (rank, support)",
        "before[node] = (rank, None)",
    ),
    Mutant(
        "what survived falls on",
        "if label is None:\n                    gone",
        "if True:\n                    gone",
    ),
    Mutant(
        "only what survived falls on",
        "if label is None:\n                    gone",
        "if label:\n                    gone",
    ),
    Mutant("what rests on the fallen stays", "self._disturb(fallen, waves)", "pass"),
    Mutant(
        "the fallen are not known to be dead",
        "dead.update(fallen)",
        "pass",
    ),
    Mutant(
        "the fallen fall again",
        "dict.fromkeys(network.uses(gone)) if j not in dead",
        "dict.fromkeys(network.uses(gone))",
    ),
    Mutant(
        "facts in hope that stand again are looked at twice",
        "[fact for fact in hopeful if now[fact] is None]",
        "hopeful",
        survives="Equivalent: a fact is considered once in phase 1, and what adopted support is "
        "taken off the list in the same wave.",
    ),
    Mutant(
        "whatever a fallen justification concludes is disturbed",
        "support == justification and rank is not None and fact not in now",
        "rank is not None and fact not in now",
    ),
    Mutant(
        "what was considered is considered again",
        " and fact not in now:",
        ":",
        survives="Equivalent while ranks hold: a justification falls once, and before the wave of "
        "any fact that rests on it.",
    ),
    # -------------------------------------------------------- other support
    Mutant("premises at its own rank are trusted", "if height < below:", "if height <= below:"),
    Mutant("premises at any rank are trusted", "if height < below:", "if height < _NO_LIMIT:"),
    Mutant("nothing survives phase 1", "if height < below:", "if below == _NO_LIMIT:"),
    Mutant(
        "an adopted rank equals that of its premise",
        "adopted[fact] = (height + 1, justification)",
        "adopted[fact] = (height, justification)",
    ),
    Mutant(
        "an adopted rank is 1",
        "adopted[fact] = (height + 1, justification)",
        "adopted[fact] = (1, justification)",
    ),
    Mutant(
        "an adopted fact keeps its rank",
        "adopted[fact] = (height + 1, justification)",
        "adopted[fact] = (below if below < _NO_LIMIT else height + 1, justification)",
        survives="Equivalent in belief: the rank that the fact had is still above its premises. "
        "Lower ranks only let more facts survive phase 1.",
    ),
    Mutant("higher support gives no hope", "hopeful[fact] = None", "pass"),
    Mutant(
        "what adopted support still hopes",
        "                    hopeful.pop(fact, None)\n",
        "",
        survives="Equivalent: what stands again is taken off the list at the end of phase 1.",
    ),
    Mutant(
        "the last support found is adopted",
        "if height is None or fact in adopted:",
        "if height is None:",
        survives="Equivalent in belief: each of them has its premises at lower ranks, and which "
        "is taken is free.",
    ),
    Mutant(
        "other support is sought in the first block only",
        "            block *= 4",
        "            break",
    ),
    Mutant("blocks do not grow", "block *= 4", "block *= 1"),
    Mutant("all derivations are read at once", "block = 16", "block = 1 << 30"),
    Mutant(
        "derivations are read on when all have support",
        "while len(adopted) < len(facts) and (",
        "while (",
    ),
    Mutant(
        "dead justifications are looked at",
        "pair[1] not in dead and pair[0] not in adopted",
        "pair[0] not in adopted",
    ),
    Mutant(
        "justifications of what has support are looked at",
        "pair[1] not in dead and pair[0] not in adopted",
        "pair[1] not in dead",
    ),
    Mutant(
        "a block without hope ends the search",
        "            if not pairs:\n                continue\n",
        "            if not pairs:\n                break\n",
    ),
    Mutant(
        "a justification of many facts is looked at for each",
        "self._network.premises(list(heights))",
        "self._network.premises(justifications)",
    ),
    Mutant(
        "ranks of before are compared",
        "label is _STORED else label and label[0]\n"
        "            if rank is None:\n                heights",
        "True else None\n            if rank is None:\n                heights",
        survives="Equivalent in belief: all uses of what went OUT are known to be dead and are not "
        "asked for, and a rank of before is never below the rank of now.",
    ),
    Mutant("what lacks a premise fires", "heights.pop(justification, None)", "pass"),
    Mutant(
        "what lacks a premise is not known to be dead",
        "                dead.add(justification)\n",
        "",
    ),
    Mutant(
        "the lowest premise counts",
        "rank > heights[justification]",
        "rank < heights[justification]",
    ),
    Mutant(
        "the last premise counts",
        "elif justification in heights and rank > heights[justification]:",
        "elif justification in heights:",
    ),
    # -------------------------------------------------------- phase 2
    Mutant(
        "a source has rank 1",
        "self._set(source, (0, None), None)",
        "self._set(source, (1, None), None)",
    ),
    Mutant(
        "what stands again supports nothing",
        "            self._set(fact, label, None)\n            arrived.append(fact)\n",
        "            self._set(fact, label, None)\n",
    ),
    Mutant("phase 2 trusts low ranks only", "_NO_LIMIT = 1 << 62", "_NO_LIMIT = 2"),
    Mutant("new justifications wait for a node", "while arrived or looked_at:", "while arrived:"),
    Mutant(
        "arrivals are not followed",
        "(*looked_at, *network.uses(arrived))",
        "looked_at",
    ),
    Mutant(
        "new justifications are not looked at",
        "(*looked_at, *network.uses(arrived))",
        "network.uses(arrived)",
    ),
    Mutant(
        "what fell in phase 1 stays OUT", "if now.get(fact, stored) is None:", "if stored is None:"
    ),
    Mutant("what is IN is labelled anew", "if now.get(fact, stored) is None:", "if True:"),
    Mutant(
        "only stored labels tell what is IN",
        "if now.get(fact, stored) is None:",
        "if now.get(fact) is None:",
    ),
    Mutant(
        "a derived rank equals that of its premise",
        "(ready[justification] + 1, justification)",
        "(ready[justification], justification)",
    ),
    Mutant(
        "what is derived derives nothing",
        "justification), stored)\n                    arrived.append(fact)",
        "justification), stored)",
    ),
    Mutant(
        "what is derived was OUT before",
        "self._set(fact, (ready[justification] + 1, justification), stored)",
        "self._set(fact, (ready[justification] + 1, justification), None)",
        survives="Equivalent: a fact that comes IN here is either stored as OUT, or its label "
        "before was noted in phase 1.",
    ),
    # -------------------------------------------------------- waves and watches
    Mutant("waves come highest first", "rank = heappop(self._ranks)", "rank = self._ranks.pop()"),
    Mutant(
        "waves come as they were added", "rank = heappop(self._ranks)", "rank = self._ranks.pop(0)"
    ),
    Mutant("ranks are no heap", "heappush(self._ranks, rank)", "self._ranks.append(rank)"),
    Mutant(
        "premises are read again at each arrival",
        "[key for key in keys if key not in missing]",
        "keys",
    ),
    Mutant("missing premises are not missed", "missing[key].append(premise)", "pass"),
    Mutant(
        "the watch sees ranks of before",
        "label is _STORED else label and label[0]\n"
        "            if rank is None:\n                missing",
        "True else None\n            if rank is None:\n                missing",
    ),
    Mutant("the first ranks do not count", "height[key] = rank", "pass"),
    Mutant("arriving ranks do not count", "height[key] = max(height[key], label[0])", "pass"),
    Mutant(
        "the last rank to arrive counts",
        "height[key] = max(height[key], label[0])",
        "height[key] = label[0]",
    ),
    Mutant("one arrival is enough", "waiting.pop()", "waiting.clear()"),
    Mutant("the first premise is watched only", "while waiting and (", "if waiting and ("),
    Mutant("all that is looked at fires", "if not waiting:", "if True:"),
]
