"""The ``train`` command: losses on the screen, a file for each engine, and mistakes in one line."""

import json
from pathlib import Path

import pytest

from explorer.cli.entry import run
from tests.support.nets import NETS
from tests.support.recorded_files import loaded_training

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("warm")]

BROKEN = '''
"""A net whose batches have other names."""
import numpy as np


def inputs():
    return {"x": np.ones((2, 3), np.float32)}


def batches():
    yield {"y": np.ones((2, 3), np.float32)}


def torch_net():
    from torch import nn

    return nn.Linear(3, 1)
'''


@pytest.mark.mindspore
def test_losses_are_printed_and_a_file_is_written_for_each_engine(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(["train", "dense_mse", "--steps", "2", "--out", str(tmp_path)]) == 0
    first, *rows = capfd.readouterr().out.splitlines()
    assert first.split() == ["step", "mindspore-tape", "torch-tape"]
    assert [row.split()[0] for row in rows[:2]] == ["1", "2"]
    files = [tmp_path / f"{name}.training" for name in ("mindspore-tape", "torch-tape")]
    assert "no difference in 2 steps beyond rounding" in rows[2]
    assert [row.split(" ", 1)[1] for row in rows[-2:]] == [str(file) for file in files]
    assert list(loaded_training(files[0]).losses) == [1, 2]


@pytest.mark.mindspore
def test_where_two_trainings_part_the_op_is_named_with_its_cause_and_the_line_to_write(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    net = str(NETS / "trained_with_other_gelu.py")
    assert run(["train", net, "--steps", "3", "--out", str(tmp_path)]) == 1
    printed = capfd.readouterr().out
    assert "first difference in step 1, loss: the values differ" in printed
    assert "First divergence in forward: `GeLU`" in printed
    assert "with `approximate='tanh'` in the place of `approximate='none'`" in printed
    assert "`ops.gelu(…, approximate='none')` in MindSpore's net" in printed
    files = [tmp_path / f"{name}.training" for name in ("mindspore-tape", "torch-tape")]
    for file in files:
        steps = loaded_training(file).training.steps
        assert [step.graph is not None for step in steps] == [True, False, False]
    difference = loaded_training(files[0]).diff(loaded_training(files[1]))
    assert 'href="#graphs"' in difference.html()
    assert difference.graphs is not None


def test_json_has_the_losses_of_the_engines_that_are_named(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    command = ["train", "dense_mse", "torch-tape", "--steps", "3", "--json"]
    assert run([*command, "--out", str(tmp_path)]) == 0
    document = json.loads(capfd.readouterr().out)
    (engine,) = document["engines"].values()
    assert engine["optimizer"] == "torch.optim.sgd.SGD"
    assert len(engine["losses"]) == 3
    assert engine["losses"] == sorted(engine["losses"], reverse=True)


def test_a_net_that_raises_in_a_step_leaves_those_before(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    net = tmp_path / "net.py"
    # Its second batch has too many columns.
    batches = 'yield inputs()\n    yield {"x": np.ones((2, 4)'
    net.write_text(BROKEN.replace('yield {"y": np.ones((2, 3)', batches))
    assert run(["train", str(net), "--out", str(tmp_path / "out")]) == 3
    printed = capfd.readouterr().out
    assert "torch-tape: not recorded: the step raised RuntimeError" in printed
    assert list(loaded_training(tmp_path / "out" / "torch-tape.training").losses) == [1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["polynomial", "torch-tape"], "have no weights that both train"),
        (["NET", "torch-tape"], "batches() must yield for each step a dict of numpy arrays"),
    ],
)
def test_mistakes_are_refused_in_a_line(
    arguments: list[str], said: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    net = tmp_path / "net.py"
    net.write_text(BROKEN)
    name, *others = arguments
    named = str(net) if name == "NET" else name
    assert run(["train", named, *others, "--out", str(tmp_path / "out")]) == 2
    captured = capfd.readouterr()
    assert captured.out == ""
    assert said in captured.err
    assert "Traceback" not in captured.err
