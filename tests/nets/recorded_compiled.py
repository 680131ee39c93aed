"""A compiled module and a compiled function, trained with and without explorer.recorder(training=True).

`python recorded_compiled.py OUT` prints what each computed, and how often it was compiled, as JSON.
"""

import json
import sys
from contextlib import nullcontext
from pathlib import Path

import torch
from torch import nn

import explorer


def train(kind, recorder=None):
    """The losses of a compiled module or function, and how often it was compiled."""
    graphs = []

    def backend(graph, inputs):
        graphs.append(graph)
        return graph.forward

    torch.compiler.reset()
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 2))
    optimizer = torch.optim.AdamW(net.parameters())
    call = torch.compile(net if kind == "module" else lambda x: net(x).tanh(), backend=backend)
    losses = []
    for _ in range(4):
        with recorder.step() if recorder else nullcontext():
            optimizer.zero_grad()
            loss = call(torch.randn(5, 4)).square().mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return losses, len(graphs)


def main(out):
    computed = {}
    for kind in ("module", "function"):
        recorder = explorer.recorder(training=True, out=out / f"{kind}.training")
        computed[kind] = [train(kind), train(kind, recorder)]
    print(json.dumps(computed))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
