"""The declaration of a scenario: everything that is said of its nets, as one plain record."""

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from explorer.model.arrays import AnyArray, Array, pack, unpack
from explorer.model.cases import GradCase
from explorer.model.engines import (
    AT,
    ENGINES,
    FRAMEWORKS,
    NEEDED,
    Framework,
    engine_named,
    placed,
)
from explorer.model.errors import ScenarioError
from explorer.model.findings import ReportFinding
from explorer.model.report import ORACLE
from explorer.scenario.layouts import Layout
from explorer.text.language import _

STYLES = tuple(sorted({engine.style for engine in ENGINES.values()}))

PARTIES = (*ENGINES, *STYLES, *FRAMEWORKS, ORACLE)
"""Who may be expected to disagree: engines, styles, frameworks, and the oracle."""

CONDITIONS = ("position", *GradCase.__struct_fields__)
"""The attributes of a case that an expected difference may name."""

SENT = ".nets"
"""The ending of a file in which the declaration of one's own nets is sent to workers."""

Condition = bool | int | float | str | tuple[int, ...] | None
"""The value that an attribute of a case must have."""


@dataclass(frozen=True)
class ExpectedDifference:
    """Parties expected to disagree with the others on the cases that ``when`` describes, and why.

    ``engines`` are names of engines, styles ("tape"), frameworks ("torch") or
    "central-differences". ``when`` maps attributes of a case to the value they
    must have; "position" asks whether an input is among those differentiated.
    """

    engines: tuple[str, ...]
    reason: str
    when: dict[str, Condition] = field(default_factory=dict)

    def applies(self, case: GradCase) -> bool:
        """Whether ``case`` is one of those described."""
        return all(has(case, condition, value) for condition, value in self.when.items())

    def covers(self, party: str) -> bool:
        """Whether the engine called ``party``, or the oracle, is expected to disagree."""
        names = {party}
        if party in ENGINES:
            names |= {engine_named(party).style, engine_named(party).framework}
        return not names.isdisjoint(self.engines)


def has(case: GradCase, condition: str, value: Condition) -> bool:
    """Whether an attribute of ``case`` has a value; ``condition`` is one of CONDITIONS."""
    # "position" asks about membership: (0, 1) differentiates input 1 as 1 does.
    if condition == "position":
        return value in case.positions
    return bool(getattr(case, condition) == value)


@dataclass(frozen=True)
class Tolerance:
    """How far apart two answers may be, on the cases that ``when`` describes, and why.

    Elements a and b are within it where |a - b| ≤ ``atol`` + ``rtol`` ·
    max(|a|, |b|). ``leaves`` are the tensors that it is for, by the names in a
    report ("dx"); all where none is named.
    """

    reason: str
    rtol: float = 0.0
    atol: float = 0.0
    leaves: tuple[str, ...] = ()
    when: dict[str, Condition] = field(default_factory=dict)

    def applies(self, case: GradCase, leaf: str) -> bool:
        """Whether it is for a leaf of the answers to ``case``."""
        is_for_leaf = not self.leaves or leaf in self.leaves
        return is_for_leaf and all(has(case, name, value) for name, value in self.when.items())


@dataclass(frozen=True)
class ExpectedFinding:
    """Findings about parameters of these ``names`` (PyTorch's) that are meant to be, and why."""

    names: tuple[str, ...]
    reason: str

    def applies(self, finding: ReportFinding) -> bool:
        """Whether a finding is about these parameters and no others."""
        return bool(finding.names) and set(finding.names) <= set(self.names)


class Factory(msgspec.Struct, frozen=True):
    """The function, or class, that creates a net: ``name`` in ``module``.

    ``folder`` is the one from which the module is imported; empty for a
    function of a scenario's file. ``literals`` are the expressions of its
    keyword arguments, which are literals.
    """

    module: str
    name: str
    folder: str = ""
    literals: dict[str, str] = {}

    def __str__(self) -> str:
        return f"{self.module}:{self.name}"

    @property
    def arguments(self) -> dict[str, Any]:
        """The keyword arguments with which it is called."""
        return {name: ast.literal_eval(text) for name, text in self.literals.items()}

    @property
    def written_arguments(self) -> str:
        """The keyword arguments as code has them: "num_classes=10"."""
        return ", ".join(f"{name}={text}" for name, text in self.literals.items())

    @property
    def package(self) -> str:
        """The top-level package of the module."""
        return self.module.partition(".")[0]


class Checkpoint(msgspec.Struct, frozen=True):
    """A file of one framework, which its net reads and the other net then starts like."""

    framework: Framework
    file: str
    digest: str


class NamedArrays(msgspec.Struct, frozen=True):
    """Arrays by name. ``places`` are indices into ``arrays``: an array under two names is one there."""

    arrays: tuple[Array, ...] = ()
    places: dict[str, int] = {}

    def fresh(self) -> dict[str, AnyArray]:
        """New numpy arrays by name; one array under two names is one object here too."""
        # Copied, so that a net that writes into its input spoils no other engine's.
        arrays = [unpack(array).copy() for array in self.arrays]
        return {name: arrays[place] for name, place in self.places.items()}


def named_arrays(arrays: Mapping[str, AnyArray]) -> NamedArrays:
    """The record of numpy arrays by name, in their order."""
    packed: dict[int, Array] = {}
    places: dict[str, int] = {}
    for name, array in arrays.items():
        if id(array) not in packed:
            packed[id(array)] = pack(array)
        places[name] = list(packed).index(id(array))
    return NamedArrays(tuple(packed.values()), places)


