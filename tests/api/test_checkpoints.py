"""Starting values from the files of both frameworks, and what a file of pickles cannot do."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import explorer
from explorer.model.arrays import unpack
from explorer.model.errors import ExplorerError
from tests.support.own_package import MINDSPORE, RIGHT

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("warm")]

BATCH = {"x": np.ones((1, 3), np.float32), "y": np.ones((1, 1), np.float32)}

BIAS = [0.5, -1.5, 2.5, 3.5]
"""What the first layer's bias is in the checkpoints, which no initialiser draws."""

SAVE = {
    ".pt": (
        f"import torch; from ported_nets.models import torch_net as net; net = net();"
        f"net.first.bias.data = torch.tensor({BIAS}); torch.save(net.state_dict(), FILE)"
    ),
    ".ckpt": (
        f"import mindspore as ms; from ported_nets.models import mindspore_net as net; net = net();"
        f"net.first.bias.set_data(ms.Tensor({BIAS})); ms.save_checkpoint(net, FILE)"
    ),
}
"""Programs that write a checkpoint, run in a process of their own."""


@pytest.mark.mindspore
@pytest.mark.parametrize("ending", [".pt", pytest.param(".ckpt", marks=pytest.mark.whole)])
def test_both_nets_start_from_a_checkpoint_of_either(
    package: Path, ending: str, tmp_path: Path
) -> None:
    file = tmp_path / f"weights{ending}"
    program = f"FILE = {str(file)!r}; {SAVE[ending]}"
    subprocess.run([sys.executable, "-c", program], cwd=package, check=True)
    found = explorer.assert_same_gradients(
        mindspore=MINDSPORE, torch=RIGHT, inputs=BATCH, parameters=file
    )
    start = {leaf.name: unpack(leaf.value) for leaf in found.report.parameters}
    assert start["first.bias"].tolist() == BIAS
    assert start["last.weight"].any()


def test_a_pickle_that_would_run_something_is_refused(tmp_path: Path) -> None:
    file, trace = tmp_path / "weights.pt", tmp_path / "sprung"
    program = (
        "import pathlib, torch\n"
        "class Trap:\n"
        f"    def __reduce__(self): return pathlib.Path.touch, (pathlib.Path({str(trace)!r}),)\n"
        f"torch.save({{'first.bias': Trap()}}, {str(file)!r})"
    )
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True)
    with pytest.raises(ExplorerError) as refused:
        explorer.explore(explorer.nets(torch=RIGHT, inputs=BATCH, parameters=file))
    for words in ("'weights.pt'", "weights_only", "state_dict"):
        assert words in str(refused.value)
    # PyTorch's own advice is to read the file all the same.
    assert "weights_only=False" not in str(refused.value)
    assert "\x1b" not in str(refused.value)
    assert not trace.exists()
