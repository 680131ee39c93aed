"""The matrix of a scenario answered by one engine on each device that its framework has here; runs
in the worker.
"""

import importlib
from typing import Any

from explorer.model.arrays import pack, unpack
from explorer.model.engines import ENGINES
from explorer.model.measurement import Ask, Found
from explorer.model.requests import CaseRequest, Description, NetRequest, Nothing
from explorer.model.results import About, Result
from explorer.scenario.contract import load
from explorer.scenario.matrix import matrix


def answers(ask: Ask) -> Found:
    """Every case's leaves, by device: the CPU first. A process of MindSpore keeps to one device,
    and answers on that alone.
    """
    engine = ENGINES[ask.options["engine"]]
    module = importlib.import_module(engine.module)
    seen: About = importlib.import_module(f"explorer.engines.{engine.framework}.about").about(
        Nothing()
    )
    names = (ask.device,) if engine.framework == "mindspore" else seen.devices
    return Found({name: on_device(module, ask, engine.name, name) for name in names})


def on_device(module: Any, ask: Ask, engine: str, device: str) -> dict[str, Any]:
    """The outcome and the leaves of every case on one device."""
    scenario = load(ask.scenario)
    start = {name: pack(value) for name, value in (scenario.parameters() or {}).items()}
    request = NetRequest(scenario=ask.scenario, engine=engine, device=device, parameters=start)
    described: Description = module.describe(request)
    weights = any(spec.trainable for spec in described.parameters)
    found: dict[str, Any] = {}
    for case in matrix(len(scenario.inputs()), weights, 1):
        result: Result = module.answer(CaseRequest(request, case))
        leaves = {leaf.name: unpack(leaf.value).tolist() for leaf in result.leaves}
        found[case.label] = {"outcome": result.outcome, "leaves": leaves}
    return found
