"""Planted mistakes are named at the lines that tell them."""

from pathlib import Path

import pytest

from explorer.workers.workers import Workers
from tests.planted.mistake import Mistake, plant
from tests.planted.mistakes import MISTAKES
from tests.planted.naming import TAPES, tell
from tests.support.samples import sampled

ONCE_WRONG = ("gpt-head_not_tied", "simclr-temperature_multiplied")
"""Mistakes that were named at a wrong place once, or refused."""

SAMPLE = sampled(sorted(MISTAKES), 1, ONCE_WRONG)
"""So few that the suite stays short; ``--whole`` and ``benchmarks/planted.py`` plant them all."""

MINIMAL = Mistake("m", "gpt", "mindspore", "nn.GELU()", "nn.ReLU()", ("self.gelu(self.c_fc(x))",))


def test_there_are_at_least_sixty_mistakes() -> None:
    assert len(MISTAKES) >= 60


@pytest.mark.slow
@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_stands_at_one_place_and_has_lines_that_tell_it(
    name: str, tmp_path: Path
) -> None:
    planted = plant(MISTAKES[name], tmp_path)
    compile(planted.path.read_text(encoding="utf-8"), str(planted.path), "exec")
    assert planted.lines
    assert len(planted.lines) <= 12


def test_changed_lines_and_those_of_snippets_tell_a_mistake_and_no_others(tmp_path: Path) -> None:
    planted = plant(MINIMAL, tmp_path)
    lines = planted.path.read_text(encoding="utf-8").splitlines()
    assert [lines[number - 1].strip() for number in sorted(planted.lines)] == [
        "self.gelu = nn.ReLU()",
        "return self.c_proj(self.gelu(self.c_fc(x)))",
        "return self.c_proj(self.gelu(self.c_fc(x)))",
    ]
    inside = {lines[number - 1].strip() for number in planted.module_lines}
    assert "class MLP(nn.Cell):" in inside
    assert "class Block(nn.Cell):" not in inside


@pytest.mark.parametrize(
    ("old", "snippet"), [("nn.Dense(", ""), ("nowhere", ""), ("nn.GELU()", "stands nowhere")]
)
def test_a_table_that_does_not_fit_the_net_is_refused(
    old: str, snippet: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match="m: "):
        plant(Mistake("m", "gpt", "mindspore", old, "new()", (snippet,)), tmp_path)


@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.parametrize("name", SAMPLE)
def test_a_planted_mistake_is_named_at_its_line(
    name: str, tmp_path: Path, workers: Workers
) -> None:
    planted = plant(MISTAKES[name], tmp_path)
    told = tell(planted, TAPES, workers)
    assert told.verdict == "exact", (told, sorted(planted.lines))
