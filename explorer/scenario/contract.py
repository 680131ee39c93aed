"""Scenario modules: find them, load them, and refuse what does not define a pair of nets."""

import ast
import importlib.util
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from explorer.model.arrays import AnyArray
from explorer.model.cases import GradCase
from explorer.model.engines import ENGINES, FRAMEWORKS
from explorer.model.errors import ScenarioError
from explorer.model.report import ORACLE
from explorer.text.choices import refusal

FOLDER = Path(__file__).resolve().parents[2] / "scenarios"
"""Where the shipped scenarios are."""

DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "float16", "float32", "float64")
"""What an input may hold; complex numbers have no gradient in MindSpore 2.10, and numpy < 2 has no
bfloat16.
"""

RENAMES = {
    "gamma": "weight",
    "beta": "bias",
    "moving_mean": "running_mean",
    "moving_variance": "running_var",
    "embedding_table": "weight",
}
"""MindSpore's last part of a parameter's name, and PyTorch's for the same thing (2.10.0 and
2.13.0).
"""

PARTIES = (*ENGINES, *sorted({engine.style for engine in ENGINES.values()}), *FRAMEWORKS, ORACLE)
"""Who may be expected to disagree: engines, styles, frameworks, and the oracle."""

CONDITIONS = ("position", *GradCase.__struct_fields__)
"""What an expected difference may ask of a case."""


@dataclass(frozen=True)
class ExpectedDifference:
    """Parties expected to disagree with the others on the cases that ``when`` describes, and why.

    ``engines`` are names of engines, styles ("tape"), frameworks ("torch") or
    "central-differences". ``when`` maps attributes of a case to the value they must have;
    "position" asks whether an input is among those differentiated.
    """

    engines: tuple[str, ...]
    reason: str
    when: dict[str, Any] = field(default_factory=dict)

    def applies(self, case: GradCase) -> bool:
        """Whether ``case`` is one of those described."""
        return all(_holds(case, key, value) for key, value in self.when.items())

    def covers(self, party: str) -> bool:
        """Whether the engine called ``party`` is one of those expected to disagree."""
        engine = ENGINES.get(party)
        return bool(
            {party, *((engine.style, engine.framework) if engine else ())} & set(self.engines)
        )


def _holds(case: GradCase, key: str, value: Any) -> bool:
    return value in case.positions if key == "position" else getattr(case, key) == value


@dataclass(frozen=True)
class Scenario:
    """One small net, defined for one or both frameworks, with its inputs and its notes (Markdown)."""

    name: str
    path: Path
    title: str
    notes: str
    module: ModuleType
    train: bool
    output_names: tuple[str, ...]
    renames: dict[str, str]
    expected: tuple[ExpectedDifference, ...]

    def inputs(self) -> dict[str, AnyArray]:
        """Fresh input arrays by name; an array object that stands under two names is one object
        here too.
        """
        given = self.module.inputs()
        fresh = {id(array): np.array(array) for array in given.values()}
        return {name: fresh[id(array)] for name, array in given.items()}

    def parameters(self) -> dict[str, AnyArray] | None:
        """The values both nets start from, by PyTorch's names; None where the scenario leaves them
        to the torch net.
        """
        make = getattr(self.module, "parameters", None)
        return {name: np.array(value) for name, value in make().items()} if make else None

    @property
    def mindspore_net(self) -> Callable[[], Any] | None:
        """Makes the MindSpore net, inside a worker; None where the scenario leaves MindSpore out."""
        return getattr(self.module, "mindspore_net", None)

    @property
    def torch_net(self) -> Callable[[], Any] | None:
        """Makes the PyTorch net, inside a worker; None where the scenario leaves PyTorch out."""
        return getattr(self.module, "torch_net", None)

    def defines(self, framework: str) -> bool:
        """Whether there is a net for ``framework``."""
        return hasattr(self.module, f"{framework}_net")

    def torch_name(self, name: str) -> str:
        """PyTorch's name of a MindSpore parameter."""
        if name in self.renames:
            return self.renames[name]
        head, dot, last = name.rpartition(".")
        return head + dot + RENAMES.get(last, last)

    def outputs(self, count: int) -> tuple[str, ...]:
        """Names of ``count`` outputs: the scenario's own, else "out" or "out0", "out1", …"""
        if len(self.output_names) == count:
            return self.output_names
        return ("out",) if count == 1 else tuple(f"out{index}" for index in range(count))


def names(folders: tuple[Path, ...] = (FOLDER,)) -> dict[str, Path]:
    """The scenarios of some folders, sorted by name; of two with one name the first folder's
    counts.
    """
    found = [
        path for folder in folders for path in folder.glob("*.py") if not path.name.startswith("_")
    ]
    by_name: dict[str, Path] = {}
    for path in found:
        by_name.setdefault(path.stem, path)
    return dict(sorted(by_name.items()))


def find(name_or_file: str, folders: tuple[Path, ...] = (FOLDER,)) -> Path:
    """The file of a scenario named in ``folders``, or the file itself; ScenarioError names the
    nearest ones otherwise.
    """
    known = names(folders)
    if name_or_file in known:
        return known[name_or_file]
    path = Path(name_or_file)
    if path.suffix == ".py" and path.is_file():
        return path.resolve()
    if path.suffix == ".py" or path.is_dir():
        kind = "is a folder" if path.is_dir() else "does not exist"
        raise ScenarioError(
            f"scenario file {name_or_file!r} {kind}: give a .py file, or one of {', '.join(known)}"
        )
    fact = f"no scenario is called {name_or_file!r}, and it is not the path of a .py file"
    raise ScenarioError(refusal(fact, name_or_file, list(known)))


