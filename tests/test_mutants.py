from pathlib import Path

import pytest
from mutants.mutants import MUTANTS, Mutant

import tms.labelling

TEXT = Path(tms.labelling.__file__).read_text()


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_stands_in_the_labelling_once_and_still_compiles(mutant: Mutant) -> None:
    assert TEXT.count(mutant.old) == 1
    compile(TEXT.replace(mutant.old, mutant.new), "labelling.py", "exec")


def test_there_are_at_least_thirty_mutants_that_must_be_caught() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)
    assert sum(not mutant.survives for mutant in MUTANTS) >= 30
