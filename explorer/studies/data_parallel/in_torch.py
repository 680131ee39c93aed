"""Two PyTorch processes that differentiate one net on data of their own; run as a script, this file is one of them."""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel

from explorer.measuring import Ask, Found
from explorer.studies.data_parallel.ranks import DATA, RANKS, RATE, TARGET, WEIGHT, free_port, together
from explorer.studies.in_torch import listed


def two_processes(ask: Ask) -> Found:
    """`torch.distributed.run` starts two ranks; each reports its local gradient, what DDP makes of it, and its weights."""
    folder = Path(tempfile.mkdtemp(dir="."))
    launcher = [sys.executable, "-m", "torch.distributed.run", f"--nproc_per_node={RANKS}"]
    return together([*launcher, "--master_addr=127.0.0.1", f"--master_port={free_port()}", __file__, str(folder)], folder, ask)


def rank() -> dict[str, Any]:
    """What one rank sees."""
    distributed.init_process_group("gloo")
    me = distributed.get_rank()
    net = started(0)
    first = listed(net.weight)
    net.weight.data = torch.tensor(WEIGHT)
    loss(net, me).backward()
    local = listed(net.weight.grad)
    total = net.weight.grad.clone()
    distributed.all_reduce(total)
    mean = step(DistributedDataParallel(net), net, me)
    other = started(me)
    own = listed(other.weight)
    step(DistributedDataParallel(other), other, me)
    distributed.destroy_process_group()
    return {
        "rank": me,
        "local": local,
        "mean": mean,
        "sum": listed(total),
        "after_step": listed(net.weight),
        "first_weights_one_seed": first,
        "first_weights_own_seed": own,
        "after_step_own_seed": listed(other.weight),
    }


def loss(net: nn.Module, me: int) -> torch.Tensor:
    """The squared error of the rank's own sample."""
    made: torch.Tensor = (net(torch.tensor([DATA[me]])).squeeze() - TARGET) ** 2
    return made


def step(wrapped: nn.Module, net: nn.Linear, me: int) -> list[Any]:
    """One step of SGD through ``wrapped``; the gradient that DDP left in ``.grad``."""
    optimizer = torch.optim.SGD(net.parameters(), RATE)
    optimizer.zero_grad()
    loss(wrapped, me).backward()
    made: list[Any] = listed(net.weight.grad)
    optimizer.step()
    return made


def started(seed: int) -> nn.Linear:
    """The net with its random start under a seed."""
    torch.manual_seed(seed)
    return nn.Linear(3, 1, bias=False)


if __name__ == "__main__":
    seen = rank()
    (Path(sys.argv[1]) / f"rank{seen['rank']}.json").write_text(json.dumps(seen))