def load(path: Path | str) -> Scenario:
    """Read and check a scenario file, and register its module in ``sys.modules``, where MindSpore's
    compiler looks for it.

    Raises ScenarioError: a syntax error or an exception at import (file and line), a framework
    imported at module level, a required name that is missing, an input that no engine takes.
    """
    path = Path(path).resolve()
    module = _import(path)
    docstring = (module.__doc__ or "").strip()
    title, _, notes = docstring.partition("\n")
    scenario = Scenario(
        name=path.stem,
        path=path,
        title=title.rstrip(".") or path.stem,
        notes=notes.strip(),
        module=module,
        train=bool(getattr(module, "TRAIN", False)),
        output_names=tuple(getattr(module, "OUTPUTS", ())),
        renames=dict(getattr(module, "PARAMETER_NAMES", {})),
        expected=_expected(path, module),
    )
    _check(scenario)
    return scenario


def _import(path: Path) -> ModuleType:
    try:
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text, str(path))
    except SyntaxError as error:
        raise ScenarioError(
            f"{path}:{error.lineno}: the scenario has a syntax error: {error.msg}"
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise ScenarioError(f"{path}: the scenario cannot be read: {error}") from error
    _refuse_frameworks(path, tree)
    name = f"scenarios.{path.stem}" if path.parent == FOLDER else f"explorer_scenario_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        where = _line_of(error, path)
        raise ScenarioError(
            f"{where}: the scenario cannot be imported: {type(error).__name__}: {error}"
        ) from error
    return module


def _refuse_frameworks(path: Path, tree: ast.Module) -> None:
    for node in tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            wanted = (
                [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else [node.module or ""]
            )
            for name in wanted:
                if name.split(".")[0] in FRAMEWORKS:
                    raise ScenarioError(
                        f"{path}:{node.lineno}: imports {name} at module level; import it inside mindspore_net() or torch_net(), "
                        "so that the file can be read without either framework"
                    )


def _line_of(error: BaseException, path: Path) -> str:
    """ "file:line" of the innermost frame in the scenario that an exception passed through."""
    line, trace = None, error.__traceback__
    while trace:
        if trace.tb_frame.f_code.co_filename == str(path):
            line = trace.tb_lineno
        trace = trace.tb_next
    return f"{path}:{line}" if line else str(path)


def _expected(path: Path, module: ModuleType) -> tuple[ExpectedDifference, ...]:
    try:
        entries = tuple(
            ExpectedDifference(**entry) for entry in getattr(module, "EXPECTED_DIFFERENCES", ())
        )
    except TypeError as error:
        raise ScenarioError(
            f"{path}: EXPECTED_DIFFERENCES holds an entry that is not {{'engines': (…), 'reason': '…', 'when': {{…}}}}: {error}"
        ) from error
    for entry in entries:
        if isinstance(entry.engines, str):
            raise ScenarioError(
                f"{path}: EXPECTED_DIFFERENCES gives engines as {entry.engines!r}; write ({entry.engines!r},)"
            )
        _allow(path, "engines", entry.engines, PARTIES)
        _allow(path, "when", entry.when, CONDITIONS)
    return entries


def _allow(path: Path, what: str, given: Iterable[str], allowed: tuple[str, ...]) -> None:
    for name in given:
        if name not in allowed:
            raise ScenarioError(
                f"{path}: EXPECTED_DIFFERENCES names {name!r} under {what}; allowed are {', '.join(allowed)}"
            )


def _check(scenario: Scenario) -> None:
    module, path = scenario.module, scenario.path
    has = [
        name
        for name in ("inputs", "parameters", "mindspore_net", "torch_net")
        if callable(getattr(module, name, None))
    ]
    if "inputs" not in has or not {"mindspore_net", "torch_net"} & set(has):
        missing = "inputs()" if "inputs" not in has else "mindspore_net() or torch_net()"
        raise ScenarioError(
            f"{path}: does not define {missing}; it defines {', '.join(f'{name}()' for name in has) or 'none of the names'}. "
            "A scenario needs inputs() and at least one of mindspore_net() and torch_net()"
        )
    inputs = _called(scenario, "inputs")
    if not inputs:
        raise ScenarioError(
            f"{path}: inputs() gives no input; return a dict of at least one name to a numpy array"
        )
    _refuse_what_is_no_array(path, "inputs", inputs)
    for name, array in inputs.items():
        if array.dtype.name not in DTYPES:
            raise ScenarioError(
                f"{path}: input {name!r} has dtype {array.dtype}; allowed are {', '.join(DTYPES)}"
            )
    if "parameters" in has:
        _refuse_what_is_no_array(path, "parameters", _called(scenario, "parameters"))


def _refuse_what_is_no_array(path: Path, function: str, given: dict[str, Any]) -> None:
    for name, array in given.items():
        if not isinstance(name, str) or not isinstance(array, np.ndarray):
            raise ScenarioError(
                f"{path}: {function}()[{name!r}] is a {type(array).__name__}; give only numpy arrays, each under a str name"
            )


def _called(scenario: Scenario, name: str) -> dict[str, Any]:
    try:
        made = getattr(scenario.module, name)()
    except Exception as error:
        where = _line_of(error, scenario.path)
        raise ScenarioError(f"{where}: {name}() raised {type(error).__name__}: {error}") from error
    if not isinstance(made, dict):
        raise ScenarioError(
            f"{scenario.path}: {name}() gives a {type(made).__name__}; it must return a dict of numpy arrays"
        )
    return made
