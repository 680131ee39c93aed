"""Requests to the PyTorch worker about shipped scenarios and the nets of the tests."""

from pathlib import Path
from typing import TypeVar

from explorer.model.arrays import pack
from explorer.model.cases import GradCase
from explorer.model.engines import ENGINES
from explorer.model.requests import CaseRequest, Description, NetRequest
from explorer.model.results import Captured, Result
from explorer.scenario.contract import FOLDER, load
from explorer.workers.protocol import Lost
from explorer.workers.workers import Workers

NETS = Path(__file__).resolve().parent / "nets"
Reply = TypeVar("Reply")


class Torch:
    """Both PyTorch engines behind one crew of workers."""

    def __init__(self, workers: Workers) -> None:
        self.workers = workers
        self._known: dict[str, NetRequest] = {}

    def describe(self, name: str, engine: str = "torch-tape") -> Description:
        request = NetRequest(scenario=str(path(name)), engine=engine)
        return got(
            self.workers.call("torch", f"{ENGINES[engine].module}:describe", request, Description)
        )

    def net(self, name: str, engine: str) -> NetRequest:
        if name not in self._known:
            specs = self.describe(name).parameters
            start = {spec.name: spec.value for spec in specs}
            start |= {
                key: pack(value) for key, value in (load(path(name)).parameters() or {}).items()
            }
            trainable = tuple(spec.name for spec in specs if spec.trainable)
            self._known[name] = NetRequest(
                scenario=str(path(name)), engine="", parameters=start, trainable=trainable
            )
        known = self._known[name]
        return NetRequest(
            scenario=known.scenario,
            engine=engine,
            parameters=known.parameters,
            trainable=known.trainable,
        )

    def answer(self, name: str, engine: str, case: GradCase) -> Result:
        request = CaseRequest(self.net(name, engine), case)
        return got(self.workers.call("torch", f"{ENGINES[engine].module}:answer", request, Result))

    def capture(self, name: str, engine: str, case: GradCase, values: bool = True) -> Captured:
        request = CaseRequest(self.net(name, engine), case, values)
        return got(
            self.workers.call("torch", f"{ENGINES[engine].module}:capture", request, Captured)
        )

    def replay(self, name: str, engine: str, case: GradCase) -> Result:
        request = CaseRequest(self.net(name, engine), case)
        return got(self.workers.call("torch", f"{ENGINES[engine].module}:replay", request, Result))


def path(name: str) -> Path:
    """The file of a net: the tests' own begin with "torch_"."""
    return (NETS if name.startswith("torch_") else FOLDER) / f"{name}.py"


def got(given: Reply | Lost) -> Reply:
    """A reply that did come."""
    assert not isinstance(given, Lost), given
    return given
