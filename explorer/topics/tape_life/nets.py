"""Programs of the study's own, in plain Python that every engine takes as it stands.

MindSpore compiles this source.
"""

from typing import Any

from explorer.model.cases import GradCase
from explorer.model.requests import NetRequest
from explorer.text.failures import message
from explorer.topics.scenario_nets import answer, numbers_by_name


def cubes(x: Any) -> Any:
    """The sum of cubes: 3x² is its derivative."""
    return (x * x * x).sum()


def changed_result(x: Any) -> Any:
    """Σ(eˣ + 1), the 1 added in place to what exp keeps for backward: eˣ is the derivative."""
    y = x.exp()
    y.add_(1.0)
    return y.sum()


def changed_operand(x: Any) -> Any:
    """x² summed, one operand changed in place after the product was made: 2x is the derivative."""
    z = x * 1.0
    y = z * z
    z.add_(1.0)
    return y.sum()


def doubled(gradient: Any) -> Any:
    """A hook that doubles what passes by."""
    return gradient * 2.0


def hooked(x: Any) -> Any:
    """x² summed, with a hook that doubles the gradient on the way: 4x comes out."""
    y = x * x
    y.register_hook(doubled)
    return y.sum()


ARGUMENTS = ("a", "b")
"""The inputs of the scenario aliased_input, which are one tensor."""


def by_each_argument(net: NetRequest) -> dict[str, Any]:
    """The engine's gradient with respect to each argument, or what it raised."""
    figures: dict[str, Any] = {}
    for position, name in enumerate(ARGUMENTS):
        result = answer(net, GradCase("grad", position))
        if result.error:
            figure = {"raised": result.error.type, "message": message(result.error)}
        else:
            figure = numbers_by_name(result)
        figures[f"by {name}"] = figure
    return figures
