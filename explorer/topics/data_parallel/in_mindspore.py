"""Two MindSpore processes that differentiate one net on data of their own.

Run as a script, this file is one of them.
"""

import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn

from explorer.model.measurement import Ask, Found
from explorer.topics.data_parallel.processes import (
    RANKS,
    RATE,
    SAMPLES,
    TARGET,
    WEIGHT,
    free_port,
    run_ranks,
)
from explorer.topics.in_mindspore import numbers


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
    """`msrun` starts two ranks; each reports its gradients, local and reduced, and its weights."""
    folder = Path(tempfile.mkdtemp(dir="."))
    # The environment's own launcher, which need not be on the path of whoever runs the explorer.
    launcher = shutil.which("msrun", path=str(Path(sys.executable).parent)) or "msrun"
    command = [
        *(launcher, f"--worker_num={RANKS}", f"--local_worker_num={RANKS}", "--join=True"),
        *(f"--master_port={free_port()}", f"--log_dir={folder / 'msrun'}"),
        *(__file__, str(folder)),
    ]
    return run_ranks(command, folder, ask)


def rank_figures() -> dict[str, Any]:
    """The gradients and the weights of one rank, by the names of ROWS in findings.py."""
    from mindspore.communication import get_rank, init  # importing it starts what only a rank needs

    ms.set_context(mode=ms.PYNATIVE_MODE)
    init("mccl")
    rank = get_rank()
    ms.set_auto_parallel_context(
        parallel_mode=ms.ParallelMode.DATA_PARALLEL, gradients_mean=True, device_num=RANKS
    )

    net = fresh_net(seed=0)
    first_weights = numbers(net.fc.weight)
    net.fc.weight.set_data(ms.Tensor(WEIGHT))  # the guide's start, so that its figures come out
    local = local_gradients(net, rank)
    mean = reduced(net, local, mean=True)
    total = reduced(net, local, mean=False)
    nn.SGD(net.trainable_params(), RATE)(mean)

    own_net = fresh_net(seed=rank)
    own_first_weights = numbers(own_net.fc.weight)
    own_mean = reduced(own_net, local_gradients(own_net, rank), mean=True)
    nn.SGD(own_net.trainable_params(), RATE)(own_mean)
    return {
        "rank": rank,
        "local": numbers(local[0]),
        "mean": numbers(mean[0]),
        "sum": numbers(total[0]),
        "after_step": numbers(net.fc.weight),
        "first_weights_one_seed": first_weights,
        "first_weights_own_seed": own_first_weights,
        "after_step_own_seed": numbers(own_net.fc.weight),
    }


def local_gradients(net: Net, rank: int) -> Any:
    """The gradients of the rank's own sample, one a parameter."""
    x = ms.Tensor(np.array([SAMPLES[rank]], np.float32))
    y = ms.Tensor(np.float32(TARGET))
    return ms.grad(net, None, net.trainable_params())(x, y)


def reduced(net: Net, gradients: Any, mean: bool) -> Any:
    """The gradients of all ranks, reduced to their mean or sum by DistributedGradReducer."""
    return nn.DistributedGradReducer(net.trainable_params(), mean=mean, degree=RANKS)(gradients)


def fresh_net(seed: int) -> Net:
    """The net with its random start under a seed."""
    ms.set_seed(seed)
    return Net()


if __name__ == "__main__":
    figures = rank_figures()
    (Path(sys.argv[1]) / f"rank{figures['rank']}.json").write_text(json.dumps(figures))