class Declaration(msgspec.Struct, frozen=True, kw_only=True):
    """All that is said of one small net, defined for one or both frameworks: plain data.

    ``file`` is the scenario's, or the one in which the declaration of one's own
    nets is sent to workers. ``title`` is a line, ``notes`` are Markdown.
    ``nets`` say what creates each framework's net. ``arguments`` are the
    inputs, ``start`` the values with which both nets begin, by PyTorch's names;
    where it is None they begin as the net of ``leader`` does, which may read a
    ``checkpoint``. ``sources`` are digests of the files of one's own nets.

    ``train`` says whether the nets run in training mode; ``renames`` maps
    MindSpore's names of parameters to PyTorch's, beyond RENAMES. ``constants``
    are the inputs that no case differentiates. ``cases`` says which cases are
    run, by name or by their attributes; None is all. ``layouts`` are those of
    parameters that lie otherwise in MindSpore than in PyTorch, by their names
    in either. ``homes`` name the environments in which the nets are run, where any is named.
    ``left_out`` are buffers of which each net keeps its own.
    ``same_dropout`` says whether both nets drop the same elements: None is as
    far as that can be, True refuses nets that draw random numbers beside.
    """

    name: str
    file: str
    title: str
    notes: str = ""
    nets: dict[Framework, Factory]
    arguments: NamedArrays = NamedArrays()
    start: NamedArrays | None = None
    checkpoint: Checkpoint | None = None
    sources: dict[str, str] = {}
    train: bool = False
    output_names: tuple[str, ...] = ()
    renames: dict[str, str] = {}
    constants: tuple[str, ...] = ()
    cases: tuple[str | dict[str, Condition], ...] | None = None
    layouts: dict[str, Layout] = {}
    expected: tuple[ExpectedDifference, ...] = ()
    expected_findings: tuple[ExpectedFinding, ...] = ()
    tolerances: tuple[Tolerance, ...] = ()
    left_out: tuple[str, ...] = ()
    same_dropout: bool | None = None
    leader: Framework = "torch"
    homes: dict[Framework, str] = {}

    def at_home(self, engine: str) -> str:
        """An engine in the environment of its net; one that names its environment is as it is."""
        if AT in engine:
            return engine
        return placed(engine, self.homes.get(engine_named(engine).framework, ""))

    @property
    def path(self) -> Path:
        """The path of the file."""
        return Path(self.file)

    @property
    def place(self) -> str:
        """How errors name it: by the scenario's file, or by the name of one's own nets."""
        return self.name if self.path.suffix == SENT else self.file

    @property
    def is_of_api(self) -> bool:
        """Whether it was made by nets() and not by a scenario's file."""
        return self.path.suffix != ".py"

    def option(self, name: str) -> str:
        """An option as its author knows it: PARAMETER_NAMES of a file, parameter_names of nets()."""
        return name.lower() if self.is_of_api else name

    def entry(self, option: str, value: str) -> str:
        """How its author writes a value of an option: in a scenario's file, or as an argument."""
        equals = "=" if self.is_of_api else " = "
        return f"{self.option(option)}{equals}{value}"

    def inputs(self) -> dict[str, AnyArray]:
        """Fresh input arrays by name; nets must see that an array under two names is one tensor."""
        return self.arguments.fresh()

    def parameters(self) -> dict[str, AnyArray] | None:
        """The values that both nets start from, by PyTorch's names; None leaves them to its net."""
        return None if self.start is None else self.start.fresh()

    @property
    def shares_dropout(self) -> bool:
        """Whether the dropout layers of both nets get the same masks."""
        if self.same_dropout is not None:
            return self.same_dropout
        return all(map(self.defines, NEEDED))

    def defines(self, framework: str) -> bool:
        """Whether there is a net for ``framework``."""
        return framework in self.nets

    def outputs(self, count: int) -> tuple[str, ...]:
        """Names of ``count`` outputs: the scenario's own, else "out" or "out0", "out1", …"""
        # Names for another number of outputs would stand beside the wrong ones.
        if len(self.output_names) == count:
            return self.output_names
        if count == 1:
            return ("out",)
        return tuple(f"out{index}" for index in range(count))


# As a worker is sent one, and as the store keeps one


def encoded(declaration: Declaration) -> bytes:
    """A declaration as MessagePack, without its place: the same one elsewhere is the same bytes."""
    placeless = msgspec.structs.replace(declaration, file="")
    return msgspec.msgpack.encode(placeless, enc_hook=_plain)


def _plain(value: Any) -> Any:
    """What a scenario's file may hold in the place of plain data: a number of numpy's, a path."""
    return value.item() if isinstance(value, np.generic) else str(value)


def decoded(content: bytes, path: Path) -> Declaration:
    """The declaration that encoded() made these bytes of, in the file at ``path``.

    Raises ScenarioError where a declared value has a type that it cannot have.
    """
    try:
        declaration = msgspec.msgpack.decode(content, type=Declaration)
    except msgspec.MsgspecError as error:
        text = _("{file}: a name in the scenario file has a value of the wrong type: {error}")
        raise ScenarioError(text, file=path, error=error) from error
    return msgspec.structs.replace(declaration, file=str(path))
