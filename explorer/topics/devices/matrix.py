"""The matrix of a scenario as one engine answers it on one device; runs in that engine's worker."""

from typing import Any

import msgspec

from explorer.model.measurement import Ask
from explorer.scenario import matrix
from explorer.scenario.load import load
from explorer.topics.engine_answers import answer, describe, numbers_by_name
from explorer.topics.starting_values import net_request


def answers(ask: Ask, engine: str, device: str) -> dict[str, Any]:
    """The outcome and the leaves of every case of the first order, by the case's label."""
    net = msgspec.structs.replace(net_request(ask, engine), device=device)
    has_parameters = any(parameter.trainable for parameter in describe(net).parameters)
    inputs = len(load(ask.scenario).inputs())
    cases: dict[str, Any] = {}
    for case in matrix.matrix(inputs, has_parameters):
        result = answer(net, case)
        cases[case.label] = {"outcome": result.outcome, "leaves": numbers_by_name(result)}
    return cases
