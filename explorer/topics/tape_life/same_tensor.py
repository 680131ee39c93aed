"""What an engine answers where one tensor is passed as both arguments."""

from typing import Any

from explorer.model.cases import GradCase
from explorer.model.requests import NetRequest
from explorer.text.failures import message
from explorer.topics.scenario_nets import answer, numbers_by_name

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
