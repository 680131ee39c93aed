"""A gradient written by hand in PyTorch: `autograd.Function` whose forward is numpy's."""

from typing import Any

import numpy as np
import torch

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt_briefly
from explorer.topics.in_torch import numbers


def drawn_by_numpy(x: Any, count: int) -> tuple[Any, Any]:
    """Some of the numbers above 0.5 of each row and their places."""
    values, places = [], []
    for row in x.detach().numpy():
        drawn = np.random.choice(np.where(row > 0.5)[0], count)
        values.append(torch.from_numpy(row[drawn]))
        places.append(torch.from_numpy(drawn))
    return torch.stack(values), torch.stack(places)


class Sampler(torch.autograd.Function):  # type: ignore[misc]  # checked without following torch
    """The numbers drawn and their places, with a rule for the gradient."""

    @staticmethod
    def forward(ctx: Any, x: Any, count: int) -> Any:
        """The numbers drawn, and their places."""
        values, places = drawn_by_numpy(x, count)
        ctx.save_for_backward(x, places)
        ctx.mark_non_differentiable(places)
        return values, places

    @staticmethod
    def backward(ctx: Any, values_gradient: Any, _: Any) -> Any:
        """The gradient of each number, added up at the place that it was drawn from."""
        x, places = ctx.saved_tensors
        return torch.zeros_like(x).scatter_add(1, places, values_gradient), None


def function(ask: Ask) -> Found:
    """The places drawn, and the gradient, without a rule and with one."""
    style = ask.options["style"]
    return Found(
        {
            "without": attempt_briefly(places_and_gradient, style, drawn_by_numpy),
            "as meant": attempt_briefly(places_and_gradient, style, Sampler.apply),
        }
    )


def places_and_gradient(style: str, sampler: Any) -> dict[str, Any]:
    """What a call of the sampler drew, and the gradient of its numbers' sum."""
    np.random.seed(1)
    x = torch.tensor(np.random.uniform(0, 3, (2, 5)), dtype=torch.float32, requires_grad=True)
    if style == "graph":
        sampler = torch.compile(sampler, backend="aot_eager", fullgraph=True)
    values, places = sampler(x, 3)
    torch.compiler.reset()  # each function is compiled as if it were the first
    (gradient,) = torch.autograd.grad(values.sum(), x)
    return {"places": numbers(places), "gradient": numbers(gradient)}
