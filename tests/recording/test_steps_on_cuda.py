"""A step that is recorded on an NVIDIA GPU, where there is one, beside the same step on the CPU."""

from pathlib import Path

import pytest

from explorer.api.results import Recorded
from explorer.workers.workers import Workers
from tests.support.command_line import python
from tests.support.needs import cuda_device
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


# On the CPU alone, the program of this test is seen to be recorded.
@pytest.mark.parametrize("kind", [pytest.param("cpu", marks=pytest.mark.whole), "cuda"])
def test_a_step_on_the_gpu_differs_in_nothing_from_that_on_the_cpu(
    kind: str, workers: Workers, tmp_path: Path
) -> None:
    device = cuda_device(workers) if kind == "cuda" else kind
    recorded: list[Recorded] = []
    for name in ("cpu", device):
        path = tmp_path / f"step{len(recorded)}.trace"
        python("-c", PROGRAM, name, path)
        recorded.append(loaded_trace(path))
    on_cpu, on_device = recorded
    assert (on_cpu.trace.devices, on_device.trace.devices) == (("cpu",), (device,))
    assert on_device.trace.missing == ()
    assert on_device.diff(on_cpu).alignment.divergence is None
