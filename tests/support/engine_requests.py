"""What the engines of one framework describe, answer, capture and measure, asked through their workers."""

import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import pytest

from explorer.environments.known import home_of
from explorer.model.arrays import pack, unpack
from explorer.model.cases import GradCase
from explorer.model.engines import ENGINES, FRAMEWORKS, Framework
from explorer.model.graph import GradGraph
from explorer.model.requests import CaseRequest, Description, NetRequest, ProofScope
from explorer.model.results import Captured, OracleResult, Result, ResultNoise
from explorer.scenario.load import load
from explorer.scenario.selection import widest
from explorer.workers.environments import ROOT, worker_environment
from explorer.workers.protocol import Lost
from explorer.workers.workers import Workers
from tests.support.command_line import ran
from tests.support.nets import net_file
from tests.support.worker_targets import TimeFor

Reply = TypeVar("Reply")

TORCH_ENGINES = ("torch-tape", "torch-graph")
MINDSPORE_ENGINES = ("mindspore-graph", "mindspore-tape")
JAX_ENGINES = ("jax-tape", "jax-graph")

FIRST = GradCase("grad", 0)

EVERYTHING = GradCase("value_and_grad", 0, "all", has_aux=True)
"""The case that asks most of a net with several outputs."""

EACH_FRAMEWORK = [pytest.param(name, marks=getattr(pytest.mark, name)) for name in FRAMEWORKS]


def each(engines: Iterable[str], *values: Any, whole: bool = False) -> list[Any]:
    """A test's parameters for each of some engines: its name, then the values; with its marker."""
    parameters = []
    for name in engines:
        marks = [getattr(pytest.mark, ENGINES[name].framework)]
        marks += [pytest.mark.whole] if whole else []
        parameters.append(pytest.param(name, *values, marks=marks))
    return parameters


EACH_ENGINE = each(ENGINES)


class EngineRequests:
    """Asks the engines of one framework about nets of the tests and shipped scenarios, by name."""

    def __init__(self, workers: Workers, framework: Framework) -> None:
        self.workers = workers
        self.framework: Framework = framework
        self.tape = f"{framework}-tape"
        self._nets: dict[str, NetRequest] = {}

    def describe(self, name: str, engine: str = "") -> Description:
        request = NetRequest(scenario=str(net_file(name)), engine=engine or self.tape)
        return self._ask(request.engine, "describe", request, Description)

    def net(self, name: str, engine: str) -> NetRequest:
        """A net with the start that an exploration settles for it; looked at once."""
        if name not in self._nets:
            of_framework = self._declared if self.framework == "jax" else self._described
            self._nets[name] = of_framework(name)
        return msgspec.structs.replace(self._nets[name], engine=engine)

    def _described(self, name: str) -> NetRequest:
        """A net that starts as it describes itself, but for the scenario's parameters."""
        specs = self.describe(name).parameters
        start = {spec.name: spec.value for spec in specs}
        for key, value in (load(net_file(name)).parameters() or {}).items():
            start[key] = pack(value)
        return NetRequest(
            scenario=str(net_file(name)),
            engine="",
            parameters=start,
            trainable=tuple(spec.name for spec in specs if spec.trainable),
            names={spec.path: spec.name for spec in specs},
        )

    def _declared(self, name: str) -> NetRequest:
        """A net that starts from the scenario's parameters, all of which are trained: JAX's."""
        given = load(net_file(name)).parameters() or {}
        start = {parameter: pack(value) for parameter, value in given.items()}
        trained = tuple(name for name, value in start.items() if value.dtype.startswith("float"))
        return NetRequest(
            scenario=str(net_file(name)), engine="", parameters=start, trainable=trained
        )

    def answer(self, name: str, engine: str, case: GradCase) -> Result:
        return answer(self.workers, CaseRequest(self.net(name, engine), case, ids=True))

    def capture(
        self,
        name: str,
        engine: str,
        case: GradCase | None = None,
        values: bool = True,
        whole_forward: bool = True,
        prove: ProofScope = "none",
    ) -> Captured:
        """The graphs of a case, by default of the one that asks for most."""
        case = case or self.widest(name)
        net = self.net(name, engine)
        request = CaseRequest(net, case, values, prove=prove, whole_forward=whole_forward)
        return capture(self.workers, request)

    def replay(self, name: str, engine: str, case: GradCase) -> Result:
        """The answer as it is computed from what was captured, in another order."""
        return self._ask(engine, "replay", CaseRequest(self.net(name, engine), case), Result)

    def estimate(self, name: str, case: GradCase) -> OracleResult:
        """The oracle's answer, from the forward alone."""
        return estimate(self.workers, CaseRequest(self.net(name, self.tape), case))

    def noise(self, name: str, case: GradCase, engine: str = "") -> ResultNoise:
        """The noise of an answer, by default of the tape's."""
        return self._measured("results", name, case, engine, ResultNoise)

    def measured_graph(self, name: str, case: GradCase, engine: str = "") -> GradGraph:
        """A graph with the noise of its nodes, by default the tape's."""
        return compared(self._measured("capture", name, case, engine, Captured))

    def _measured(
        self, function: str, name: str, case: GradCase, engine: str, kind: type[Reply]
    ) -> Reply:
        target = f"explorer.engines.{self.framework}.noise:{function}"
        return self.call(target, CaseRequest(self.net(name, engine or self.tape), case), kind)

    def widest(self, name: str) -> GradCase:
        """The case of a net that asks for most."""
        scenario = load(net_file(name))
        floating = tuple(array.dtype.kind == "f" for array in scenario.inputs().values())
        trainable = self.net(name, self.tape).trainable
        return widest(floating, len(scenario.output_names) > 1, bool(trainable))

    def call(self, target: str, request: msgspec.Struct, kind: type[Reply]) -> Reply:
        """What a function replies in the framework's worker."""
        return reply(self.workers.call(self.framework, target, request, kind))

    def _ask(self, engine: str, function: str, request: msgspec.Struct, kind: type[Reply]) -> Reply:
        target = f"{ENGINES[engine].module}:{function}"
        return reply(self.workers.call(ENGINES[engine].answers_in[0], target, request, kind))


