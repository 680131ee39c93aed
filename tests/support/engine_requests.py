"""What the engines of one framework describe, answer and capture, asked through their workers."""

from pathlib import Path
from typing import TypeVar

import msgspec

from explorer.model.arrays import pack
from explorer.model.cases import GradCase
from explorer.model.engines import ENGINES, Framework
from explorer.model.graph import GradGraph
from explorer.model.requests import CaseRequest, Description, NetRequest
from explorer.model.results import Captured, Result, ResultNoise
from explorer.scenario.find import FOLDER
from explorer.scenario.load import load
from explorer.scenario.selection import widest
from explorer.workers.protocol import Lost
from explorer.workers.workers import Workers
from tests.support.nets import NETS

Reply = TypeVar("Reply")


class EngineRequests:
    """Asks the engines of one framework about nets of the tests and shipped scenarios, by name."""

    def __init__(self, workers: Workers, framework: Framework) -> None:
        self.workers = workers
        self._tape = f"{framework}-tape"
        self._nets: dict[str, NetRequest] = {}

    def describe(self, name: str, engine: str) -> Description:
        request = NetRequest(scenario=str(path(name)), engine=engine)
        return self._call(engine, "describe", request, Description)

    def net(self, name: str, engine: str) -> NetRequest:
        """A net with the start that an exploration settles for it; looked at once."""
        if name not in self._nets:
            description = self.describe(name, self._tape)
            specs = description.parameters
            start = {spec.name: spec.value for spec in specs}
            for key, value in (load(path(name)).parameters() or {}).items():
                start[key] = pack(value)
            trainable = tuple(spec.name for spec in specs if spec.trainable)
            self._nets[name] = NetRequest(
                scenario=str(path(name)),
                engine="",
                parameters=start,
                trainable=trainable,
                names={spec.path: spec.name for spec in specs},
            )
        return msgspec.structs.replace(self._nets[name], engine=engine)

    def answer(self, name: str, engine: str, case: GradCase) -> Result:
        request = CaseRequest(self.net(name, engine), case, ids=True)
        return self._call(engine, "answer", request, Result)

    def capture(
        self,
        name: str,
        engine: str,
        case: GradCase | None = None,
        values: bool = True,
        whole_forward: bool = True,
    ) -> Captured:
        """The graphs of a case, by default of the one that asks for most."""
        case = case or self.widest(name)
        net = self.net(name, engine)
        request = CaseRequest(net, case, values, whole_forward=whole_forward)
        target = f"{ENGINES[engine].module}:capture"
        return reply(self.workers.call(ENGINES[engine].captures_in, target, request, Captured))

    def noise(self, name: str, case: GradCase) -> ResultNoise:
        """The noise of the tape's answer."""
        return self._measured("results", name, case, ResultNoise)

    def measured_graph(self, name: str, case: GradCase) -> GradGraph:
        """The tape's graph with the noise of its nodes."""
        (graph,) = self._measured("capture", name, case, Captured).graphs
        return graph

    def _measured(self, function: str, name: str, case: GradCase, kind: type[Reply]) -> Reply:
        framework = ENGINES[self._tape].framework
        target = f"explorer.engines.{framework}.noise:{function}"
        request = CaseRequest(self.net(name, self._tape), case)
        return reply(self.workers.call(framework, target, request, kind))

    def widest(self, name: str) -> GradCase:
        """The case of a net that asks for most."""
        scenario = load(path(name))
        floating = tuple(array.dtype.kind == "f" for array in scenario.inputs().values())
        trainable = self.net(name, self._tape).trainable
        return widest(floating, len(scenario.output_names) > 1, bool(trainable))

    def _call(
        self, engine: str, function: str, request: msgspec.Struct, kind: type[Reply]
    ) -> Reply:
        target = f"{ENGINES[engine].module}:{function}"
        return reply(self.workers.call(ENGINES[engine].answers_in[0], target, request, kind))


def path(name: str) -> Path:
    """The file of a net of the tests, or of a shipped scenario."""
    own = NETS / f"{name}.py"
    return own if own.is_file() else FOLDER / f"{name}.py"


def reply(answer: Reply | Lost) -> Reply:
    """An answer that did come."""
    assert not isinstance(answer, Lost), answer
    return answer
