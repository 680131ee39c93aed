"""Training programs that record some of their steps, run in a process with PyTorch alone.

`python recorded_steps.py OUT` runs each program with and without explorer.record(), writes the traces
into OUT, and prints what each computed as JSON.
"""

import json
import random
import sys
import warnings
from contextlib import nullcontext
from pathlib import Path
from unittest import mock

from recording_programs import refuse, warned

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

refuse(REFUSED)

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


class Job:
    """A net with all that trains it."""

    def __init__(self, reentrant=None):
        self.net = Net(reentrant)
        self.optimizer = torch.optim.AdamW(self.net.parameters(), lr=1e-2)
        self.scaler = torch.amp.GradScaler("cpu", init_scale=256.0)


def plain(job, x, y):
    loss = nn.CrossEntropyLoss()(job.net(x), y)
    loss.backward()
    job.optimizer.step()
    return loss


def micro_batches(job, x, y):
    total = 0
    for start in range(2):
        loss = F.cross_entropy(job.net(x[start::2]), y[start::2]) / 2
        loss.backward()
        total = total + loss.detach()
    nn.utils.clip_grad_norm_(job.net.parameters(), 0.1)
    job.optimizer.step()
    return total


def mixed_precision(job, x, y, factor=None):
    with torch.autocast("cpu", torch.bfloat16):
        loss = nn.CrossEntropyLoss()(job.net(x), y)
    if factor:
        loss = loss * factor
    job.scaler.scale(loss).backward()
    job.scaler.unscale_(job.optimizer)
    nn.utils.clip_grad_norm_(job.net.parameters(), 1.0)
    job.scaler.step(job.optimizer)
    job.scaler.update()
    return loss


def several_passes(job, x, y):
    logits = job.net(x)
    first, second = F.cross_entropy(logits, y), logits.square().mean()
    first.backward(retain_graph=True)
    second.backward()
    job.optimizer.step()
    return first + second


def gradient_penalty(job, x, y):
    x = x.clone().requires_grad_()
    loss = F.cross_entropy(job.net(x), y)
    (gradient,) = torch.autograd.grad(loss, x, create_graph=True)
    loss = loss + gradient.square().sum()
    loss.backward()
    job.optimizer.step()
    return loss


def hooks(job, x, y):
    weights = job.net.parameters()
    handles = [weight.register_hook(lambda gradient: gradient * 2) for weight in weights]
    handles.append(job.net.middle.register_full_backward_hook(lambda *_: None))
    loss = F.cross_entropy(job.net(x), y)
    loss.backward()
    for handle in handles:
        handle.remove()
    job.optimizer.step()
    return loss


PROGRAMS = {
    "plain": (plain, 50),
    "micro_batches": (micro_batches, 8),
    "mixed_precision": (mixed_precision, 8),
    "several_passes": (several_passes, 8),
    "gradient_penalty": (gradient_penalty, 8),
    "hooks": (hooks, 8),
    "checkpoint": (plain, 8, False),
    "reentrant_checkpoint": (plain, 8, True),
}


def train(program, record=nullcontext, job=Job):
    """The losses of all steps, the weights at the end and the next random numbers, as exact numbers.

    ``record`` makes the block around a step.
    """
    step, count, *options = program
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)
    job = job(*options)
    losses = []
    for number in range(count):
        x, y = torch.randn(8, 6), torch.randint(0, 3, (8,))
        with record(number):
            job.optimizer.zero_grad()
            loss = step(job, x, y)
        losses.append(loss.item())
    weights = [weight.double().sum().item() for weight in job.net.parameters()]
    return losses, weights, [random.random(), float(np.random.rand()), torch.rand(()).item()]


def recorded(name, out):
    def record(number):
        if number in RECORDED:
            return explorer.record(out / f"{name}-{number}.trace", step=number)
        return nullcontext()

    return train(PROGRAMS[name], record)


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

    def step():
        with explorer.record(path, **options):
            loss = net(x).square().mean()
            loss.backward()
        return loss.item()

    return warned(step)


def fails_inside(out):
    """A step during which the recorder itself fails, where warnings are errors."""
    from explorer.engines.torch.step_recorder import StepRecorder

    begin = StepRecorder.begin

    def failing(self, operator, args, kwargs):
        if "mean" in str(operator):
            raise ZeroDivisionError("a fault of the recorder's own")
        return begin(self, operator, args, kwargs)

    with mock.patch.object(StepRecorder, "begin", failing):
        loss = loss_of_one_step(out / "failing.trace")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with explorer.record(out / "strict.trace"):
                torch.ones(3).mean()
        return loss


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
    without = {name: train(program) for name, program in PROGRAMS.items()}
    before = left_behind()  # once PyTorch has imported all that it imports late
    programs = {name: [without[name], recorded(name, out)] for name in PROGRAMS}
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
