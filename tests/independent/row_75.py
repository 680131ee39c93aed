"""Row 75: a gradient written by hand for the sign, and for numbers that numpy draws."""

from typing import Any

import numpy as np

from tests.independent.attempts import attempt

POINTS = (-1.5, -0.25, 0.5, 2.0)
SEED, COUNT = 1, 3


def closed_form() -> dict[str, Any]:
    """The gradients that were told: of (3 sign x)³ with a slope of 1 within [−1, 1]; of the draws."""
    told = [81.0 if abs(point) <= 1 else 0.0 for point in POINTS]
    generator = np.random.RandomState(SEED)
    rows = generator.uniform(0, 3, (2, 5)).astype(np.float32)
    # A call to look at, whose draws the gradient counts where the tape has kept them; a compiled
    # gradient draws again.
    first, second = _draws(generator, rows), _draws(generator, rows)
    nothing = [[0.0] * 5] * 2
    return {
        "told": told,
        "without": nothing,
        "places": first,
        "kept": _counts(first),
        "drawn again": _counts(second),
    }


def _draws(generator: Any, rows: Any) -> list[list[int]]:
    return [generator.choice(np.where(row > 0.5)[0], COUNT).tolist() for row in rows]


def _counts(places: list[list[int]]) -> list[list[float]]:
    return [np.bincount(row, minlength=5).astype(float).tolist() for row in places]


def in_torch() -> dict[str, Any]:
    """The gradient of the sign by an autograd.Function."""
    import torch

    class Sign(torch.autograd.Function):  # type: ignore[misc]  # not checked, see pyproject.toml
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x.sign()

        @staticmethod
        def backward(ctx: Any, cotangent: Any) -> Any:
            return cotangent * (ctx.saved_tensors[0].abs() <= 1)

    x = torch.tensor(POINTS, requires_grad=True)
    ((3 * Sign.apply(x)) ** 3).sum().backward()

    def drawn_by_numpy() -> None:
        np.random.seed(SEED)
        places = np.random.choice(np.where(x.detach().numpy() > 0)[0], COUNT)
        torch.tensor(x.detach().numpy()[places]).sum().backward()

    return {"told": x.grad.tolist(), "without": attempt(drawn_by_numpy)}


def in_mindspore() -> dict[str, Any]:
    """The gradient of the sign by a bprop, and of the draws with a rule that returns no tuple."""
    import mindspore as ms
    from mindspore import nn, ops

    class Sign(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
        def construct(self, x: Any) -> Any:
            return ops.sign(x)

        def bprop(self, x: Any, out: Any, dout: Any) -> Any:
            return (dout * (x.abs() <= 1),)

    class Drawing(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
        def construct(self, x: Any) -> Any:
            first, second = x[0].asnumpy(), x[1].asnumpy()
            left = np.random.choice(np.where(first > 0.5)[0], 3)
            right = np.random.choice(np.where(second > 0.5)[0], 3)
            drawn = ops.stack((ms.Tensor(first[left]), ms.Tensor(second[right])))
            places = ops.stack((ms.Tensor(left, ms.int32), ms.Tensor(right, ms.int32)))
            return drawn, places

        def bprop(self, x: Any, out: Any, dout: Any) -> Any:
            hits = ops.one_hot(out[1], 5, ms.Tensor(1.0), ms.Tensor(0.0))
            return (hits * dout[0].expand_dims(-1)).sum(1)

    sign, drawing = Sign(), Drawing()

    def cubed(x: Any) -> Any:
        return ((3 * sign(x)) ** 3).sum()

    def counts() -> Any:
        np.random.seed(SEED)
        rows = ms.Tensor(np.random.uniform(0, 3, (2, 5)), ms.float32)
        drawing.set_grad()
        drawing(rows)
        return ops.GradOperation()(drawing)(rows).asnumpy().tolist()

    told = ms.grad(cubed)(ms.Tensor(POINTS, ms.float32))
    return {"told": told.asnumpy().tolist(), "bare": attempt(counts)}
