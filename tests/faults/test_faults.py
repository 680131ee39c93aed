"""The table of planted faults is up to date: each of its texts stands once, and its tests exist."""

import ast
import functools
from pathlib import Path

import msgspec
import pytest

from tests.faults.table import FAULTS, ROOT, Fault, decoded

ROW = b'["a.py"."a row"]\ntext = "x = 1\\n"\nwrong = "x = 2\\n"\nnoticed_by = "tests/test_a.py"\n'

STALE = Fault("a stale row", "a.py", "x = 1\n", "x = 2\n", "tests/test_a.py")


@functools.cache
def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@functools.cache
def _meaning(source: str) -> str:
    """The syntax tree of a source: equal for sources that do the same."""
    return ast.dump(ast.parse(source))


@pytest.mark.slow
def test_every_fault_can_be_planted_and_a_test_is_to_notice() -> None:
    assert len(FAULTS) >= 40
    stale = [f"{name}: {why}" for name, fault in FAULTS.items() if (why := _why_stale(fault))]
    assert not stale, "\n".join(stale)


def _why_stale(fault: Fault) -> str:
    """What of a row is not up to date; "" of one that is."""
    try:
        source = _read(ROOT / fault.path)
        planted = fault.planted(source)
        # Code that does what it did before, or that nobody can import, says nothing of the tests.
        if _meaning(planted) == _meaning(source):
            return "changes nothing"
    except (OSError, ValueError, SyntaxError) as error:
        return str(error)
    path, _, test = fault.noticed_by.partition("::")
    wanted = f"def {test.partition('[')[0]}(" if test else "def test_"
    file = ROOT / path
    return "" if file.is_file() and wanted in _read(file) else f"no {fault.noticed_by}"


def test_rows_are_faults_of_their_file_with_names_of_their_own() -> None:
    fault = Fault("a row", "a.py", "x = 1\n", "x = 2\n", "tests/test_a.py")
    assert decoded(ROW) == {"a row": fault}
    with pytest.raises(ValueError, match=r"a row is a fault in a\.py and in b\.py"):
        decoded(ROW + ROW.replace(b"a.py", b"b.py"))
    with pytest.raises(msgspec.ValidationError):
        decoded(ROW.replace(b"text", b"old"))


@pytest.mark.parametrize("source", ["nothing of it", "x = 1\ny = 2\nx = 1\n"])
def test_a_row_whose_text_does_not_stand_once_is_an_error(source: str) -> None:
    with pytest.raises(ValueError, match="bring the row up to date"):
        STALE.planted(source)
