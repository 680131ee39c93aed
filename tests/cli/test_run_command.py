"""``run``: steps of a program that knows nothing of the explorer, in each framework."""

import re
from pathlib import Path

import numpy as np
import pytest

from explorer.cli.entry import run
from explorer.engines.capture.lint import lint
from explorer.environments.known import home_of
from explorer.model.arrays import unpack
from explorer.model.engines import Framework
from explorer.recording.scripts import RecordedScript
from tests.support.command_line import explorer as shell
from tests.support.recorded_files import loaded_trace
from tests.support.scenario_reports import origins, output_called, value

START = """
import sys
import numpy as np

draws = np.random.default_rng(0)
WEIGHT = draws.standard_normal((4, 3)).astype(np.float32)
BIAS = draws.standard_normal(4).astype(np.float32)
BATCHES = draws.standard_normal((4, 5, 3)).astype(np.float32)
print(*sys.argv[1:])
"""

TORCH = """
import torch

net = torch.nn.Linear(3, 4)
net.load_state_dict({"weight": torch.from_numpy(WEIGHT), "bias": torch.from_numpy(BIAS)})
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
with torch.no_grad():
    net(torch.ones(1, 3))
for batch in BATCHES:
    optimizer.zero_grad()
    loss = net(torch.from_numpy(batch)).square().mean()
    loss.backward()
    optimizer.step()
"""

MINDSPORE = """
import mindspore as ms
from mindspore import nn

net = nn.Dense(3, 4)
net.weight.set_data(ms.Tensor(WEIGHT))
net.bias.set_data(ms.Tensor(BIAS))
optimizer = nn.SGD(net.trainable_params(), 0.1)
gradient = ms.value_and_grad(lambda x: net(x).square().mean(), None, optimizer.parameters)
net(ms.ops.ones((1, 3)))
for batch in BATCHES:
    loss, gradients = gradient(ms.Tensor(batch))
    optimizer(gradients)
"""

JAX = """
import jax
import jax.numpy as jnp

def loss_of(params, input):
    return jnp.square(input @ params["kernel"] + params["bias"]).mean()

def step(params, input):
    loss, grads = jax.value_and_grad(loss_of)(params, input)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)

step = STEP(step)
params = {"kernel": jnp.asarray(WEIGHT.T), "bias": jnp.asarray(BIAS)}
loss_of(params, jnp.ones((1, 3)))
for batch in BATCHES:
    params = step(params, batch)
"""


def written(folder: Path, name: str, code: str) -> str:
    script = folder / name
    script.write_text(START + code)
    return str(script)


NAMES = [f"step-{number:06d}.trace" for number in (1, 2, 4)]
"""The files of the first two steps, and of each fourth."""


def recorded(folder: Path, name: str, code: str, *options: str) -> list[Path]:
    """The traces of a program's first two steps and of each fourth."""
    trace = str(folder / "step.trace")
    script = written(folder, name, code)
    steps = ("--first", "2", "--every", "4")
    done = shell("run", *options, "--record", trace, *steps, script, "--first", "9")
    # What follows the program is the program's own, and MindSpore warns of its own modules.
    assert (done.returncode, done.stdout) == (0, "--first 9\n"), done.stderr
    # What it says of the files is no part of the program's answer.
    *warnings, said = done.stderr.splitlines()
    assert not warnings or "mindspore" in name
    first, *_others, last = NAMES
    place = f"{folder / first} to {last}"
    assert re.fullmatch(rf"explorer: 3 steps, 1 to 4, are recorded in {place} \(0\.\d+ MB\)", said)
    return sorted(folder.glob("*.trace"))


