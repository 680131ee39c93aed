"""The main case of a scenario, which asks for most, answered in both styles of one framework."""

from typing import Any

from explorer.model.arrays import unpack
from explorer.model.cases import GradCase
from explorer.model.measurement import Ask, Found
from explorer.model.requests import Description, NetRequest
from explorer.model.results import Result
from explorer.scenario.load import load
from explorer.scenario.matrix import are_losses, cases_of, has_auxiliary
from explorer.scenario.selection import main_case
from explorer.text.failures import message
from explorer.topics.higher_order.nested import sampled
from explorer.topics.scenario_nets import answer, describe, drawn_parameters, net_request


def both_styles(ask: Ask) -> Found:
    """What the tape and the graph of ``ask.options["framework"]`` answer, by their names.

    Every leaf with its shape, norm and some elements; or what was raised.
    """
    framework = ask.options["framework"]
    first_look = net_request(ask, f"{framework}-tape")
    description = describe(first_look)
    start = first_look.parameters or drawn_parameters(description)
    case = asked(ask.scenario, description)
    figures: dict[str, Any] = {}
    for engine in (f"{framework}-tape", f"{framework}-graph"):
        net = NetRequest(scenario=ask.scenario, engine=engine, device=ask.device, parameters=start)
        figures[engine] = leaves_of(answer(net, case))
    return Found({"case": case.label, "answers": figures})


def asked(scenario_file: str, description: Description) -> GradCase:
    """The case of a scenario that asks for most."""
    scenario = load(scenario_file)
    has_weights = any(parameter.trainable for parameter in description.parameters)
    losses = are_losses(scenario, description.outputs)
    return main_case(
        scenario,
        has_auxiliary(description.returned) and not losses,
        has_weights,
        cases_of(scenario, has_weights),
    )


def leaves_of(result: Result) -> dict[str, Any]:
    """The leaves of an answer by name, or what the engine raised."""
    if result.error:
        return {"raised": result.error.type, "message": message(result.error)}
    return {leaf.name: sampled(unpack(leaf.value)) for leaf in result.leaves}
