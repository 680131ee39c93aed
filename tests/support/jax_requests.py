"""Requests to JAX's worker about shipped scenarios and the nets of the tests."""

import subprocess
import tempfile
from pathlib import Path
from typing import TypeVar

import msgspec

from explorer.environments.known import home_of
from explorer.model.arrays import pack
from explorer.model.cases import GradCase
from explorer.model.engines import ENGINES
from explorer.model.graph import GradGraph
from explorer.model.requests import CaseRequest, Description, NetRequest, ProofScope
from explorer.model.results import Captured, Result
from explorer.scenario.load import load
from explorer.workers.environments import ROOT, worker_environment
from explorer.workers.workers import Workers
from tests.support.torch_requests import got, path

Reply = TypeVar("Reply")

JAX_ENGINES = ("jax-tape", "jax-graph")


def compared(captured: Captured) -> GradGraph:
    """The graph of a capture that is compared with others: of the stages the last."""
    assert captured.result.outcome == "ok", captured.result.error
    return captured.graphs[-1]


class Jax:
    """Both engines of JAX, behind one crew of workers."""

    def __init__(self, workers: Workers) -> None:
        self.workers = workers

    def describe(self, name: str, engine: str = "jax-tape") -> Description:
        return self._call(engine, "describe", self.net(name, engine), Description)

    def answer(self, name: str, engine: str, case: GradCase) -> Result:
        return self._call(engine, "answer", CaseRequest(self.net(name, engine), case), Result)

    def capture(
        self, name: str, engine: str, case: GradCase, prove: ProofScope = "none"
    ) -> Captured:
        request = CaseRequest(self.net(name, engine), case, prove=prove)
        return self._call(engine, "capture", request, Captured)

    def replay(self, name: str, engine: str, case: GradCase) -> Result:
        return self._call(engine, "replay", CaseRequest(self.net(name, engine), case), Result)

    def call(self, target: str, request: msgspec.Struct, reply: type[Reply]) -> Reply:
        return got(self.workers.call("jax", target, request, reply))

    def net(self, name: str, engine: str) -> NetRequest:
        """A net that starts from the scenario's parameters, all of which are trained."""
        given = load(path(name)).parameters() or {}
        start = {parameter: pack(value) for parameter, value in given.items()}
        trained = tuple(name for name, value in start.items() if value.dtype.startswith("float"))
        return NetRequest(
            scenario=str(path(name)), engine=engine, parameters=start, trainable=trained
        )

    def _call(
        self, engine: str, function: str, request: msgspec.Struct, reply: type[Reply]
    ) -> Reply:
        return self.call(f"{ENGINES[engine].module}:{function}", request, reply)


def run_listing(code: str) -> str:
    """What a listing prints where JAX is run."""
    home = home_of("jax")
    with tempfile.TemporaryDirectory() as folder:
        environment = worker_environment("jax", Path(folder), home)
        environment["PYTHONPATH"] += f":{ROOT}"
        ran = subprocess.run(
            [home.python, "-c", code],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
    return ran.stdout