@pytest.fixture(scope="module")
def of_torch(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The traces of PyTorch's program."""
    return recorded(tmp_path_factory.mktemp("torch"), "in_torch.py", TORCH)


@pytest.mark.torch
@pytest.mark.sample
@pytest.mark.whole
def test_the_first_steps_and_each_nth_of_a_program_are_recorded(of_torch: list[Path]) -> None:
    assert [path.name for path in of_torch] == NAMES
    one = loaded_trace(of_torch[0]).trace
    assert {start.name for start in one.start} >= {"weight", "bias", "input"}
    assert {change.name for change in one.state} == {"weight", "bias"}
    assert one.step == 1


@pytest.mark.torch
@pytest.mark.usefixtures("warm")
@pytest.mark.parametrize(
    ("code", "framework"),
    [
        pytest.param(
            MINDSPORE,
            "mindspore",
            marks=[pytest.mark.mindspore, pytest.mark.whole, pytest.mark.sample],
        ),
        pytest.param(JAX.replace("STEP", "(jax.jit)"), "jax", marks=pytest.mark.jax),
        pytest.param(
            JAX.replace("STEP", "(lambda step: step)"),
            "jax",
            marks=[pytest.mark.jax, pytest.mark.whole],
        ),
    ],
    ids=["mindspore", "jax.jit", "jax"],
)
def test_a_program_of_another_framework_takes_the_same_steps_as_pytorch_s(
    code: str,
    framework: Framework,
    of_torch: list[Path],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    on = ("--on", str(home_of("jax").python)) if framework == "jax" else ()
    traces = recorded(tmp_path, f"in_{framework}.py", code, *on)
    assert [path.name for path in traces] == NAMES
    for one, other in zip(of_torch, traces, strict=True):
        assert run(["diff", str(one), str(other)]) == 0
        assert "no divergence" in capfd.readouterr().out
    # In each by PyTorch's names.
    assert {change.name for change in loaded_trace(traces[0]).trace.state} >= {"weight", "bias"}


@pytest.mark.mindspore
def test_a_gradient_that_graph_mode_compiles_is_recorded(tmp_path: Path) -> None:
    mode = "\nimport mindspore as ms\n\nms.set_context(mode=ms.GRAPH_MODE)\n"
    code = mode + MINDSPORE.replace("lambda x: net(x).square().mean()", "net")
    path = tmp_path / "step.trace"
    done = shell("run", "--record", str(path), written(tmp_path, "compiled.py", code))
    assert done.returncode == 0, done.stderr
    trace = loaded_trace(path).trace
    graph = trace.graph
    assert graph is not None
    assert (graph.engine, lint(graph)) == ("mindspore-graph", [])
    product, *_others, update = [node for node in graph.nodes if node.kind == "op"]
    read = ["weight", "MatMul", "bias", "BiasAddGrad", "SGD.global_step"]
    assert [node.name or node.op for node in origins(graph, update)] == read
    weight = next(node for node in graph.nodes if node.name == "weight")
    assert output_called(graph, "dweight").forward == weight.id
    before = {it.name: unpack(it.value) for it in trace.start}
    before |= {it.name: unpack(it.value) for it in trace.results}
    np.testing.assert_allclose(value(product), before["x"] @ before["weight"].T, 1e-5, 1e-6)
    # All that the net returns is added up.
    np.testing.assert_allclose(before["dweight"], np.ones((4, 5)) @ before["x"], 1e-5, 1e-6)
    stepped = before["weight"] - np.float32(0.1) * before["dweight"]
    after = unpack(trace.state[0].after), value(update), value(output_called(graph, "weight"))
    np.testing.assert_allclose(after, [stepped] * 3, 1e-5, 1e-6)


@pytest.mark.slow
def test_a_program_without_a_gradient_is_warned_and_the_exit_code_is_its_own(
    tmp_path: Path,
) -> None:
    trace = tmp_path / "step.trace"
    done = shell("run", "--record", str(trace), written(tmp_path, "computes.py", "sys.exit(7)"))
    assert (done.returncode, done.stdout) == (7, "\n")
    assert "no step was recorded: the program computed no gradient" in done.stderr
    assert not trace.exists()


def test_what_is_no_file_or_no_count_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["run", "missing.py"]) == 2
    assert "'missing.py' is not a file" in capsys.readouterr().err
    assert run(["run", "--every", "-1", written(tmp_path, "a.py", "")]) == 2
    assert "numbers from 0 on" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("first", "every", "due"),
    [(1, 0, [1]), (2, 4, [1, 2, 4]), (0, 1, [1, 2, 3, 4, 5]), (0, 3, [3])],
)
def test_the_first_steps_and_each_nth_are_due(first: int, every: int, due: list[int]) -> None:
    script = RecordedScript(Path("step.trace"), first, every)
    found = []
    for number in range(1, 6):
        script._number = number
        if script._is_due():
            found.append(number)
    assert found == due


def test_what_is_said_at_the_end_is_of_files_that_are_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = RecordedScript(tmp_path / "step.trace", 2, 0)
    there, gone = tmp_path / "there.trace", tmp_path / "gone.trace"
    script._files = {gone: 1}
    script._say_what_is_there()
    assert capsys.readouterr().err == ""
    there.write_bytes(bytes(2500))
    script._files[there] = 2
    script._say_what_is_there()
    assert capsys.readouterr().err == f"explorer: step 2 is recorded in {there} (0.0025 MB)\n"
