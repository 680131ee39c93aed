"""Two MindSpore processes that differentiate one net on data of their own; run as a script, this file is one of them."""

import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn

from explorer.measuring import Ask, Found
from explorer.studies.data_parallel.ranks import DATA, RANKS, RATE, TARGET, WEIGHT, free_port, together
from explorer.studies.in_mindspore import listed


class Net(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """Dense layer without bias, and the squared error."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Dense(3, 1, has_bias=False)
        self.loss = nn.MSELoss()

    def construct(self, x: Any, y: Any) -> Any:
        """The loss of one sample."""
        return self.loss(self.fc(x).squeeze(), y)


def two_processes(ask: Ask) -> Found:
    """`msrun` starts two ranks; each reports its local gradient, what the reducers make of it, and its weights."""
    folder = Path(tempfile.mkdtemp(dir="."))
    launcher = shutil.which("msrun", path=str(Path(sys.executable).parent)) or "msrun"
    count = [f"--worker_num={RANKS}", f"--local_worker_num={RANKS}", "--join=True"]
    where = [f"--master_port={free_port()}", f"--log_dir={folder / 'log'}"]
    return together([launcher, *count, *where, __file__, str(folder)], folder, ask)


def rank() -> dict[str, Any]:
    """What one rank sees."""
    from mindspore.communication import get_rank, init

    ms.set_context(mode=ms.PYNATIVE_MODE)
    init("mccl")
    me = get_rank()
    ms.set_auto_parallel_context(parallel_mode=ms.ParallelMode.DATA_PARALLEL, gradients_mean=True, device_num=RANKS)
    net = started(0)
    first = listed(net.fc.weight)
    net.fc.weight.set_data(ms.Tensor(WEIGHT))
    local, mean, total = gradients(net, me)
    nn.SGD(net.trainable_params(), RATE)(mean)
    other = started(me)
    own = listed(other.fc.weight)
    nn.SGD(other.trainable_params(), RATE)(gradients(other, me)[1])
    return {
        "rank": me,
        "local": listed(local[0]),
        "mean": listed(mean[0]),
        "sum": listed(total[0]),
        "after_step": listed(net.fc.weight),
        "first_weights_one_seed": first,
        "first_weights_own_seed": own,
        "after_step_own_seed": listed(other.fc.weight),
    }


def gradients(net: Net, me: int) -> tuple[Any, Any, Any]:
    """The rank's own gradients, and what the reducers make of all ranks' (mean=True, mean=False)."""
    x, y = ms.Tensor(np.array([DATA[me]], np.float32)), ms.Tensor(np.float32(TARGET))
    parameters = net.trainable_params()
    local = ms.grad(net, None, parameters)(x, y)
    mean, total = (nn.DistributedGradReducer(parameters, mean=each, degree=RANKS)(local) for each in (True, False))
    return local, mean, total


def started(seed: int) -> Net:
    """The net with its random start under a seed."""
    ms.set_seed(seed)
    return Net()


if __name__ == "__main__":
    seen = rank()
    (Path(sys.argv[1]) / f"rank{seen['rank']}.json").write_text(json.dumps(seen))
