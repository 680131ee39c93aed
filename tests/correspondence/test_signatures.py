"""The names and defaults of the table are those of the installed frameworks."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from explorer.correspondence.records import UNKNOWN, Absent, Default, Row
from explorer.correspondence.table import ROWS
from explorer.model.engines import NEEDED, Framework
from tests.correspondence.signatures import REQUIRED, Parameters
from tests.support.command_line import ROOT

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]

Signatures = dict[str, list[Parameters]]

BY_RUNNING = {("rnn", "nonlinearity")}
"""Arguments that no signature has; that they are there, and their default, is seen by running."""

SCHEMA_DEFAULTS = {"correction": 1}
"""What None stands for in a schema of PyTorch's."""

OWN = {"dtype", "weight_init", "bias_init"}
"""What callables of mint take in addition."""


class Installed:
    """What one framework says of the names in the table."""

    def __init__(self, framework: Framework, folder: Path) -> None:
        called: set[str] = set()
        operators: set[str] = set()
        for row in ROWS:
            if framework == "mindspore":
                called |= {f"mindspore.{name}" for name in (row.mindspore, *row.alike)}
                operators |= set(row.primitives)
            else:
                called.add(row.torch)
                operators |= set(row.aten)
        asked, answered = folder / f"{framework}.asked", folder / f"{framework}.answered"
        asked.write_bytes(pickle.dumps((sorted(called), sorted(operators))))
        subprocess.run(
            [
                sys.executable,
                "-W",
                "ignore",
                "-m",
                "tests.correspondence.signatures",
                asked,
                answered,
            ],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "GLOG_v": "4"},
            check=True,
            capture_output=True,
        )
        self.signatures: Signatures
        self.operators: dict[str, bool]
        self.signatures, self.operators = pickle.loads(answered.read_bytes())


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> dict[Framework, Installed]:
    folder = tmp_path_factory.mktemp("signatures")
    return {framework: Installed(framework, folder) for framework in NEEDED}


def test_every_operator_is_there(installed: dict[Framework, Installed]) -> None:
    for framework in NEEDED:
        there = installed[framework].operators
        assert [name for name, is_there in there.items() if not is_there] == []


@pytest.mark.parametrize("framework", NEEDED)
def test_names_and_defaults_are_those_of_the_signature(
    framework: Framework, installed: dict[Framework, Installed]
) -> None:
    wrong: list[str] = []
    for row in ROWS:
        full = f"mindspore.{row.mindspore}" if framework == "mindspore" else row.torch
        wrong += [
            f"{full}: {text}"
            for text in _wrong(row, framework, installed[framework].signatures[full])
        ]
    assert wrong == []


def test_alike_callables_have_the_names_and_defaults_of_pytorch(
    installed: dict[Framework, Installed],
) -> None:
    wrong: list[str] = []
    for row in ROWS:
        for name in row.alike:
            overloads = installed["mindspore"].signatures[f"mindspore.{name}"]
            assert overloads, f"{name} has no signature"
            wrong += [f"{name}: {text}" for text in _unlike(row, overloads[0])]
    assert wrong == []


def _wrong(row: Row, framework: Framework, overloads: list[Parameters]) -> list[str]:
    if not overloads:
        # Layers without a setting take anything.
        return [] if row.kind == "layer" and not row.arguments else ["no signature"]
    known: dict[str, Default] = {}
    for argument in row.arguments:
        if argument.name(framework):
            known[argument.name(framework)] = argument.default(framework)
    operands = {each.name(framework): each.is_optional for each in row.operands}
    texts: list[str] = []
    for name, default in known.items():
        there = [overload[name] for overload in overloads if name in overload]
        if not there and (row.family, name) not in BY_RUNNING:
            texts.append(f"has no {name}")
        elif there and not any(_is_same(name, default, value) for value in there):
            texts.append(f"{name} is {there[0]!r} by default, the table has {default!r}")
    is_called_with_operands = row.kind == "function" and not _is_class(row.name(framework))
    if is_called_with_operands:
        texts += _wrong_operands(operands, overloads)
    if len(overloads) == 1:
        said = {*known, *operands, *row.unmatched}
        first = next(iter(overloads[0]), "")
        texts += [f"the table lacks {name}" for name in overloads[0] if name not in {*said, first}]
    return texts


def _is_class(name: str) -> bool:
    """Whether a callable is a layer or a primitive."""
    return name.rpartition(".")[2][:1].isupper()


def _wrong_operands(operands: dict[str, bool], overloads: list[Parameters]) -> list[str]:
    """Operands that the signature lacks; the first is given by its place."""
    texts: list[str] = []
    for name, is_optional in list(operands.items())[1:]:
        there = [overload[name] for overload in overloads if name in overload]
        if not there:
            texts.append(f"has no operand {name}")
        elif is_optional and None not in there:
            texts.append(f"{name} is not optional")
    return texts


def _unlike(row: Row, parameters: Parameters) -> list[str]:
    known = {each.torch: each.torch_default for each in row.arguments if each.torch}
    operands = {operand.torch for operand in row.operands}
    texts: list[str] = []
    for name, value in parameters.items():
        if name in known and not _is_same(name, known[name], value):
            texts.append(f"{name} is {value!r} by default, PyTorch has {known[name]!r}")
        elif name not in {*known, *operands, *row.unmatched, *OWN}:
            texts.append(f"PyTorch has no {name}")
    return texts


def _is_same(name: str, ours: Default, theirs: object) -> bool:
    if ours is Absent.REQUIRED:
        return theirs == REQUIRED
    assert ours is not UNKNOWN
    if theirs is None and SCHEMA_DEFAULTS.get(name) == ours:
        return True
    # A schema has lists for numbers of each axis, and leaves out what Python passes as None.
    if isinstance(theirs, tuple) and not isinstance(ours, tuple):
        return theirs == (ours,) * len(theirs) and (theirs != () or ours is None)
    return bool(ours == theirs) or (ours is None and theirs == REQUIRED)
