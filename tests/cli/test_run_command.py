"""``run``: steps of a program that knows nothing of the explorer, in each framework."""

import sys
from pathlib import Path

import pytest

from explorer.cli.entry import run
from explorer.environments.known import home_of
from tests.support.command_line import explorer as shell
from tests.support.recorded_files import loaded_trace

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


@pytest.mark.torch
def test_the_first_steps_and_each_nth_of_a_program_are_recorded(tmp_path: Path) -> None:
    script = written(tmp_path, "train.py", TORCH)
    trace = str(tmp_path / "step.trace")
    done = shell("run", "--record", trace, "--first", "2", "--every", "4", script, "--first", "9")
    assert (done.returncode, done.stdout, done.stderr) == (0, "--first 9\n", "")
    names = sorted(path.name for path in tmp_path.glob("*.trace"))
    assert names == [f"step-{number:06d}.trace" for number in (1, 2, 4)]
    one = loaded_trace(tmp_path / "step-000001.trace").trace
    assert {start.name for start in one.start} >= {"weight", "bias", "input"}
    assert {change.name for change in one.state} == {"weight", "bias"}
    assert one.step == 1


@pytest.mark.torch
@pytest.mark.mindspore
def test_programs_of_both_frameworks_take_the_same_step(tmp_path: Path) -> None:
    traces = []
    for name, code in {"in_torch": TORCH, "in_mindspore": MINDSPORE}.items():
        traces.append(str(tmp_path / f"{name}.trace"))
        done = shell("run", "--record", traces[-1], written(tmp_path, f"{name}.py", code))
        assert done.returncode == 0, done.stderr
    done = shell("diff", *traces)
    assert "no divergence" in done.stdout
    assert done.returncode == 0
    _, recorded = (loaded_trace(trace).trace for trace in traces)
    assert {"weight", "bias"} <= {change.name for change in recorded.state}


@pytest.mark.jax
@pytest.mark.torch
@pytest.mark.parametrize("how", ["jax.jit", "lambda step: step"])
def test_a_program_of_jax_takes_the_same_steps_as_pytorch_s(tmp_path: Path, how: str) -> None:
    folders = {"torch": tmp_path / "torch", "jax": tmp_path / "jax"}
    codes = {"torch": TORCH, "jax": JAX.replace("STEP", f"({how})")}
    for framework, folder in folders.items():
        folder.mkdir()
        home = str(home_of("jax").python) if framework == "jax" else sys.executable
        script = written(tmp_path, f"in_{framework}.py", codes[framework])
        trace = str(folder / "step.trace")
        done = shell("run", "--on", home, "--record", trace, "--first", "2", "--every", "4", script)
        assert (done.returncode, done.stderr) == (0, "")
    names = [f"step-{number:06d}.trace" for number in (1, 2, 4)]
    assert sorted(path.name for path in folders["jax"].glob("*.trace")) == names
    for name in names:
        done = shell("diff", str(folders["torch"] / name), str(folders["jax"] / name))
        assert "no divergence" in done.stdout
    recorded = loaded_trace(folders["jax"] / names[0]).trace
    assert {change.name for change in recorded.state} == {"weight", "bias"}


@pytest.mark.mindspore
def test_a_gradient_that_graph_mode_compiles_is_recorded(tmp_path: Path) -> None:
    mode = "\nms.set_context(mode=ms.GRAPH_MODE)\n"
    code = MINDSPORE.replace("from mindspore import nn\n", f"from mindspore import nn\n{mode}")
    code = code.replace("lambda x: net(x).square().mean()", "net")
    trace = tmp_path / "step.trace"
    done = shell("run", "--record", str(trace), written(tmp_path, "compiled.py", code))
    assert done.returncode == 0, done.stderr
    graph = loaded_trace(trace).trace.graph
    assert graph is not None
    assert graph.engine == "mindspore-graph"


def test_a_program_without_a_gradient_is_warned(tmp_path: Path) -> None:
    trace = tmp_path / "step.trace"
    done = shell("run", "--record", str(trace), written(tmp_path, "computes.py", ""))
    assert done.returncode == 0
    assert "no step was recorded: the program computed no gradient" in done.stderr
    assert not trace.exists()


@pytest.mark.slow
def test_the_exit_code_is_the_program_s(tmp_path: Path) -> None:
    done = shell("run", written(tmp_path, "ends.py", "sys.exit(7)"))
    assert (done.returncode, done.stdout) == (7, "\n")


def test_what_is_no_file_or_no_count_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["run", "missing.py"]) == 2
    assert "'missing.py' is not a file" in capsys.readouterr().err
    assert run(["run", "--every", "-1", written(tmp_path, "a.py", "")]) == 2
    assert "numbers from 0 on" in capsys.readouterr().err
