"""What claims about gradients ask of an engine: one case on one net, its answer as figures. Run in
that engine's worker.
"""

import importlib
from typing import Any

import msgspec

from explorer.model.arrays import unpack
from explorer.model.cases import GradCase
from explorer.model.engines import ENGINES
from explorer.model.measurement import Ask, Found, Measurement
from explorer.model.requests import CaseRequest
from explorer.model.results import Result
from explorer.text.messages import message
from explorer.topics.starting_values import net_request


def answer(ask: Ask) -> Found:
    """One engine's answer to one case: its structure, its tensors from left to right, and the code
    that gets it.
    """
    engine = ask.options["engine"]
    case = case_of(ask.options["case"])
    result: Result = importlib.import_module(ENGINES[engine].module).answer(
        CaseRequest(net_request(ask, engine), case)
    )
    if result.error:
        return Found(
            {
                "raised": result.error.type,
                "message": message(result.error.message),
                "code": result.code,
            }
        )
    values = [unpack(leaf.value).tolist() for leaf in result.leaves]
    return Found(
        {
            "structure": result.structure,
            "natural": result.natural,
            "values": values,
            "code": result.code,
        }
    )


def case_of(options: dict[str, Any]) -> GradCase:
    """The case that a measurement's options describe: a list is a tuple of positions."""
    position = options.get("grad_position")
    return GradCase(
        **{**options, "grad_position": tuple(position) if isinstance(position, list) else position}
    )


def measurement(engine: str, scenario: str, net: str, **case: Any) -> Measurement:
    """The measurement of one case; ``net`` is what its name calls the scenario."""
    asked = case_of(case)
    return Measurement(
        name=f"gradients.{asked.label.replace('net', net)}.{engine}",
        kind=ENGINES[engine].framework,
        target=f"{__name__}:answer",
        scenario=scenario,
        options={"engine": engine, "case": msgspec.to_builtins(asked)},
    )
