"""Trains a scenario's net in MindSpore on the tape, and records each step."""

from typing import Any

import mindspore as ms
import msgspec
from mindspore import nn, ops

from explorer.engines.mindspore.errors import failure
from explorer.engines.mindspore.net import Net, array_of, build, flat, tensors
from explorer.engines.mindspore.training_recorder import TrainingInMindSpore
from explorer.model.errors import ScenarioError
from explorer.model.requests import TrainingRequest
from explorer.model.results import Leaf
from explorer.model.trace import Missing
from explorer.model.training import Batch, Training, TrainingStep
from explorer.numeric.summaries import brief
from explorer.scenario.training import Pass, Plan, plan_of
from explorer.text.language import said_in

RATE = 0.01
"""The learning rate of the plain gradient descent that trains a net without an optimizer of its own."""


def train(request: TrainingRequest) -> Training:
    """Train a net, and record it; what its code raises is said in the record."""
    net = build(request.net)
    recording = TrainingInMindSpore(net.call, held=net.held, pieces=request.net.pieces)
    steps: list[TrainingStep] = []
    missing: list[Missing] = []
    with said_in(request.language):
        plan = plan_of(net.scenario, "mindspore", request.steps)
        try:
            loop = _Loop(net, plan, request.has_one_loss)
            for number, passes in enumerate(plan.batches, 1):
                recording.begin()
                try:
                    losses = loop.step(passes)
                finally:
                    step = recording.end(number)
                if step is not None:
                    steps.append(_with_data(step, passes, losses))
        except ScenarioError:
            raise
        except Exception as error:
            missing.append(Missing("raised", error=failure(error, request.net.scenario)))
    return Training(
        name=net.scenario.name,
        framework="mindspore",
        engine=request.net.engine,
        optimizer=recording.optimizer,
        versions=recording.versions,
        device=request.net.device,
        start=recording.start,
        steps=tuple(steps),
        missing=(*recording.missing, *missing),
    )


class _Loop:
    """A net with what trains it."""

    def __init__(self, net: Net, plan: Plan, has_one_loss: bool) -> None:
        self._net = net
        self._has_one_loss = has_one_loss
        self._clip_norm = plan.clip_norm
        self._optimizer = (plan.optimizer or _plain_descent)(net.call)
        self._scaler = plan.scaler() if plan.scaler else None
        self._schedule = plan.schedule(self._optimizer) if plan.schedule else None
        weights = ms.ParameterTuple(self._optimizer.parameters)
        self._gradients_of = ms.value_and_grad(self._losses, None, weights, has_aux=True)

    def step(self, passes: tuple[Pass, ...]) -> list[float]:
        """One update by the gradients of some passes; the losses of these."""
        losses = []
        gradients: tuple[Any, ...] = ()
        for arrays in passes:
            (_scaled, loss), added = self._gradients_of(*tensors(arrays).values())
            losses.append(float(array_of(loss)))
            gradients = tuple(map(ops.add, gradients, added)) if gradients else added
        is_finite = True
        if self._scaler is not None:
            gradients = self._scaler.unscale(gradients)
            is_finite = bool(ms.amp.all_finite(gradients))
        if self._clip_norm is not None:
            gradients = ops.clip_by_global_norm(gradients, self._clip_norm)
        if is_finite:
            self._optimizer(gradients)
        if self._scaler is not None:
            self._scaler.adjust(ms.Tensor(is_finite))
        if self._schedule is not None:
            self._schedule.step()
        return losses

    def _losses(self, *arguments: Any) -> tuple[Any, Any]:
        """The loss as it is differentiated, and without the scale."""
        outputs = [output for output in flat(self._net.call(*arguments)) if _is_floating(output)]
        outputs = outputs[:1] if self._has_one_loss else outputs
        loss = outputs[0].sum()
        for output in outputs[1:]:
            loss = loss + output.sum()
        return loss if self._scaler is None else self._scaler.scale(loss), loss


def _plain_descent(net: Any) -> Any:
    return nn.SGD(net.trainable_params(), learning_rate=RATE)


def _is_floating(output: Any) -> bool:
    return isinstance(output, ms.Tensor) and output.is_floating_point()


def _with_data(step: TrainingStep, passes: tuple[Pass, ...], losses: list[float]) -> TrainingStep:
    """A step with its data by the names of the scenario's inputs, and with its losses."""
    batches = []
    for batch, arrays, loss in zip(step.batches, passes, losses, strict=True):
        data = (Leaf(name, brief(array, array.dtype.name)) for name, array in arrays.items())
        batches.append(Batch(tuple(data), loss, batch.gradients))
    return msgspec.structs.replace(step, batches=tuple(batches))
