"""A step that is recorded on an NVIDIA GPU, where there is one, beside the same step on the CPU."""

import subprocess
import sys
from pathlib import Path

import pytest

from explorer.workers.workers import Workers
from tests.support.command_line import environment
from tests.support.cuda import cuda_device
from tests.support.recorded_files import loaded_trace

pytestmark = pytest.mark.torch

PROGRAM = """
import sys
import torch
from torch import nn
import explorer

device = sys.argv[1]
torch.manual_seed(0)
torch.backends.cuda.matmul.allow_tf32 = False
net = nn.Sequential(nn.Linear(6, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 3))
x, target = torch.randn(8, 6), torch.randint(0, 3, (8,))
net.to(device)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x, target = x.to(device), target.to(device)
with explorer.record(sys.argv[2]):
    loss = nn.functional.cross_entropy(net(x), target)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()
print(loss.item().hex(), sum(p.double().sum() for p in net.parameters()).item().hex())
"""


@pytest.fixture
def device(workers: Workers) -> str:
    """The first CUDA device; tests that ask for it are skipped where there is none."""
    return cuda_device(workers)


def test_a_step_on_the_gpu_differs_in_nothing_from_that_on_the_cpu(
    device: str, tmp_path: Path
) -> None:
    for name in ("cpu", device):
        recorded(name, tmp_path / f"{name[:4]}.trace")
    on_cpu, on_gpu = (loaded_trace(tmp_path / f"{name}.trace") for name in ("cpu", "cuda"))
    assert on_gpu.trace.devices == (device,)
    assert on_gpu.trace.missing == ()
    assert on_gpu.diff(on_cpu).alignment.divergence is None


@pytest.mark.whole
def test_the_program_of_this_test_is_recorded_on_the_cpu(tmp_path: Path) -> None:
    recorded("cpu", tmp_path / "one.trace")
    recorded("cpu", tmp_path / "other.trace")
    one, other = (loaded_trace(tmp_path / f"{name}.trace") for name in ("one", "other"))
    assert one.trace.devices == ("cpu",)
    assert one.diff(other).alignment.divergence is None


def recorded(device: str, path: Path) -> None:
    command = [sys.executable, "-c", PROGRAM, device, str(path)]
    subprocess.run(command, env=environment(), check=True, timeout=300)
