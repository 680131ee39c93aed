"""One net trained in both frameworks, by a program of each: its traces beside each other."""

import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from explorer.api.results import Recorded
from explorer.model.arrays import AnyArray
from explorer.model.engines import NEEDED
from tests.recording.conftest import NETS
from tests.support.command_line import environment
from tests.support.kept import kept_run, key_of_run, texts
from tests.support.recorded_files import loaded_trace

pytestmark = [pytest.mark.torch, pytest.mark.mindspore]

SHAPES = {
    "first.weight": (16, 6),
    "first.bias": (16,),
    "norm.weight": (16,),
    "norm.bias": (16,),
    "middle.weight": (16, 16),
    "middle.bias": (16,),
    "last.weight": (3, 16),
    "last.bias": (3,),
}


@pytest.fixture(scope="module")
def steps() -> dict[str, Recorded]:
    """The first step in PyTorch, and in MindSpore as it is there and with one mistake each."""
    draws = np.random.default_rng(0)
    given = {name: draws.standard_normal(shape) * 0.3 for name, shape in SHAPES.items()}
    given["x"] = draws.standard_normal((8, 6))
    arrays: dict[str, AnyArray] = {name: it.astype(np.float32) for name, it in given.items()}
    arrays["y"] = draws.integers(0, 3, 8)

    def run(program: Path, folder: Path) -> None:
        weights = folder / "weights.npz"
        np.savez(weights, **arrays)
        command = [sys.executable, str(program), str(folder), str(weights)]
        subprocess.run(command, env=environment(), check=True, timeout=600, capture_output=True)

    recorded: dict[str, Recorded] = {}
    for framework in NEEDED:
        program = NETS / f"step_in_{framework}.py"
        key = key_of_run(framework, program.stem, texts([program, Path(__file__)]))
        folder, _ = kept_run(key, partial(run, program))
        recorded |= {path.stem: loaded_trace(path) for path in folder.glob("*.trace")}
    return recorded


@pytest.mark.parametrize("name", ["value_and_grad", "one_step_cell"])
def test_the_same_step_has_no_divergence_up_to_the_updated_weights(
    steps: dict[str, Recorded], name: str
) -> None:
    alignment = steps["torch"].diff(steps[name]).alignment
    assert (alignment.divergence, alignment.differing) == (None, ())
    assert alignment.left_coverage.forward.unpaired == 0
    graph = steps[name].trace.graph
    assert graph is not None
    results = {node.name for node in graph.nodes if node.kind == "output"}
    assert {"loss", "dfirst.weight", "first.weight", "first.weight.exp_avg"} <= results


@pytest.mark.parametrize(
    ("name", "op", "line"),
    [
        ("tanh_gelu", "GeLU", "ops.gelu("),
        pytest.param("large_epsilon", "LayerNorm", "self.norm(hidden)", marks=pytest.mark.whole),
    ],
)
def test_a_mistake_is_named_at_its_op_and_line(
    steps: dict[str, Recorded], name: str, op: str, line: str
) -> None:
    program = NETS / "step_in_mindspore.py"
    numbers = [at for at, text in enumerate(program.read_text().splitlines(), 1) if line in text]
    said = str(steps["torch"].diff(steps[name]))
    assert "First divergence in forward" in said
    assert f"`{op}` (" in said
    assert f"{Path(program).name}:{numbers[0]}" in said


@pytest.mark.whole
def test_another_learning_rate_is_seen_in_every_weight_and_in_no_gradient(
    steps: dict[str, Recorded],
) -> None:
    assert set(steps["torch"].diff(steps["large_rate"]).alignment.differing) == set(SHAPES)
