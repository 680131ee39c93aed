"""Trains a scenario's net in MindSpore on the tape, and records each step."""

from typing import Any

import mindspore as ms
from mindspore import nn, ops

from explorer.engines.mindspore.errors import failure
from explorer.engines.mindspore.net import Net, array_of, build, flat, tensors
from explorer.engines.mindspore.step_trace import StepInMindSpore
from explorer.engines.mindspore.training_recorder import TrainingInMindSpore
from explorer.engines.trained_net import RATE, Step, trained
from explorer.model.arrays import SMALL
from explorer.model.requests import TrainingRequest
from explorer.model.training import Training
from explorer.scenario.training import Pass, Plan


def train(request: TrainingRequest) -> Training:
    """Train a net, and record it; what its code raises is said in the record."""
    net = build(request.net)
    recorder = TrainingInMindSpore(net.call, held=net.held, pieces=request.net.pieces)

    def begin(plan: Plan) -> Step:
        return _Loop(net, plan, request.has_one_loss).step

    def whole_step() -> StepInMindSpore:
        return StepInMindSpore(net.call, values=SMALL, start=0, memory=None)

    return trained(request, "mindspore", net.scenario, recorder, begin, whole_step, failure)


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
