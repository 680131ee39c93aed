"""Trains a scenario's net in PyTorch, and records each step."""

import torch

from explorer.engines.torch.errors import failure
from explorer.engines.torch.net import Net, build, flat, start_random_numbers, tensors
from explorer.engines.torch.step_trace import StepInTorch
from explorer.engines.torch.training_recorder import TrainingInTorch
from explorer.engines.trained_net import RATE, Step, trained
from explorer.model.arrays import SMALL, AnyArray
from explorer.model.requests import TrainingRequest
from explorer.model.training import Training
from explorer.scenario.training import Pass, Plan


def train(request: TrainingRequest) -> Training:
    """Train a net, and record it; what its code raises is said in the record."""
    net = build(request.net)
    recorder = TrainingInTorch(net.call)

    def begin(plan: Plan) -> Step:
        return _Loop(net, plan, request.has_one_loss).step

    def whole_step() -> StepInTorch:
        return StepInTorch(net.call, values=SMALL, start=0, memory=None)

    return trained(request, "torch", net.scenario, recorder, begin, whole_step, failure)


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

    def step(self, passes: tuple[Pass, ...]) -> list[None]:
        """One update by the gradients of some passes, whose losses the recorder sees."""
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
        return [None] * len(passes)

    def _loss(self, arrays: dict[str, AnyArray]) -> torch.Tensor:
        device = next(self._net.call.parameters()).device
        outputs = list(flat(self._net.call(*tensors(arrays, str(device)).values())))
        outputs = outputs[:1] if self._has_one_loss else outputs
        loss: torch.Tensor = sum(output.sum() for output in outputs if output.requires_grad)
        return loss


def _plain_descent(net: torch.nn.Module) -> torch.optim.Optimizer:
    return torch.optim.SGD(net.parameters(), lr=RATE)
