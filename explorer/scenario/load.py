"""Loads a scenario file, and rejects one that does not define a pair of nets."""

import ast
import importlib.util
import linecache
import marshal
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from explorer.model.engines import FRAMEWORKS
from explorer.model.errors import ScenarioError
from explorer.scenario import optional_names
from explorer.scenario.declaration import Scenario
from explorer.scenario.find import SHIPPED, module_name
from explorer.scenario.imported_files import forget_changed, remedy_for_import
from explorer.text.parsing import parsed

DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "float16", "float32", "float64")
"""The dtypes of inputs.

Complex numbers have no gradient in MindSpore 2.10, and numpy < 2 has no bfloat16.
"""

FUNCTIONS = ("inputs", "parameters", "mindspore_net", "torch_net")
"""The functions that a scenario may define."""

NETS = {"mindspore_net", "torch_net"}
"""Of these it needs at least one."""


def load(path: Path | str) -> Scenario:
    """Read and check a scenario file, and register its module in ``sys.modules``.

    MindSpore's compiler (2.10) looks for the module there. Raises ScenarioError: a syntax error or
    an exception at import (file and line), a framework imported at module level, a required name
    that is missing, an input that no engine takes.
    """
    path = Path(path).resolve()
    module = _import(path)
    docstring = (module.__doc__ or "").strip()
    title, _, notes = docstring.partition("\n")
    paired_buffers, left_out = optional_names.buffers(path, module)
    scenario = Scenario(
        name=path.stem,
        path=path,
        title=title.rstrip(".") or path.stem,
        notes=notes.strip(),
        module=module,
        train=optional_names.flag(path, module, "TRAIN"),
        output_names=optional_names.names_in(path, module, "OUTPUTS"),
        renames={**optional_names.parameter_names(path, module), **paired_buffers},
        tolerances=optional_names.tolerances(path, module),
        left_out=left_out,
        same_dropout=optional_names.optional_flag(path, module, "SAME_DROPOUT"),
        leader=optional_names.leader(path, module),
        layouts=optional_names.layouts(path, module),
        expected=optional_names.expected_differences(path, module),
        expected_findings=optional_names.expected_findings(path, module),
    )
    _check_functions(scenario)
    inputs = tuple(_checked_inputs(scenario))
    if getattr(module, "parameters", None) is not None:
        _check_arrays(path, "parameters", _call(scenario, "parameters"))
    constants = optional_names.constants(path, module, inputs)
    cases = optional_names.cases(path, module, inputs, constants)
    return replace(scenario, constants=constants, cases=cases)


def _import(path: Path) -> ModuleType:
    text = _read(path)
    code = _compiled(path, text)
    # A scenario of the user's own may have the name of a shipped one, or of an installed package.
    name = module_name(path) or f"explorer_scenario_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec
    module = importlib.util.module_from_spec(spec)
    if path.parent not in SHIPPED:
        forget_changed(path)
    # Before its text runs: what it defines may look its own module up, as dataclasses do.
    sys.modules[name] = module
    _keep_lines(path, text)
    try:
        # Not by the spec's loader: Python would take the code that it has kept of an earlier text
        # where a file has changed within the same second, and has the same length.
        exec(marshal.loads(code), vars(module))
    except Exception as error:
        del sys.modules[name]  # half a module must not be found by a later import
        place = _place_of(error, path)
        raise ScenarioError(
            f"{place}: the scenario file raises when it is imported: {type(error).__name__}: {error}"
            f"{remedy_for_import(path, str(error))}"
        ) from error
    return module


def _keep_lines(path: Path, text: str) -> None:
    """Let Python show these lines as the file's, even if the file changes later.

    MindSpore compiles the text that Python shows, which otherwise may not be the one that runs.
    """
    lines = [line + "\n" for line in text.removesuffix("\n").split("\n")]
    # An entry without a time is never read anew.
    linecache.cache[str(path)] = len(text), None, lines, str(path)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ScenarioError(f"{path}: the scenario file cannot be read: {reason}") from error


