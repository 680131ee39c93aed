"""Two PyTorch processes that differentiate one net on data of their own."""

import sys
import tempfile
from pathlib import Path
from typing import Any

import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt_briefly
from explorer.topics.data_parallel.processes import (
    RANKS,
    RATE,
    SAMPLES,
    TARGET,
    WEIGHT,
    free_port,
    rank_of,
    run_ranks,
)
from explorer.topics.in_torch import numbers

HERE = "explorer.topics.data_parallel.in_torch"
"""This module, by its name: a rank imports it, also where the code below was pasted elsewhere."""


def two_processes(ask: Ask) -> Found:
    """`torch.distributed.run` starts two ranks, each of which reports its rank_figures.

    Its gradients are the local one, the one that DDP leaves in ``.grad``, and the sum over all
    ranks.
    """
    folder = Path(tempfile.mkdtemp(dir="."))
    command = [
        *(sys.executable, "-m", "torch.distributed.run", f"--nproc_per_node={RANKS}"),
        *("--master_addr=127.0.0.1", f"--master_port={free_port()}"),
        *rank_of(f"{HERE}:{rank_figures.__name__}", folder),
    ]
    return run_ranks(command, folder, ask)


def rank_figures() -> dict[str, Any]:
    """The gradients and the weights of one rank, by the names of ROWS in findings.py."""
    distributed.init_process_group("gloo")
    rank = distributed.get_rank()

    net = fresh_net(seed=0)
    first_weights = numbers(net.weight)
    net.weight.data = torch.tensor(WEIGHT)
    loss(net, rank).backward()
    local = numbers(net.weight.grad)
    total = net.weight.grad.clone()
    distributed.all_reduce(total)
    # Wrapped only now: DDP hooks into backward, and the local gradient is read before that.
    mean = step(DistributedDataParallel(net), net, rank)

    own_net = fresh_net(seed=rank)
    own_first_weights = numbers(own_net.weight)
    step(DistributedDataParallel(own_net), own_net, rank)
    printed = attempt_briefly(data_parallel_as_printed, rank)
    distributed.destroy_process_group()
    return {
        "rank": rank,
        "local": local,
        "mean": mean,
        "sum": numbers(total),
        "after_step": numbers(net.weight),
        "first_weights_one_seed": first_weights,
        "first_weights_own_seed": own_first_weights,
        "after_step_own_seed": numbers(own_net.weight),
        "printed": printed,
    }


def data_parallel_as_printed(rank: int) -> None:
    """The guide's step, whose model and data go to the GPU of the rank's number."""
    model = nn.Linear(3, 1).to(rank)
    ddp_model = DistributedDataParallel(model, device_ids=[rank])
    loss_fn = nn.MSELoss()
    optimizer = torch.optim.SGD(ddp_model.parameters(), lr=0.001)
    outputs = ddp_model(torch.randn(20, 3).to(rank))
    labels = torch.randn(20, 1).to(rank)
    loss_fn(outputs, labels).backward()
    optimizer.step()


def loss(net: nn.Module, rank: int) -> torch.Tensor:
    """The squared error of the rank's own sample."""
    error: torch.Tensor = (net(torch.tensor([SAMPLES[rank]])).squeeze() - TARGET) ** 2
    return error


def step(wrapped: nn.Module, net: nn.Linear, rank: int) -> list[Any]:
    """The gradient that DDP leaves in ``.grad``, after one step of SGD through ``wrapped``."""
    optimizer = torch.optim.SGD(net.parameters(), RATE)
    optimizer.zero_grad()
    loss(wrapped, rank).backward()
    gradient: list[Any] = numbers(net.weight.grad)
    optimizer.step()
    return gradient


def fresh_net(seed: int) -> nn.Linear:
    """The net with its random start under a seed."""
    torch.manual_seed(seed)
    return nn.Linear(3, 1, bias=False)
