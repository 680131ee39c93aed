"""Trains a scenario's net in PyTorch, and records each step."""

import msgspec
import torch

from explorer.engines.torch.errors import failure
from explorer.engines.torch.net import Net, build, flat, start_random_numbers, tensors
from explorer.engines.torch.training_recorder import TrainingInTorch
from explorer.model.arrays import AnyArray
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
    recording = TrainingInTorch(net.call)
    steps: list[TrainingStep] = []
    missing: list[Missing] = []
    with said_in(request.language):
        plan = plan_of(net.scenario, "torch", request.steps)
        try:
            loop = _Loop(net, plan, request.has_one_loss)
            for number, passes in enumerate(plan.batches, 1):
                recording.begin()
                try:
                    loop.step(passes)
                finally:
                    step = recording.end(number)
                if step is not None:
                    steps.append(_with_data(step, passes))
        except ScenarioError:
            raise
        except Exception as error:
            missing.append(Missing("raised", error=failure(error, request.net.scenario)))
    return Training(
        name=net.scenario.name,
        framework="torch",
        engine=request.net.engine,
        optimizer=recording.optimizer,
        versions=recording.versions,
        device=recording.device,
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
        make = plan.optimizer or _plain_descent
        self._optimizer = make(net.call)
        self._scaler = plan.scaler() if plan.scaler else torch.amp.GradScaler("cpu", enabled=False)
        self._schedule = plan.schedule(self._optimizer) if plan.schedule else None
        start_random_numbers(net.seed)

    def step(self, passes: tuple[Pass, ...]) -> None:
        """One update by the gradients of some passes."""
        self._optimizer.zero_grad()
        for arrays in passes:
            self._scaler.scale(self._loss(arrays)).backward()
        self._scaler.unscale_(self._optimizer)
        if self._clip_norm is not None:
            parameters = self._net.call.parameters()
            torch.nn.utils.clip_grad_norm_(parameters, self._clip_norm)
        self._scaler.step(self._optimizer)
        self._scaler.update()
        if self._schedule is not None:
            self._schedule.step()

    def _loss(self, arrays: dict[str, AnyArray]) -> torch.Tensor:
        device = next(self._net.call.parameters()).device
        outputs = list(flat(self._net.call(*tensors(arrays, str(device)).values())))
        outputs = outputs[:1] if self._has_one_loss else outputs
        loss: torch.Tensor = sum(output.sum() for output in outputs if output.requires_grad)
        return loss


def _plain_descent(net: torch.nn.Module) -> torch.optim.Optimizer:
    return torch.optim.SGD(net.parameters(), lr=RATE)


def _with_data(step: TrainingStep, passes: tuple[Pass, ...]) -> TrainingStep:
    """A step with its data by the names of the scenario's inputs."""
    batches = []
    for batch, arrays in zip(step.batches, passes, strict=True):
        data = (Leaf(name, brief(array, array.dtype.name)) for name, array in arrays.items())
        batches.append(Batch(tuple(data), batch.loss, batch.gradients))
    return msgspec.structs.replace(step, batches=tuple(batches))
