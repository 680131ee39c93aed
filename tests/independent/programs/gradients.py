"""The figures of the claims on calls of grad."""

from typing import Any

import numpy as np

from tests.independent.attempts import attempt, plain
from tests.independent.guide_net import (
    BY_INPUT,
    BY_TARGET,
    BY_WEIGHT,
    ERROR,
    WEIGHT,
    mindspore_arguments,
    mindspore_net,
    spelt,
    torch_leaves,
    torch_net,
)

# Rows 1 to 8, and 10: grad and value_and_grad of the guide's net by each choice of positions and weights.
CALLS: dict[str, tuple[Any, bool, bool]] = {
    "1": (0, False, True),
    "2": (1, False, True),
    "3": ((0, 1), False, True),
    "4": (None, True, True),
    "5": (0, True, True),
    "6": ((0, 1), True, True),
    "7": (0, False, False),
}
"""By row: the positions, whether by the weights too, and whether the logits are left out (has_aux)."""


def row_01_closed_form() -> dict[str, Any]:
    """The gradient of (x·w − y)², which is 1, and the logits beside it or within it."""
    by_position = [BY_INPUT.tolist(), BY_TARGET]
    figures: dict[str, Any] = {}
    for row, (positions, by_weights, has_aux) in CALLS.items():
        chosen = [] if positions is None else [positions] if positions in (0, 1) else positions
        values: list[Any] = [by_position[position] for position in chosen]
        if by_weights:
            values.append(BY_WEIGHT.tolist())
        of_both = [(BY_INPUT + WEIGHT).tolist()]
        figures[row] = {"values": [*values, 20.0] if has_aux else of_both}
        figures[row]["with value"] = [ERROR**2, 20.0, *(values if has_aux else of_both)]
    return figures


def row_01_in_mindspore(ms: Any) -> dict[str, Any]:
    """What grad returns, also of a net that returns the sum; the structure of value_and_grad's result."""
    figures: dict[str, Any] = {}
    for row, (positions, by_weights, has_aux) in CALLS.items():
        net = mindspore_net()
        weights = ms.ParameterTuple(net.trainable_params()) if by_weights else None
        result = ms.grad(net, positions, weights, has_aux=has_aux)(*mindspore_arguments())
        with_value = ms.value_and_grad(net, positions, weights, has_aux=has_aux)
        figures[row] = {
            **spelt(result),
            "with value": spelt(with_value(*mindspore_arguments()))["structure"],
        }
    figures["of the sum"] = spelt(ms.grad(mindspore_net("sum"), 0)(*mindspore_arguments()))
    return figures


# Row 9: asking for neither a position nor weights.
def row_09_in_mindspore(ms: Any) -> dict[str, Any]:
    """The error, which may come from grad or from the call of what it returns."""

    def gradient() -> Any:
        return ms.grad(mindspore_net(), None, None)(*mindspore_arguments())

    return dict(attempt(gradient, with_message=True))


def row_09_in_torch(torch: Any) -> dict[str, Any]:
    """The error of autograd.grad with no inputs."""
    loss, _ = torch_net(*torch_leaves())
    return dict(attempt(torch.autograd.grad, [loss], [], with_message=True))


# Row 11: GradOperation, the older form of grad.
def row_11_in_mindspore(ms: Any) -> dict[str, Any]:
    """What its four forms return on the net with two outputs."""
    net = mindspore_net()
    weights = ms.ParameterTuple(net.trainable_params())
    calls = {
        "first": ms.ops.GradOperation()(net),
        "all": ms.ops.GradOperation(get_all=True)(net),
        "by list": ms.ops.GradOperation(get_by_list=True)(net, weights),
        "all, by list": ms.ops.GradOperation(get_all=True, get_by_list=True)(net, weights),
    }
    return {name: spelt(call(*mindspore_arguments())) for name, call in calls.items()}


# Rows 75 and 91: a gradient written by hand for the sign, and for numbers that numpy draws.
POINTS = (-1.5, -0.25, 0.5, 2.0)
SEED, COUNT = 1, 3


