"""Trains a scenario's net in MindSpore on the tape, and records each step."""

import sys
from collections.abc import Iterable, Iterator
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn, ops

from explorer.engines.mindspore.errors import failure
from explorer.engines.mindspore.net import HeldTensor, Net, array_of, build, dtype_of, flat, tensors
from explorer.engines.mindspore.optimizers import groups, state
from explorer.engines.repacking import repacked
from explorer.model.arrays import Array, pack, unpack
from explorer.model.errors import ScenarioError
from explorer.model.requests import Repacked, TrainingRequest
from explorer.model.results import Leaf
from explorer.model.trace import Missing, Start
from explorer.model.training import Batch, Training, TrainingStep
from explorer.numeric.summaries import brief
from explorer.scenario.layouts import to_torch
from explorer.scenario.training import Pass, Plan, plan_of
from explorer.text.language import said_in

RATE = 0.01
"""The learning rate of the plain gradient descent that trains a net without an optimizer of its own."""

STATISTICS = ("running_mean", "running_var")
"""What MindSpore holds in parameters that are not trained, and PyTorch in buffers."""


def train(request: TrainingRequest) -> Training:
    """Train a net, and record it; what its code raises is said in the record."""
    net = build(request.net)
    start = tuple(_starts(net, request.net.device))
    steps: list[TrainingStep] = []
    missing: tuple[Missing, ...] = ()
    optimizer = ""
    with said_in(request.language):
        plan = plan_of(net.scenario, "mindspore", request.steps)
        try:
            loop = _Loop(net, plan, request)
            optimizer = loop.optimizer_name
            for number, passes in enumerate(plan.batches, 1):
                steps.append(loop.step(number, passes))
        except ScenarioError:
            raise
        except Exception as error:
            missing = (Missing("raised", error=failure(error, request.net.scenario)),)
    return Training(
        name=net.scenario.name,
        framework="mindspore",
        engine=request.net.engine,
        optimizer=optimizer,
        versions=versions(),
        device=request.net.device,
        start=start,
        steps=tuple(steps),
        missing=missing,
    )


def versions() -> dict[str, str]:
    """The versions of what a training depends on."""
    version = ".".join(map(str, sys.version_info[:3]))
    return {"python": version, "mindspore": ms.__version__, "numpy": np.__version__}