def estimate_in_time(workers: Workers, request: CaseRequest, derivatives: int) -> OracleResult:
    """The answer of PyTorch's oracle when there is time for so many derivatives."""
    target = "tests.support.worker_targets:estimate_in_time"
    return reply(workers.call("torch", target, TimeFor(request, derivatives), OracleResult))


def of_file(file: Path, engine: str = "torch-tape", case: GradCase = FIRST) -> CaseRequest:
    """A case of the net in a file, which starts as the net itself does."""
    return CaseRequest(NetRequest(scenario=str(file), engine=engine), case)


def answer(workers: Workers, request: CaseRequest) -> Result:
    """What the engine of a request answers."""
    engine = ENGINES[request.net.engine]
    return reply(workers.call(engine.answers_in[0], f"{engine.module}:answer", request, Result))


def capture(workers: Workers, request: CaseRequest) -> Captured:
    """What the engine of a request captures."""
    engine = ENGINES[request.net.engine]
    return reply(workers.call(engine.captures_in, f"{engine.module}:capture", request, Captured))


def estimate(workers: Workers, request: CaseRequest) -> OracleResult:
    """What central differences say of a request, from the forward alone."""
    framework = ENGINES[request.net.engine].framework
    target = "explorer.engines.oracle:estimate"
    return reply(workers.call(framework, target, request, OracleResult))


def requests_of(workers: Workers, engine: str) -> EngineRequests:
    """The requests to an engine's framework."""
    return EngineRequests(workers, ENGINES[engine].framework)


def reply(answer: Reply | Lost) -> Reply:
    """An answer that did come."""
    assert not isinstance(answer, Lost), answer
    return answer


def values(result: Result) -> dict[str, Any]:
    """The leaves of an answer by name, as nested lists."""
    assert result.outcome == "ok", result.error
    return {leaf.name: unpack(leaf.value).tolist() for leaf in result.leaves}


def compared(captured: Captured) -> GradGraph:
    """The graph of a capture that is compared with others: of the stages the last."""
    assert captured.result.outcome == "ok", captured.result.error
    assert captured.graphs
    return captured.graphs[-1]


def run_in_jax(code: str) -> str:
    """What a listing prints where JAX is run."""
    home = home_of("jax")
    with tempfile.TemporaryDirectory() as folder:
        environment = worker_environment("jax", Path(folder), home)
        environment["PYTHONPATH"] += f":{ROOT}"
        return ran(home.python, "-c", code, env=environment).stdout