def row_75_closed_form() -> dict[str, Any]:
    """The gradients that were told: of (3 sign x)³ with a slope of 1 within [−1, 1]; of the draws."""
    told = [81.0 if abs(point) <= 1 else 0.0 for point in POINTS]
    generator = np.random.RandomState(SEED)
    rows = generator.uniform(0, 3, (2, 5)).astype(np.float32)
    # A call to look at, whose draws the gradient counts where the tape has kept them; a compiled
    # gradient draws again.
    first, second = _draws(generator, rows), _draws(generator, rows)
    return {
        "told": told,
        "structure": "dx",
        "without": [[0.0] * 5] * 2,
        "places": first,
        "kept": _counts(first),
        "drawn again": _counts(second),
    }


def _draws(generator: Any, rows: Any) -> list[list[int]]:
    return [generator.choice(np.where(row > 0.5)[0], COUNT).tolist() for row in rows]


def _counts(places: list[list[int]]) -> list[list[float]]:
    return [np.bincount(row, minlength=5).astype(float).tolist() for row in places]


def row_75_in_torch(torch: Any) -> dict[str, Any]:
    """What becomes of a draw by numpy without a rule for it."""
    x = torch.tensor(POINTS, requires_grad=True)

    def drawn_by_numpy() -> None:
        np.random.seed(SEED)
        places = np.random.choice(np.where(x.detach().numpy() > 0)[0], COUNT)
        torch.tensor(x.detach().numpy()[places]).sum().backward()

    return {"without": attempt(drawn_by_numpy)}


def row_75_in_mindspore(ms: Any) -> dict[str, Any]:
    """The gradient of the draws with a rule that returns no tuple."""

    class Drawing(ms.nn.Cell):  # type: ignore[misc]  # mindspore ships no types
        def construct(self, x: Any) -> Any:
            first, second = x[0].asnumpy(), x[1].asnumpy()
            left = np.random.choice(np.where(first > 0.5)[0], 3)
            right = np.random.choice(np.where(second > 0.5)[0], 3)
            drawn = ms.ops.stack((ms.Tensor(first[left]), ms.Tensor(second[right])))
            places = ms.ops.stack((ms.Tensor(left, ms.int32), ms.Tensor(right, ms.int32)))
            return drawn, places

        def bprop(self, x: Any, out: Any, dout: Any) -> Any:
            hits = ms.ops.one_hot(out[1], 5, ms.Tensor(1.0), ms.Tensor(0.0))
            return (hits * dout[0].expand_dims(-1)).sum(1)

    drawing = Drawing()

    def counts() -> Any:
        np.random.seed(SEED)
        rows = ms.Tensor(np.random.uniform(0, 3, (2, 5)), ms.float32)
        drawing.set_grad()
        drawing(rows)
        return plain(ms.ops.GradOperation()(drawing)(rows))

    return {"bare": attempt(counts)}


# Rows 80 and 81: has_aux with one output, with a tuple of one, and with two, of Σ(3x)² at (1, 2, 3),
# and both outputs differentiated, with 3x stopped, and not.
POINT = np.array([1, 2, 3], np.float32)


def row_80_closed_form() -> dict[str, Any]:
    """The gradients of the loss alone, of the loss and of 3x together, and of nothing; 3x."""
    return {
        "gradient": (18 * POINT).tolist(),
        "beside": (3 * POINT).tolist(),
        "both": (18 * POINT + 3).tolist(),
        "nothing": [0.0] * len(POINT),
    }


def loss(x: Any) -> Any:
    """The loss alone."""
    return ((3 * x) ** 2).sum()


def loss_in_a_tuple(x: Any) -> Any:
    """The loss in a tuple of one."""
    return (((3 * x) ** 2).sum(),)


OUTPUTS = {"one": loss, "a tuple of one": loss_in_a_tuple}


def row_80_in_torch(torch: Any) -> dict[str, Any]:
    """What torch.func.grad makes of one output, and backward of a loss that was detached before."""

    def gradient(function: Any) -> Any:
        return plain(torch.func.grad(function, has_aux=True)(torch.tensor(POINT)))

    figures = {name: attempt(gradient, function) for name, function in OUTPUTS.items()}
    x = torch.tensor(POINT, requires_grad=True)
    figures["stopped before"] = attempt((3 * x.detach()).sum().backward)
    return figures


def row_80_in_mindspore(ms: Any) -> dict[str, Any]:
    """What mindspore.grad makes of one output."""

    def gradient(function: Any) -> Any:
        return plain(ms.grad(function, 0, None, has_aux=True)(ms.Tensor(POINT)))

    return {name: attempt(gradient, function) for name, function in OUTPUTS.items()}


