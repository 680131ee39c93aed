"""Rows 1 to 7: grad of the guide's net by each choice of positions and weights."""

from typing import Any

from tests.independent.guide_net import W, X, Y, mindspore_arguments, mindspore_net, spelt

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


def closed_form() -> dict[str, Any]:
    """The gradient of (x·w − y)², which is 1, and the logits beside it or within it."""
    error = float((X * W).sum() - Y)
    by_position = [(2 * error * W).tolist(), -2 * error]
    figures: dict[str, Any] = {}
    for row, (positions, by_weights, has_aux) in CALLS.items():
        chosen = [] if positions is None else [positions] if positions in (0, 1) else positions
        values: list[Any] = [by_position[position] for position in chosen]
        if by_weights:
            values.append((2 * error * X).tolist())
        figures[row] = {"values": [*values, 20.0] if has_aux else [((2 * error + 1) * W).tolist()]}
    return figures


def in_mindspore() -> dict[str, Any]:
    """What grad returns."""
    import mindspore as ms

    figures: dict[str, Any] = {}
    for row, (positions, by_weights, has_aux) in CALLS.items():
        net = mindspore_net()
        weights = ms.ParameterTuple(net.trainable_params()) if by_weights else None
        result = ms.grad(net, positions, weights, has_aux=has_aux)(*mindspore_arguments())
        figures[row] = spelt(result)
    return figures
