"""A data parallel training step on two ranks, recorded in each process.

`python recorded_ranks.py OUT` prints the losses of both ranks, without and with explorer.record().
"""

import json
import os
import sys
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import explorer

STEPS, RECORDED = 3, 1


def train(rank, out, store, is_recorded):
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2)
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    parallel = DistributedDataParallel(net)
    optimizer = torch.optim.SGD(parallel.parameters(), lr=0.1)
    torch.manual_seed(rank)
    losses = []

    def step(sample):
        loss = parallel(sample).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())

    for number in range(STEPS):
        optimizer.zero_grad()
        sample = torch.randn(3, 4)
        if is_recorded and number == RECORDED:
            with explorer.record(Path(out) / "step.trace"):
                step(sample)
        else:
            step(sample)
    (Path(out) / f"losses{int(is_recorded)}.{rank}.json").write_text(json.dumps(losses))
    dist.destroy_process_group()


if __name__ == "__main__":
    out = sys.argv[1]
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    for is_recorded in (False, True):
        mp.spawn(train, (out, os.path.join(out, f"store{is_recorded}"), is_recorded), 2)
