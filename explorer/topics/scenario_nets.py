"""The net of a scenario as an engine's worker has it: its request, its start, the answers."""

import importlib
import zlib
from collections.abc import Iterable
from typing import Any

import msgspec
import numpy as np

from explorer.model.arrays import Array, pack, unpack
from explorer.model.cases import GradCase
from explorer.model.engines import ENGINES
from explorer.model.errors import ExplorerError, MissingNetError, ScenarioError
from explorer.model.measurement import Ask
from explorer.model.requests import CaseRequest, Description, NetRequest
from explorer.model.results import Result
from explorer.scenario.load import load
from explorer.scenario.matrix import cases_of
from explorer.scenario.selection import covering
from explorer.text.failures import typed


def net_request(ask: Ask, engine: str) -> NetRequest:
    """The net of ``ask.scenario`` for an engine, with the scenario's starting values if any.

    Raises MissingNetError where the scenario has none.
    """
    scenario = load(ask.scenario)
    framework = ENGINES[engine].framework
    if not scenario.defines(framework):
        raise MissingNetError(f"scenario {scenario.name} defines no {framework}_net()")
    own = scenario.parameters() or {}
    start = {name: pack(value) for name, value in own.items()}
    return NetRequest(scenario=ask.scenario, engine=engine, device=ask.device, parameters=start)


def drawn_parameters(description: Description) -> dict[str, Array]:
    """Starting values for the trainable parameters of a net, drawn parameter by parameter.

    The draws are uniform within ±1/√(row length). The seed is made of the parameter's name, so that
    both frameworks' workers start alike without talking to each other.
    """
    parameters: dict[str, Array] = {}
    for spec in description.parameters:
        if not spec.trainable:
            continue
        shape = spec.value.shape
        size = int(np.prod(shape, dtype=int))
        rows = shape[0] if len(shape) > 1 else 1
        row_length = max(size // rows, 1)
        # crc32 and not hash(), which is salted in every process.
        generator = np.random.default_rng(zlib.crc32(spec.name.encode()))
        draws = generator.uniform(-1, 1, size) / np.sqrt(row_length)
        parameters[spec.name] = pack(draws.reshape(shape).astype(np.float32), spec.value.dtype)
    return parameters


def describe(net: NetRequest) -> Description:
    """What the engine that ``net`` names finds at the first look at it."""
    description: Description = _engine_of(net).describe(net)
    return description


def answer(net: NetRequest, case: GradCase) -> Result:
    """What the engine that ``net`` names answers to a case."""
    result: Result = _engine_of(net).answer(CaseRequest(net, case))
    return result


def numbers_by_name(result: Result) -> dict[str, Any]:
    """The numbers of each tensor of an answer, nested by shape, under the tensor's name."""
    return {leaf.name: unpack(leaf.value).tolist() for leaf in result.leaves}


def covering_answers(ask: Ask, engine: str, devices: Iterable[str]) -> dict[str, Any]:
    """The outcome and the leaves of some cases of the first order, by the device and the case's label.

    They are as few as show each way to ask once. Where no case is answered on any device, it raises
    with what was said first: ScenarioError if the net raised, ExplorerError if the engine cannot do it.
    """
    refused: list[Result] = []
    answers = {device: _covering_answers(ask, engine, device, refused) for device in devices}
    outcomes = {case["outcome"] for cases in answers.values() for case in cases.values()}
    if refused and "ok" not in outcomes:
        first = refused[0]
        kind = ScenarioError if first.outcome == "raised" else ExplorerError
        why = typed(first.error) if first.error else first.outcome
        raise kind(f"no case is answered: {why}")
    return answers


def _covering_answers(
    ask: Ask, engine: str, device: str, refused: list[Result]
) -> dict[str, dict[str, Any]]:
    """The answers on one device; those without tensors are added to ``refused``."""
    net = msgspec.structs.replace(net_request(ask, engine), device=device)
    has_parameters = any(parameter.trainable for parameter in describe(net).parameters)
    cases: dict[str, dict[str, Any]] = {}
    # Each case costs graph style a compilation, and another device computes all of them alike.
    for case in covering(cases_of(load(ask.scenario), has_parameters)):
        result = answer(net, case)
        cases[case.label] = {"outcome": result.outcome, "leaves": numbers_by_name(result)}
        # That a case which nobody can answer is refused says nothing about the net.
        if result.outcome != "ok" and not case.must_fail:
            refused.append(result)
    return cases


def _engine_of(net: NetRequest) -> Any:
    # Imported by name: a worker can import the engines of its own framework alone.
    return importlib.import_module(ENGINES[net.engine].module)
