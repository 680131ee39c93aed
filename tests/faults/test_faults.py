"""The table of planted faults is up to date: each of its texts stands once, and its tests exist."""

import ast

import pytest

from tests.faults.fault import ROOT, Fault
from tests.faults.in_engines import IN_MINDSPORE, IN_ORACLE, IN_TORCH
from tests.faults.in_faces import IN_FACES
from tests.faults.in_measurements import IN_MEASUREMENTS, IN_THE_CORE
from tests.faults.table import FAULTS


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS.values(), ids=list(FAULTS))
def test_a_fault_can_be_planted_and_somebody_is_to_notice(fault: Fault) -> None:
    source = (ROOT / fault.path).read_text(encoding="utf-8")
    planted = fault.planted(source)
    # Code that does what it did before, or that nobody can import, says nothing of the tests.
    assert ast.dump(ast.parse(planted)) != ast.dump(ast.parse(source))
    path, _, test = fault.noticed_by.partition("::")
    text = (ROOT / path).read_text(encoding="utf-8")
    assert f"def {test.partition('[')[0]}(" in text if test else "def test_" in text


def test_names_are_of_one_fault_each() -> None:
    rows = (*IN_THE_CORE, *IN_TORCH, *IN_ORACLE, *IN_MINDSPORE, *IN_MEASUREMENTS, *IN_FACES)
    assert len(FAULTS) == len(rows) >= 40


@pytest.mark.parametrize("source", ["nothing of it", "x = 1\ny = 2\nx = 1\n"])
def test_a_row_whose_text_does_not_stand_once_is_an_error(source: str) -> None:
    fault = Fault("a stale row", "a.py", "x = 1\n", "x = 2\n", "tests/test_a.py")
    with pytest.raises(ValueError, match="bring the row up to date"):
        fault.planted(source)
