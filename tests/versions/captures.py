"""What the engines of one PyTorch show of some nets, run as ``python -m tests.versions.captures NET …``."""

import sys
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path

import msgspec

from explorer.model.cases import GradCase
from explorer.model.requests import CaseRequest, NetRequest
from explorer.model.results import Captured
from explorer.scenario.load import load

MODULES = {
    "torch-tape": "explorer.engines.torch.tape",
    "torch-graph": "explorer.engines.torch.graph",
}
"""The engines, and the modules that capture for them."""


class Captures(msgspec.Struct, frozen=True):
    """The version of PyTorch, and what was captured by engine and by the name of the net."""

    version: str
    captured: dict[str, dict[str, Captured]]


def captures(files: Iterable[Path]) -> Captures:
    """The gradient with respect to all inputs of each net, captured by each engine."""
    captured: dict[str, dict[str, Captured]] = {}
    for file in files:
        case = GradCase("grad", tuple(range(len(load(file).inputs()))))
        for engine, module in MODULES.items():
            request = CaseRequest(NetRequest(scenario=str(file), engine=engine), case, prove="all")
            shown = import_module(module).capture(request)
            captured.setdefault(engine, {})[file.stem] = shown
    return Captures(str(import_module("torch").__version__), captured)


if __name__ == "__main__":
    found = captures(map(Path, sys.argv[1:]))
    sys.stdout.buffer.write(msgspec.msgpack.encode(found))