class _Loop:
    """A net with what trains it."""

    def __init__(self, net: Net, plan: Plan, request: TrainingRequest) -> None:
        self._net = net
        self._pieces = request.net.pieces
        self._has_one_loss = request.has_one_loss
        self._clip_norm = plan.clip_norm
        self._optimizer = (plan.optimizer or _plain_descent)(net.call)
        self._scaler = plan.scaler() if plan.scaler else None
        self._schedule = plan.schedule(self._optimizer) if plan.schedule else None
        self._held = {id(held.tensor): held for held in net.held.values()}
        self._names = {key: held.name for key, held in self._held.items()}
        weights = ms.ParameterTuple(self._optimizer.parameters)
        self._gradients_of = ms.value_and_grad(self._losses, None, weights, has_aux=True)

    @property
    def optimizer_name(self) -> str:
        """The class of the optimizer, with its module."""
        kind = type(self._optimizer)
        return f"{kind.__module__}.{kind.__qualname__}"

    def step(self, number: int, passes: tuple[Pass, ...]) -> TrainingStep:
        """One update by the gradients of some passes, recorded."""
        scale = None if self._scaler is None else float(self._scaler.scale_value.asnumpy())
        batches, gradients = self._passes(passes)
        given = gradients if self._scaler is None else self._scaler.unscale(gradients)
        is_finite = self._scaler is None or bool(ms.amp.all_finite(given))
        norm = None
        if self._clip_norm is not None:
            norm = _norm(given)
            given = ops.clip_by_global_norm(given, self._clip_norm)
        settings = groups(self._optimizer, self._names)
        if is_finite:
            self._optimizer(given)
        if self._scaler is not None:
            self._scaler.adjust(ms.Tensor(is_finite))
        if self._schedule is not None:
            self._schedule.step()
        return TrainingStep(
            number=number,
            batches=batches,
            scale=scale,
            skipped=not is_finite,
            gradients=self._of_weights(gradients),
            norm=norm,
            given=self._of_weights(given) if is_finite else (),
            groups=settings if is_finite else (),
            weights=_leaves(self._now(is_buffer=False), self._pieces),
            buffers=_leaves(self._now(is_buffer=True)),
            state=_leaves(self._state()),
        )

    def _passes(self, passes: tuple[Pass, ...]) -> tuple[tuple[Batch, ...], tuple[Any, ...]]:
        """The passes with their losses, and their gradients added up."""
        batches = []
        gradients: list[Any] = []
        for arrays in passes:
            (_scaled, loss), added = self._gradients_of(*tensors(arrays).values())
            data = (Leaf(name, brief(array, array.dtype.name)) for name, array in arrays.items())
            of_pass = self._of_weights(added) if len(passes) > 1 else ()
            batches.append(Batch(tuple(data), float(loss.asnumpy()), of_pass))
            gradients = [*map(_sum, gradients, added)] if gradients else list(added)
        return tuple(batches), tuple(gradients)

    def _losses(self, *arguments: Any) -> tuple[Any, Any]:
        """The loss as it is differentiated, and without the scale."""
        outputs = [output for output in flat(self._net.call(*arguments)) if _is_floating(output)]
        outputs = outputs[:1] if self._has_one_loss else outputs
        loss = outputs[0].sum()
        for output in outputs[1:]:
            loss = loss + output.sum()
        return loss if self._scaler is None else self._scaler.scale(loss), loss

    # What is recorded, by PyTorch's names and in its layouts

    def _of_weights(self, values: Iterable[Any]) -> tuple[Leaf, ...]:
        pairs = zip(self._optimizer.parameters, values, strict=True)
        named = ((self._names[id(weight)], self._packed(weight, value)) for weight, value in pairs)
        return _leaves(named, self._pieces)

    def _now(self, *, is_buffer: bool) -> Iterator[tuple[str, Array]]:
        for held in _kept(self._net):
            if _is_buffer(held) == is_buffer:
                yield held.name, _in_torch_layout(held, held.now())

    def _state(self) -> Iterator[tuple[str, Array]]:
        owners = {self._names[id(weight)]: weight for weight in self._optimizer.parameters}
        for name, key, value in state(self._optimizer, self._names):
            yield f"{name}.{key}", self._packed(owners[name], value)

    def _packed(self, weight: Any, value: Any) -> Array:
        if value.shape != weight.shape:
            return pack(array_of(value), dtype_of(value))
        return _in_torch_layout(self._held[id(weight)], value)


def _plain_descent(net: Any) -> Any:
    return nn.SGD(net.trainable_params(), learning_rate=RATE)


def _is_floating(output: Any) -> bool:
    return isinstance(output, ms.Tensor) and output.is_floating_point()


def _sum(left: Any, right: Any) -> Any:
    return left + right


def _norm(gradients: Iterable[Any]) -> float:
    squares = (np.square(array_of(gradient), dtype=np.float64) for gradient in gradients)
    return float(np.sqrt(sum(float(square.sum()) for square in squares)))


def _starts(net: Net, device: str) -> Iterator[Start]:
    for held in _kept(net):
        array = _in_torch_layout(held, held.tensor)
        value = brief(unpack(array), array.dtype)
        role: Any = "buffer" if _is_buffer(held) else "parameter"
        yield Start(held.name, role, value, device, held.role == "trained")


def _kept(net: Net) -> list[HeldTensor]:
    """The parameters and buffers of a net; plain tensors are none of what a training changes."""
    return [held for held in net.held.values() if held.role != "constant"]


def _is_buffer(held: HeldTensor) -> bool:
    is_statistic = held.name.rpartition(".")[2] in STATISTICS
    return held.role == "buffer" or (held.role == "frozen" and is_statistic)


def _in_torch_layout(held: HeldTensor, value: Any) -> Array:
    return pack(to_torch(array_of(value), held.layout), dtype_of(value))


def _leaves(
    named: Iterable[tuple[str, Array]], pieces: tuple[Repacked, ...] = ()
) -> tuple[Leaf, ...]:
    """Tensors by their names, of large ones excerpts; parameters in PyTorch's pieces."""
    # The names of gradients, by which pieces are found.
    whole = [Leaf(f"d{name}", array) for name, array in named]
    _tree, leaves = repacked("", whole, pieces)
    return tuple(
        Leaf(leaf.name[1:], brief(unpack(leaf.value), leaf.value.dtype)) for leaf in leaves
    )