@lru_cache(maxsize=256)
def _compiled(path: Path, text: str) -> bytes:
    """The code of a scenario's text as marshal writes it: a worker loads one for each request.

    Each load has code of its own, as Dynamo keeps with it what it has compiled (torch 2.13).
    """
    # Searched for in the text: importing the file would import the framework before the check.
    try:
        _refuse_frameworks(path, parsed(text, str(path)))
        return marshal.dumps(compile(text, str(path), "exec", dont_inherit=True))
    except SyntaxError as error:
        raise ScenarioError(
            f"{path}:{error.lineno}: syntax error in the scenario file: {error.msg}"
        ) from error


def _refuse_frameworks(path: Path, tree: ast.Module) -> None:
    """The file is read in processes that must stay free of both frameworks."""
    for line, module in _module_level_imports(tree):
        if module.split(".")[0] in FRAMEWORKS:
            raise ScenarioError(
                f"{path}:{line}: the scenario file imports {module} at module level; "
                "move the import into mindspore_net() or torch_net(), "
                "so that the file can be read without either framework"
            )


def _module_level_imports(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The line and the module of each import at module level."""
    for node in tree.body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, node.module or ""


def _place_of(error: BaseException, path: Path) -> str:
    """ "file:line" of the innermost frame in the scenario that an exception passed through."""
    # Frames come outermost first: the last one in the file is where the scenario itself failed.
    line = None
    trace = error.__traceback__
    while trace:
        if trace.tb_frame.f_code.co_filename == str(path):
            line = trace.tb_lineno
        trace = trace.tb_next
    return f"{path}:{line}" if line else str(path)


def _check_functions(scenario: Scenario) -> None:
    # A name that is not a function counts as missing.
    defined = [name for name in FUNCTIONS if callable(getattr(scenario.module, name, None))]
    if "inputs" in defined and not NETS.isdisjoint(defined):
        return
    missing = "mindspore_net() or torch_net()" if "inputs" in defined else "inputs()"
    present = ", ".join(f"{name}()" for name in defined) or "none of these functions"
    raise ScenarioError(
        f"{scenario.path}: the scenario file does not define {missing}; it defines {present}. "
        "A scenario needs inputs() and at least one of mindspore_net() and torch_net()"
    )


def _checked_inputs(scenario: Scenario) -> dict[str, Any]:
    """The inputs, each an array that the engines take."""
    path = scenario.path
    inputs = _call(scenario, "inputs")
    if not inputs:
        raise ScenarioError(
            f"{path}: inputs() returned nothing; return a dict with at least one numpy array by name"
        )
    _check_arrays(path, "inputs", inputs)
    for name, array in inputs.items():
        if array.dtype.name not in DTYPES:
            raise ScenarioError(
                f"{path}: input {name!r} has dtype {array.dtype}; allowed: {', '.join(DTYPES)}."
                " To compute in another dtype, cast the inputs inside the net"
            )
    return inputs


def _check_arrays(path: Path, function: str, arrays: dict[str, Any]) -> None:
    for name, array in arrays.items():
        if not isinstance(name, str) or not isinstance(array, np.ndarray):
            raise ScenarioError(
                f"{path}: {function}()[{name!r}] is a {type(array).__name__}; return only numpy"
                " arrays, by names of type str. If a net takes a list or a dict of tensors, make each"
                " tensor an input, and wrap the net in a function that builds the list"
            )


def _call(scenario: Scenario, function: str) -> dict[str, Any]:
    """The return value of one of the scenario's functions, which must be a dict."""
    try:
        arrays = getattr(scenario.module, function)()
    except Exception as error:
        place = _place_of(error, scenario.path)
        raise ScenarioError(
            f"{place}: {function}() raised {type(error).__name__}: {error}"
            f"{remedy_for_import(scenario.path, str(error))}"
        ) from error
    if not isinstance(arrays, dict):
        raise ScenarioError(
            f"{scenario.path}: {function}() must return a dict of numpy arrays by name, got a "
            f"{type(arrays).__name__}"
        )
    return arrays
