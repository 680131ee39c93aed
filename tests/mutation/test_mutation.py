"""Mutants: what is changed and what is not, and that the list of equivalent ones is up to date."""

from pathlib import Path

import pytest

from tests.mutation.areas import AREAS, ROOT, Area
from tests.mutation.equivalent import EQUIVALENT
from tests.mutation.mutators import count, mutants
from tests.mutation.running import Base

SOURCE = '''"""A module."""

from typing import Literal

Kind = Literal["a", "b"]
LIMIT = 1e-5


class Case:
    """A case."""

    size: int = 1

    @property
    def is_small(self) -> bool:
        """Whether it is small."""
        if self.size < 3 and LIMIT:
            raise ValueError("it is far too small")
        return "small" == "x"
'''


@pytest.fixture
def changes(tmp_path: Path) -> list[tuple[str, str]]:
    """The lines before and after each mutant of SOURCE."""
    path = tmp_path / "module.py"
    path.write_text(SOURCE, encoding="utf-8")
    everything = mutants(path, set(range(count(path))))
    return [(mutant.before, mutant.after) for mutant, _ in everything]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("LIMIT = 1e-5", "LIMIT = 0.0001"),
        ("size: int = 1", "size: int = 2"),
        ("if self.size < 3 and LIMIT:", "if self.size <= 3 and LIMIT:"),
        ("if self.size < 3 and LIMIT:", "if self.size < 3 or LIMIT:"),
        ("if self.size < 3 and LIMIT:", "if self.size < 4 and LIMIT:"),
        ('return "small" == "x"', 'return "small" != "x"'),
    ],
)
def test_constants_fields_and_properties_are_changed(
    before: str, after: str, changes: list[tuple[str, str]]
) -> None:
    assert (before, after) in changes


@pytest.mark.parametrize("text", ['"""', "Literal", "far too small XX", "XXit is", "@property"])
def test_types_docstrings_decorators_and_sentences_are_not(
    text: str, changes: list[tuple[str, str]]
) -> None:
    assert not any(text in after for _, after in changes)


@pytest.mark.parametrize("name", AREAS)
def test_an_area_has_files_and_tests(name: str) -> None:
    area: Area = AREAS[name]
    assert area.paths()
    assert all((ROOT / folder).is_dir() for folder in area.tests)


def test_a_mutant_is_tried_on_the_tests_that_run_its_lines_the_shortest_first() -> None:
    ((mutant, _),) = mutants(ROOT / "explorer/compare/graphs/levels.py", {0})
    mutant = mutant._replace(path=Path("a.py"), first=2, last=3)
    seconds = {"long": 2.0, "short": 1.0, "elsewhere": 0.1}
    known = Base({"a.py": {"1": ["elsewhere"], "2": ["long"], "3": ["short", "long"]}}, seconds)
    assert known.noticing(mutant) == ["short", "long"]
    # Lines that run on import alone concern every test; lines that nothing runs concern none.
    assert Base({"a.py": {"2": []}}, seconds).noticing(mutant) == ["elsewhere", "short", "long"]
    assert Base({"a.py": {"7": ["long"]}}, seconds).noticing(mutant) == []


@pytest.mark.parametrize("path", EQUIVALENT)
def test_equivalent_mutants_are_those_of_today(path: str) -> None:
    lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
    stripped = {line.strip() for line in lines}
    for row in EQUIVALENT[path]:
        # A change of several lines is told in one: its first words stand in the first of them.
        starts = [line for line in stripped if line and row.before.startswith(line)]
        assert row.before in stripped or starts, row
        assert row.before != row.after
        assert row.why.endswith(".")
