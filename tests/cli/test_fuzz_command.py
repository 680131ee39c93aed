"""What ``fuzz`` says of a finding, and with what code it exits, for each class of findings."""

from pathlib import Path
from typing import get_args

import pytest

from explorer.cli.fuzz import run_fuzz
from explorer.cli.options import FuzzOptions
from explorer.fuzz.search import Finding, NetResult
from explorer.model.fuzz import FindingClass, Sighting
from explorer.words.fuzz import CLASSES
from tests.support.programs import program, step


@pytest.mark.parametrize(
    ("found", "code"),
    [("framework", 1), ("ours", 1), ("unsteady", 1), ("ill_conditioned", 0), ("known", 0)],
)
def test_what_nobody_has_looked_at_yet_exits_with_one_and_is_written(
    found: FindingClass,
    code: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    net = program(step("t0", "tanh", "a"))
    sighting = Sighting("differs", ("mindspore-tape",), leaf="da")
    finding = Finding(
        number=4, found=found, sighting=sighting, program=net, operators=net.operators
    )
    looked = [NetResult(4, sighting, net.operators, finding)]
    monkeypatch.setattr("explorer.cli.fuzz.search", lambda numbers, seed, corners: looked)
    options = FuzzOptions(cases=1, seed=9, start=4, out=tmp_path, as_json=False)
    assert run_fuzz(options) == code
    assert f"4: {CLASSES[found]}: differs (tanh, float32, order 1)" in capsys.readouterr().out
    assert (tmp_path / "net_9_4.py").exists() == (found != "known")


def test_every_class_of_findings_has_its_words() -> None:
    assert set(CLASSES) == set(get_args(FindingClass))
