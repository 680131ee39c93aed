"""Training programs of MindSpore that record some of their steps, run in a process with it alone.

`python recorded_mindspore_steps.py OUT` runs each program with and without explorer.record(), writes the
traces into OUT, and prints what each computed as JSON.
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
    "filelock",
    "platformdirs",
    "graphviz",
    "torch",
    "streamlit",
}
"""(MindSpore brings psutil.)"""

refuse(REFUSED)

import mindspore as ms  # noqa: E402
import numpy as np  # noqa: E402
from mindspore import nn, ops  # noqa: E402

import explorer  # noqa: E402

RECORDED = (1, 3)
"""The steps that are recorded."""


class Net(nn.Cell):
    """A net without dropout, which draws other numbers at each run after the same seed (2.10.0)."""

    def __init__(self, recomputes=False):
        super().__init__()
        self.first = nn.Dense(6, 16)
        self.block = Block()
        self.last = nn.Dense(16, 3)
        if recomputes:
            self.block.recompute()

    def construct(self, x):
        hidden = ops.gelu(self.first(x))
        hidden = hidden + self.block(hidden)
        return self.last(hidden)


class Block(nn.Cell):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(16)
        self.middle = nn.Dense(16, 16)

    def construct(self, hidden):
        return ops.tanh(self.middle(self.norm(hidden)))


class Program:
    """A net, its optimizer and its loss; a step is one of the functions below."""

    def __init__(self, recomputes):
        self.net = Net(recomputes)
        self.net.set_train()
        self.optimizer = nn.Adam(self.net.trainable_params(), 1e-2)
        self.weights = self.optimizer.parameters
        self.scaler = ms.amp.DynamicLossScaler(256, 2, 3)
        self.loss = nn.CrossEntropyLoss()
        self.one_step = nn.TrainOneStepCell(
            nn.WithLossCell(self.net, self.loss), nn.Momentum(self.weights, 0.05, 0.9)
        )

    def forward(self, x, y):
        return self.loss(self.net(x), y)


def plain(program, x, y):
    loss, gradients = ms.value_and_grad(program.forward, None, program.weights)(x, y)
    program.optimizer(gradients)
    return loss


def one_step_cell(program, x, y):
    return program.one_step(x, y)


def auxiliary(program, x, y):
    def forward(x, y):
        logits = program.net(x)
        return program.loss(logits, y), logits

    gradient = ms.value_and_grad(forward, None, program.weights, has_aux=True)
    (loss, _), gradients = gradient(x, y)
    program.optimizer(gradients)
    return loss


def micro_batches(program, x, y):
    gradient = ms.value_and_grad(program.forward, None, program.weights)
    total, summed = 0, None
    for half in (slice(4), slice(4, 8)):
        loss, gradients = gradient(x[half], y[half])
        total = total + loss
        summed = gradients if summed is None else tuple(map(ops.add, summed, gradients))
    program.optimizer(ops.clip_by_global_norm(summed, 0.1))
    return total


def loss_scaling(program, x, y):
    def forward(x, y):
        loss = program.forward(x, y)
        return program.scaler.scale(loss), loss

    gradient = ms.value_and_grad(forward, None, program.weights, has_aux=True)
    (_, loss), gradients = gradient(x, y)
    gradients = program.scaler.unscale(gradients)
    is_finite = ms.amp.all_finite(gradients)
    if is_finite:
        program.optimizer(gradients)
    program.scaler.adjust(is_finite)
    return loss


def several_passes(program, x, y):
    first, gradients = ms.value_and_grad(program.forward, None, program.weights)(x, y)
    second, others = ms.value_and_grad(
        lambda x: program.net(x).square().mean(), None, program.weights
    )(x)
    program.optimizer(tuple(map(ops.add, gradients, others)))
    return first + second


def gradient_penalty(program, x, y):
    def penalized(x, y):
        loss = program.forward(x, y)
        inner = ms.grad(lambda x: ops.exp(program.net.last(x)))(x[:, :1].tile((1, 16)))
        return loss + (inner * inner).sum()

    loss, gradients = ms.value_and_grad(penalized, None, program.weights)(x, y)
    program.optimizer(gradients)
    return loss


def hooks(program, x, y):
    handles = [weight.register_hook(lambda gradient: gradient * 2) for weight in program.weights]
    handles.append(program.net.block.middle.register_backward_hook(lambda *_: None))
    try:
        return plain(program, x, y)
    finally:
        for handle in handles:
            handle.remove()


PROGRAMS = {
    "plain": (plain, False, 30),
    "one_step_cell": (one_step_cell, False, 30),
    "auxiliary": (auxiliary, False, 5),
    "micro_batches": (micro_batches, False, 5),
    "loss_scaling": (loss_scaling, False, 5),
    "several_passes": (several_passes, False, 5),
    "gradient_penalty": (gradient_penalty, False, 5),
    "hooks": (hooks, False, 5),
    "recompute": (plain, True, 5),
}


def train(name, record=nullcontext, count=None):
    """The losses of all steps, the weights at the end and the next random numbers, as exact numbers.

    ``record`` makes the block around a step.
    """
    step, recomputes, usual = PROGRAMS[name]
    random.seed(0)
    np.random.seed(0)
    ms.set_seed(0)
    program = Program(recomputes)
    losses = []
    for number in range(count or usual):
        x = ms.Tensor(np.random.randn(8, 6).astype(np.float32))
        y = ms.Tensor(np.random.randint(0, 3, (8,)).astype(np.int32))
        with record(number):
            loss = step(program, x, y)
        losses.append(float(loss.asnumpy()))
    weights = [float(it.asnumpy().astype(np.float64).sum()) for it in program.net.get_parameters()]
    return (
        losses,
        weights,
        [random.random(), float(np.random.rand()), float(ops.rand(1).asnumpy()[0])],
    )


def recorded(name, out):
    def record(number):
        if number in RECORDED:
            return explorer.record(out / f"{name}-{number}.trace", step=number)
        return nullcontext()

    return train(name, record)


def left_behind():
    """What MindSpore and Python hold of a recorder once no step is recorded."""
    from mindspore.common.api import _pynative_executor

    return [
        sorted(vars(_pynative_executor)),
        "__getitem__" in vars(ms.Tensor),
        ms.Tensor.assign_value.__qualname__,
        _pynative_executor.requires_grad(),
        ms.get_context("mode"),
        len(warnings.filters),
    ]


def loss_of_one_step(path, prefix=None, **options):
    """The loss of a step that is recorded in some way, and the kinds of warnings of it."""
    ms.set_seed(0)
    np.random.seed(0)
    net = Net()
    x = ms.Tensor(np.random.randn(8, 6).astype(np.float32))
    if prefix is not None:
        options.update(model={prefix: net}, inputs={"given": x})
    gradient = ms.value_and_grad(lambda x: net(x).square().mean(), None, net.trainable_params())

    def step():
        with explorer.record(path, **options):
            loss, _ = gradient(x)
        return float(loss.asnumpy())

    loss, kinds = warned(step)
    return loss, [kind for kind in kinds if kind == "RecordingWarning"]


def fails_inside(out):
    """A step during which the recorder itself fails."""
    from explorer.engines.mindspore.step_capture import StepCapture

    operator_ran = StepCapture.operator_ran

    def failing(self, call, outputs, site):
        if "Square" in call.op:
            raise ZeroDivisionError("a fault of the recorder's own")
        operator_ran(self, call, outputs, site)

    with mock.patch.object(StepCapture, "operator_ran", failing):
        return loss_of_one_step(out / "failing.trace")


def raises(path):
    try:
        with explorer.record(path):
            ops.ones((3,)).sum()
            ops.matmul(ops.ones((2, 3)), ops.ones((2, 3)))
    except (RuntimeError, ValueError) as error:
        return type(error).__name__
    return ""


def main(out):
    train("micro_batches")  # the first run in a process rounds otherwise than all others (2.10.0)
    without = {name: train(name) for name in PROGRAMS}
    before = left_behind()
    programs = {name: [without[name], recorded(name, out)] for name in PROGRAMS}
    document = {
        "programs": programs,
        "one_step": loss_of_one_step(out / "one.trace"),
        "named": loss_of_one_step(out / "named.trace", "whole"),
        "full": loss_of_one_step(out / "full.trace", memory=6000),
        "failing": fails_inside(out),
        "raises": raises(out / "raised.trace"),
        "after_raising": loss_of_one_step(out / "after.trace"),
        "left_behind": [before, left_behind()],
        "foreign": sorted(REFUSED & set(sys.modules)),
    }
    print(json.dumps(document))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
