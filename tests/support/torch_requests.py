"""Requests to the PyTorch worker about shipped scenarios and the nets of the tests."""

from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from explorer.model.arrays import pack, unpack
from explorer.model.cases import GradCase
from explorer.model.engines import ENGINES
from explorer.model.graph import GradGraph
from explorer.model.requests import CaseRequest, Description, NetRequest
from explorer.model.results import Captured, OracleResult, Result, ResultNoise
from explorer.scenario.find import FOLDER
from explorer.scenario.load import load
from explorer.workers.protocol import Lost
from explorer.workers.workers import Workers
from tests.support.nets import NETS
from tests.support.worker_targets import Word

Reply = TypeVar("Reply")

TORCH_ENGINES = ("torch-tape", "torch-graph")

EVERYTHING = GradCase("value_and_grad", 0, "all", has_aux=True)
"""The case that asks most of a net with several outputs."""

BARE = GradCase("value_and_grad", 0, "all")
"""The same of a net with a bare output, which has nothing to set aside."""


class Torch:
    """Both PyTorch engines, and the oracle, behind one crew of workers."""

    def __init__(self, workers: Workers) -> None:
        self.workers = workers
        self._start = cache(self._described_start)

    def describe(self, name: str, engine: str = "torch-tape") -> Description:
        request = NetRequest(scenario=str(path(name)), engine=engine)
        return self._call(engine, "describe", request, Description)

    def answer(self, name: str, engine: str, case: GradCase) -> Result:
        return self._call(engine, "answer", CaseRequest(self.net(name, engine), case), Result)

    def capture(self, name: str, engine: str, case: GradCase, values: bool = True) -> Captured:
        request = CaseRequest(self.net(name, engine), case, values)
        return self._call(engine, "capture", request, Captured)

    def replay(self, name: str, engine: str, case: GradCase) -> Result:
        return self._call(engine, "replay", CaseRequest(self.net(name, engine), case), Result)

    def estimate(self, name: str, case: GradCase) -> OracleResult:
        request = CaseRequest(self.net(name, "torch-tape"), case)
        target = "explorer.engines.oracle:estimate"
        return got(self.workers.call("torch", target, request, OracleResult))

    def noise(self, name: str, case: GradCase, engine: str = "torch-tape") -> ResultNoise:
        request = CaseRequest(self.net(name, engine), case)
        target = "explorer.engines.torch.noise:results"
        return got(self.workers.call("torch", target, request, ResultNoise))

    def tensors_left(self, name: str, engine: str, case: GradCase) -> int:
        """How many tensors more there are after a capture, before any search for garbage."""
        request = CaseRequest(self.net(name, engine), case)
        target = "tests.support.worker_targets:tensors_left"
        return int(got(self.workers.call("torch", target, request, Word)).text)

    def net(self, name: str, engine: str) -> NetRequest:
        """A net that starts from the scenario's parameters, or else as it declares them."""
        return msgspec.structs.replace(self._start(name), engine=engine)

    def _described_start(self, name: str) -> NetRequest:
        specs = self.describe(name).parameters
        start = {spec.name: spec.value for spec in specs}
        for parameter, value in (load(path(name)).parameters() or {}).items():
            start[parameter] = pack(value)
        trainable = tuple(spec.name for spec in specs if spec.trainable)
        return NetRequest(
            scenario=str(path(name)), engine="", parameters=start, trainable=trainable
        )

    def _call(
        self, engine: str, function: str, request: msgspec.Struct, reply: type[Reply]
    ) -> Reply:
        target = f"{ENGINES[engine].module}:{function}"
        return got(self.workers.call("torch", target, request, reply))


def path(name: str) -> Path:
    """The file of a net: one of the tests' own, or a shipped scenario."""
    own = NETS / f"{name}.py"
    return own if own.exists() else FOLDER / f"{name}.py"


def got(reply: Reply | Lost) -> Reply:
    """A reply that did come."""
    assert not isinstance(reply, Lost), reply
    return reply


def values(result: Result) -> dict[str, Any]:
    """The leaves of an answer by name, as nested lists."""
    assert result.outcome == "ok", result.error
    return {leaf.name: unpack(leaf.value).tolist() for leaf in result.leaves}


def only_graph(captured: Captured) -> GradGraph:
    """The graph of a capture that succeeded."""
    assert captured.result.outcome == "ok", captured.result.error
    (graph,) = captured.graphs
    return graph
