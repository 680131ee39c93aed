"""What an engine itself says of a net and of its cases, as figures; runs in that engine's worker."""

import importlib
from typing import Any

from explorer.model.arrays import unpack
from explorer.model.cases import GradCase
from explorer.model.engines import ENGINES
from explorer.model.requests import CaseRequest, Description, NetRequest
from explorer.model.results import Result


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


def _engine_of(net: NetRequest) -> Any:
    # Imported by name: a worker can import the engines of its own framework alone.
    return importlib.import_module(ENGINES[net.engine].module)
