"""Two MindSpore processes that differentiate one net on data of their own."""

import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn, ops, train

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt
from explorer.topics.data_parallel.processes import (
    BY_HAND,
    RANKS,
    RATE,
    SAMPLES,
    TARGET,
    WEIGHT,
    free_port,
    rank_of,
    run_ranks,
)
from explorer.topics.in_mindspore import MODES, numbers

HERE = "explorer.topics.data_parallel.in_mindspore"
"""This module, by its name: a rank imports it, also where the code below was pasted elsewhere."""


def two_processes(ask: Ask) -> Found:
    """`msrun` starts two ranks, each of which reports its rank_figures."""
    folder = Path(tempfile.mkdtemp(dir="."))
    # The environment's own launcher, which need not be on the path of whoever runs the explorer.
    launcher = shutil.which("msrun", path=str(Path(sys.executable).parent)) or "msrun"
    command = [
        *(launcher, f"--worker_num={RANKS}", f"--local_worker_num={RANKS}", "--join=True"),
        *(f"--master_port={free_port()}", f"--log_dir={folder / 'msrun'}"),
        *rank_of(f"{HERE}:{rank_figures.__name__}", folder),
    ]
    return run_ranks(command, folder, ask)


def rank_figures() -> dict[str, Any]:
    """The gradients and the weights of one rank, by the names of ROWS in findings.py."""
    ms.set_context(mode=ms.PYNATIVE_MODE)
    rank = data_parallel_as_printed()

    first_weights = numbers(fresh_net(seed=0).fc.weight)
    local = local_gradients(guides_net(), rank)
    net = guides_net()
    with_cell(net, *sample(rank))
    own_net = fresh_net(seed=rank)
    own_first_weights = numbers(own_net.fc.weight)
    with_cell(own_net, *sample(rank))
    routes: dict[str, Any] = {}
    for style, mode in MODES.items():
        ms.set_context(mode=mode)
        routes[style] = {name: attempt(applied, step, rank) for name, step in STEPS.items()}
    return {
        "rank": rank,
        "local": numbers(local[0]),
        "mean": numbers(reduced(local, mean=True)[0]),
        "sum": numbers(reduced(local, mean=False)[0]),
        "after_step": numbers(net.fc.weight),
        "first_weights_one_seed": first_weights,
        "first_weights_own_seed": own_first_weights,
        "after_step_own_seed": numbers(own_net.fc.weight),
        "routes": routes,
    }


def data_parallel_as_printed() -> int:
    """All that the guide prints of data parallel training; the number of this rank."""
    # Importing it starts what only a rank needs.
    from mindspore.communication.management import get_group_size, get_rank, init

    init()
    get_group_size()
    rank_id: int = get_rank()
    ms.set_auto_parallel_context(parallel_mode=ms.ParallelMode.DATA_PARALLEL, gradients_mean=True)
    return rank_id


# The net, and the rank's share of the data


class Net(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """One dense layer without bias."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Dense(3, 1, has_bias=False)

    def construct(self, x: Any) -> Any:
        """The net's output, of shape ``(1, 1)``."""
        return self.fc(x)


def fresh_net(seed: int) -> Net:
    """The net with its random start under a seed."""
    ms.set_seed(seed)
    return Net()


def guides_net() -> Net:
    """The net at the start from which the guide's figures come out."""
    net = Net()
    net.fc.weight.set_data(ms.Tensor(WEIGHT))
    return net


def sample(rank: int) -> tuple[Any, Any]:
    """The rank's own sample and its target."""
    x = np.array([SAMPLES[rank]], np.float32)
    return ms.Tensor(x), ms.Tensor(np.array([[TARGET]], np.float32))


def local_gradients(net: Net, rank: int) -> Any:
    """The gradients of the rank's own sample, one a parameter."""
    return gradients_of(net)(*sample(rank))[1]


def gradients_of(net: Net) -> Any:
    """The function from a sample to its loss and the gradients of the net's parameters."""
    loss_of = nn.MSELoss()

    def forward(x: Any, y: Any) -> Any:
        """The loss of one sample."""
        return loss_of(net(x), y)

    return ms.value_and_grad(forward, None, net.trainable_params())


def reduced(gradients: Any, mean: bool) -> Any:
    """The gradients of all ranks, reduced to their mean or sum by DistributedGradReducer."""
    parameters = guides_net().trainable_params()
    return nn.DistributedGradReducer(parameters, mean=mean, degree=RANKS)(gradients)


# The ways to take a step, each with nothing in it that says it is one of several ranks


def with_value_and_grad(net: Net, x: Any, y: Any) -> None:
    """value_and_grad, then the optimizer."""
    _, gradients = gradients_of(net)(x, y)
    sgd(net)(gradients)


def with_reducer(net: Net, x: Any, y: Any) -> None:
    """value_and_grad, nn.DistributedGradReducer, then the optimizer."""
    optimizer = sgd(net)
    _, gradients = gradients_of(net)(x, y)
    optimizer(nn.DistributedGradReducer(optimizer.parameters)(gradients))


def with_grad_operation(net: Net, x: Any, y: Any) -> None:
    """GradOperation(get_by_list=True), then the optimizer."""
    optimizer = sgd(net)
    network = nn.WithLossCell(net, nn.MSELoss())
    optimizer(ops.GradOperation(get_by_list=True)(network, optimizer.parameters)(x, y))


def with_cell(net: Net, x: Any, y: Any) -> None:
    """nn.TrainOneStepCell."""
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), sgd(net))
    step.set_train()
    step(x, y)


def with_model(net: Net, x: Any, y: Any) -> None:
    """Model.train over the one sample."""
    data = ms.dataset.GeneratorDataset(
        [(x.asnumpy()[0], y.asnumpy()[0])], ["x", "y"], shuffle=False, num_parallel_workers=1
    )
    driver = train.Model(net, nn.MSELoss(), sgd(net))
    driver.train(1, data.batch(1), dataset_sink_mode=False)


STEPS = {
    "value_and_grad": with_value_and_grad,
    "GradOperation": with_grad_operation,
    "TrainOneStepCell": with_cell,
    "Model.train": with_model,
    BY_HAND: with_reducer,
}


def sgd(net: Net) -> Any:
    """The optimizer of every step."""
    return nn.SGD(net.trainable_params(), RATE)


def applied(step: Callable[[Net, Any, Any], None], rank: int) -> Any:
    """The gradient that a step took from the weight."""
    net = guides_net()
    step(net, *sample(rank))
    # The rate is a power of two: nothing is rounded on the way there or back.
    return ((WEIGHT - net.fc.weight.asnumpy()) / RATE).tolist()
