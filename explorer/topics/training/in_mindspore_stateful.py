"""A training step in MindSpore whose optimizer keeps a state, with and without ms.jit."""

from typing import Any

import mindspore as ms
from mindspore import nn

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt
from explorer.topics.in_mindspore import numbers, set_style
from explorer.topics.training.in_mindspore_dispatches import OperatorRecorder
from explorer.topics.training.inputs import OWN_MOMENTUM, RATE, STEPS


def steps(ask: Ask) -> Found:
    """The losses of five steps with momentum, and what they leave, by themselves and under ms.jit."""
    style = ask.options["style"]
    return Found(
        {
            "by itself": attempt(_trained, style, ask.device, False),
            "ms.jit": attempt(_trained, style, ask.device, True),
        }
    )


def _trained(style: str, device: str, is_jitted: bool) -> dict[str, Any]:
    """The loss before each update, and the weight and the optimizer's state after the last.

    In tape style, beside them, how many operators the last step dispatched one by one: none where
    it is one graph. In graph style the dispatch cannot be observed (2.10.0).
    """
    set_style(style, device)
    weight = ms.Parameter(ms.Tensor([1.0, 2.0]), name="weight")
    optimizer = nn.Momentum([weight], RATE, OWN_MOMENTUM)

    def loss_of(x: Any) -> Any:
        """How far the weighted inputs are from 1."""
        return ((weight * x - 1.0) ** 2).sum()

    gradients_of = ms.value_and_grad(loss_of, None, optimizer.parameters)

    def step(x: Any) -> Any:
        """The loss before the update; the function's state is the weight and the optimizer's."""
        loss, gradients = gradients_of(x)
        optimizer(gradients)
        return loss

    run = ms.jit(step) if is_jitted else step
    x = ms.Tensor([0.5, 1.5])
    losses = []
    for _ in range(STEPS):
        recorder = OperatorRecorder()
        with recorder:
            loss = run(x)
        losses.append(numbers(loss))
    figures = {
        "losses": losses,
        "weight": numbers(weight),
        "moments": numbers(list(optimizer.moments)),
        "steps counted": numbers(optimizer.global_step),
    }
    if style == "tape":
        figures["dispatched"] = len(recorder.operators)
    return figures
