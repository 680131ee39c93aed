"""Training programs that record some of their steps, run in a process with PyTorch alone.

`python recorded_steps.py OUT` runs each program with and without explorer.record(), writes the traces
into OUT, and prints what each computed as JSON.
"""

import json
import random
import sys
import warnings
from pathlib import Path

REFUSED = {
    "rich",
    "typer",
    "psutil",
    "filelock",
    "platformdirs",
    "graphviz",
    "mindspore",
    "streamlit",
}


class Refusing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in REFUSED:
            raise ImportError(f"{name} is not installed beside PyTorch here")


sys.meta_path.insert(0, Refusing())

import numpy as np  # noqa: E402
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402, N812
from torch import nn  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402

import explorer  # noqa: E402

RECORDED = (1, 3, 7)
"""The steps that are recorded."""


class Net(nn.Module):
    def __init__(self, reentrant=None):
        super().__init__()
        self.first = nn.Linear(6, 16)
        self.norm = nn.LayerNorm(16)
        self.middle = nn.Linear(16, 16)
        self.drop = nn.Dropout(0.2)
        self.last = nn.Linear(16, 3)
        self.reentrant = reentrant
        self.register_buffer("mean", torch.zeros(16))

    def block(self, hidden):
        return torch.tanh(self.middle(self.norm(hidden)))

    def forward(self, x):
        hidden = F.gelu(self.first(x))
        with torch.no_grad():
            self.mean.mul_(0.9).add_(hidden.mean(0) * 0.1)
        if self.reentrant is None:
            hidden = hidden + self.block(hidden)
        else:
            hidden = hidden + checkpoint(self.block, hidden, use_reentrant=self.reentrant)
        return self.last(self.drop(hidden))


def plain(net, optimizer, scaler, x, y):
    loss = nn.CrossEntropyLoss()(net(x), y)
    loss.backward()
    optimizer.step()
    return loss


def micro_batches(net, optimizer, scaler, x, y):
    total = 0
    for start in range(2):
        loss = F.cross_entropy(net(x[start::2]), y[start::2]) / 2
        loss.backward()
        total = total + loss.detach()
    nn.utils.clip_grad_norm_(net.parameters(), 0.1)
    optimizer.step()
    return total


def mixed_precision(net, optimizer, scaler, x, y):
    with torch.autocast("cpu", torch.bfloat16):
        loss = F.cross_entropy(net(x), y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    return loss


def several_passes(net, optimizer, scaler, x, y):
    logits = net(x)
    first, second = F.cross_entropy(logits, y), logits.square().mean()
    first.backward(retain_graph=True)
    second.backward()
    optimizer.step()
    return first + second


def gradient_penalty(net, optimizer, scaler, x, y):
    x = x.clone().requires_grad_()
    loss = F.cross_entropy(net(x), y)
    (gradient,) = torch.autograd.grad(loss, x, create_graph=True)
    loss = loss + gradient.square().sum()
    loss.backward()
    optimizer.step()
    return loss


def hooks(net, optimizer, scaler, x, y):
    handles = [weight.register_hook(lambda gradient: gradient * 2) for weight in net.parameters()]
    handles.append(net.middle.register_full_backward_hook(lambda *_: None))
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    for handle in handles:
        handle.remove()
    optimizer.step()
    return loss


PROGRAMS = {
    "plain": (plain, None, 50),
    "micro_batches": (micro_batches, None, 8),
    "mixed_precision": (mixed_precision, None, 8),
    "several_passes": (several_passes, None, 8),
    "gradient_penalty": (gradient_penalty, None, 8),
    "hooks": (hooks, None, 8),
    "checkpoint": (plain, False, 8),
    "reentrant_checkpoint": (plain, True, 8),
}


def train(name, out=None):
    """The losses of all steps and the weights at the end, as exact numbers."""
    step, reentrant, count = PROGRAMS[name]
    torch.manual_seed(0)
    net = Net(reentrant)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2)
    scaler = torch.amp.GradScaler("cpu", init_scale=256.0)
    losses = []
    for number in range(count):
        x, y = torch.randn(8, 6), torch.randint(0, 3, (8,))
        optimizer.zero_grad()
        if out is not None and number in RECORDED:
            with explorer.record(out / f"{name}-{number}.trace", step=number):
                loss = step(net, optimizer, scaler, x, y)
        else:
            loss = step(net, optimizer, scaler, x, y)
        losses.append(loss.item())
    weights = [weight.double().sum().item() for weight in net.parameters()]
    return losses, weights, [random.random(), float(np.random.rand()), torch.rand(()).item()]


def seeded(name, out=None):
    random.seed(0)
    np.random.seed(0)
    return train(name, out)


def left_behind():
    """What PyTorch and Python hold of a recorder once no step is recorded."""
    from torch.nn.modules import module
    from torch.optim import optimizer
    from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

    return [
        len(module._global_forward_pre_hooks) + len(module._global_forward_hooks),
        len(optimizer._global_optimizer_pre_hooks),
        len(_get_current_dispatch_mode_stack()),
        type(torch.autograd.Variable._execution_engine).__name__,
        torch.get_num_threads(),
        torch.backends.cudnn.deterministic,
        len(warnings.filters),
    ]


def loss_of_one_step(path, **options):
    """The loss of a step that is recorded in some way, and the kinds of warnings of it."""
    torch.manual_seed(0)
    net, x = Net(), torch.randn(8, 6)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with explorer.record(path, **options):
            loss = net(x).square().mean()
            loss.backward()
    return loss.item(), [type(warning.message).__name__ for warning in caught]


def fails_inside(out):
    """A step during which the recorder itself fails, where warnings are errors."""
    from explorer.engines.torch.step_recorder import StepRecorder

    begin = StepRecorder.begin

    def failing(self, operator, args, kwargs):
        if "mean" in str(operator):
            raise ZeroDivisionError("a fault of the recorder's own")
        return begin(self, operator, args, kwargs)

    StepRecorder.begin = failing
    try:
        loss = loss_of_one_step(out / "failing.trace")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with explorer.record(out / "strict.trace"):
                torch.ones(3).mean()
        return loss
    finally:
        StepRecorder.begin = begin


def raises(path):
    try:
        with explorer.record(path):
            torch.ones(3, requires_grad=True).sum()
            torch.ones(2) @ torch.ones(3)
    except RuntimeError as error:
        return type(error).__name__
    return ""


def nested(out):
    with explorer.record(out / "outer.trace"):
        return loss_of_one_step(out / "inner.trace")


def in_a_loop(out):
    """The names of the traces of a loop of ten steps."""
    recorder = explorer.recorder(every=4, first=2, out=out / "loop")
    for _ in range(10):
        with recorder.step():
            torch.ones(3, requires_grad=True).sum().backward()
    return sorted(path.name for path in (out / "loop").iterdir())


def main(out):
    without = {name: seeded(name) for name in PROGRAMS}
    before = left_behind()  # once PyTorch has imported all that it imports late
    programs = {name: [without[name], seeded(name, out)] for name in PROGRAMS}
    document = {
        "programs": programs,
        "one_step": loss_of_one_step(out / "one.trace"),
        "full": loss_of_one_step(out / "full.trace", memory=6000),
        "failing": fails_inside(out),
        "no_folder": loss_of_one_step(out / "missing" / "x.trace"),
        "raises": raises(out / "raised.trace"),
        "nested": nested(out),
        "loop": in_a_loop(out),
        "left_behind": [before, left_behind()],
        "foreign": sorted(REFUSED & set(sys.modules)),
    }
    print(json.dumps(document))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