# Row 82: what grad takes as positions and as weights, of (w·x) y at x = (1, 2), y = 4, w = (2, 3).
ROW, FACTOR, SCALES = ([[1.0, 2.0]], [[4.0]], [[2.0, 3.0]])

POSITIONS: dict[str, Any] = {
    "0": 0,
    "1": 1,
    "(0, 1)": (0, 1),
    "'0'": "0",
    "True": True,
    "[0, 1]": [0, 1],
    "()": (),
    "-1": -1,
    "(0, 0)": (0, 0),
    "2": 2,
}


def row_82_closed_form() -> dict[str, Any]:
    """The gradients with respect to x, y and w, each y, w·x and x times what remains."""
    x, y, w = np.array(ROW), np.array(FACTOR), np.array(SCALES)
    by_x, by_y, by_w = (y * w).tolist(), (x @ w.T).tolist(), (y * x).tolist()
    return {"0": by_x, "1": by_y, "(0, 1)": [by_x, by_y], "weight": by_w, "weights": [by_w]}


def row_82_in_torch(torch: Any) -> dict[str, Any]:
    """Positions as torch.func.grad takes them, and weights as autograd.grad does."""
    weight = torch.tensor(SCALES, requires_grad=True)

    def function(x: Any, y: Any) -> Any:
        return ((x * weight).sum() * y).sum()

    def by_position(position: Any) -> Any:
        arguments = torch.tensor(ROW), torch.tensor(FACTOR)
        return plain(torch.func.grad(function, position)(*arguments))

    def by_weights(weights: Any) -> Any:
        value = function(torch.tensor(ROW), torch.tensor(FACTOR))
        return plain(torch.autograd.grad(value, weights))

    forms = {
        "Parameter": weight,
        "list": [weight],
        "tuple": (weight,),
        "string": "weight",
        "Tensor": torch.tensor([1.0]),
        "empty list": [],
        "one Parameter twice": [weight, weight],
        "another net's Parameter": [torch.zeros(1, requires_grad=True)],
    }
    return {
        "positions": {name: attempt(by_position, form) for name, form in POSITIONS.items()},
        "weights": {name: attempt(by_weights, form) for name, form in forms.items()},
    }


def row_82_in_mindspore(ms: Any) -> dict[str, Any]:
    """Positions and weights as mindspore.grad takes them."""
    weight = ms.Parameter(ms.Tensor(SCALES, ms.float32), name="weight")

    def function(x: Any, y: Any) -> Any:
        return ((x * weight).sum() * y).sum()

    def gradient(position: Any, weights: Any) -> Any:
        arguments = ms.Tensor(ROW, ms.float32), ms.Tensor(FACTOR, ms.float32)
        return plain(ms.grad(function, position, weights)(*arguments))

    forms = {
        "ParameterTuple": ms.ParameterTuple([weight]),
        "Parameter": weight,
        "list": [weight],
        "tuple": (weight,),
        "string": "weight",
        "Tensor": ms.Tensor([1.0]),
        "empty list": [],
        "one Parameter twice": [weight, weight],
        "another net's Parameter": [ms.Parameter(ms.Tensor([0.0]), name="stranger")],
    }
    return {
        "positions": {name: attempt(gradient, form, None) for name, form in POSITIONS.items()},
        "weights": {name: attempt(gradient, None, form) for name, form in forms.items()},
    }


# Row 89: the value and the gradient of a sum of squares by a function of a function.
def row_89_closed_form() -> dict[str, Any]:
    """Σx² and 2x."""
    x = (1.0, 2.0, 3.0)
    return {"value": sum(value**2 for value in x), "gradient": [2 * value for value in x]}


# Row 90: what grad returns of (w · x) y by default, at w = (2, 3), x = (1, 2), y = 4.
def row_90_closed_form() -> dict[str, Any]:
    """The gradient w·y with respect to x; the value and the gradient x·y with respect to w."""
    w, x, y = (2.0, 3.0), (1.0, 2.0), 4.0
    value = sum(a * b for a, b in zip(w, x, strict=True)) * y
    return {"x": [[a * y for a in w]], "value": value, "w": [[b * y for b in x]]}
