"""A data parallel training step on two ranks, recorded in each process, and the same step on one.

`python recorded_ranks.py OUT` writes the losses of both ranks, without and with explorer.record(), their
traces, and the trace of one process that has the samples of both.
"""

import json
import os
import sys
from contextlib import nullcontext
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


def train_alone(out):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    shards = []
    for rank in range(2):
        torch.manual_seed(rank)
        shards.append([torch.randn(3, 4) for _ in range(STEPS)])
    for number, samples in enumerate(zip(*shards, strict=True)):
        optimizer.zero_grad()
        batch = torch.cat(samples)
        with explorer.record(Path(out) / "whole.trace") if number == RECORDED else nullcontext():
            net(batch).square().mean().backward()
            optimizer.step()


if __name__ == "__main__":
    out = sys.argv[1]
    train_alone(out)
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    for is_recorded in (False, True):
        mp.spawn(train, (out, os.path.join(out, f"store{is_recorded}"), is_recorded), 2)
