"""Reads and checks the optional names of a declaration."""

from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from explorer.model.engines import FRAMEWORKS, Framework
from explorer.model.errors import ScenarioError, UsageError
from explorer.scenario.declaration import (
    CONDITIONS,
    PARTIES,
    ExpectedDifference,
    ExpectedFinding,
    Tolerance,
)
from explorer.scenario.layouts import Layout, read
from explorer.scenario.matrix import MAX_ORDER, case_called, matrix
from explorer.text.choices import choose

Entry = TypeVar("Entry", ExpectedDifference, ExpectedFinding, Tolerance)

Case = str | dict[str, Any]
"""An entry of CASES: the name of a case, or attributes that cases must have."""


def names_in(path: Path, module: ModuleType, option: str) -> tuple[str, ...]:
    """The names that an optional tuple or list of names holds; none where it is not given."""
    names = getattr(module, option, ())
    # A string would be accepted as a tuple of letters.
    if isinstance(names, str):
        raise ScenarioError(
            f"{path}: {option} must be a tuple of names, got {names!r}; write ({names!r},)"
        )
    if not isinstance(names, (tuple, list)) or not all(isinstance(name, str) for name in names):
        raise ScenarioError(f"{path}: {option} must be a tuple of names, got {names!r}")
    return tuple(names)


def flag(path: Path, module: ModuleType, option: str) -> bool:
    """An optional name that is True or False; False where it is not given."""
    return optional_flag(path, module, option) or False


def optional_flag(path: Path, module: ModuleType, option: str) -> bool | None:
    """An optional name that is True or False; None where it is not given."""
    value = getattr(module, option, None)
    if hasattr(module, option) and not isinstance(value, bool):
        raise ScenarioError(f"{path}: {option} must be True or False, got {value!r}")
    return value


def leader(path: Path, module: ModuleType) -> Framework:
    """STARTS_FROM: the framework whose initial values both nets take; PyTorch if not given."""
    nets: dict[str, Framework] = {
        framework: framework for framework in FRAMEWORKS if hasattr(module, f"{framework}_net")
    }
    if not hasattr(module, "STARTS_FROM"):
        return "torch"
    name = module.STARTS_FROM
    if name not in nets:
        raise ScenarioError(f"{path}: STARTS_FROM must be one of {', '.join(nets)}, got {name!r}")
    return nets[name]


def parameter_names(path: Path, module: ModuleType) -> dict[str, str]:
    """PARAMETER_NAMES: MindSpore's names, and PyTorch's names of the same parameters."""
    names = getattr(module, "PARAMETER_NAMES", {})
    is_dict = isinstance(names, dict)
    if not is_dict or not all(isinstance(name, str) for pair in names.items() for name in pair):
        raise ScenarioError(
            f'{path}: PARAMETER_NAMES must be a dict {{"mindspore name": "torch name"}}, got {names!r}'
        )
    return dict(names)


def layouts(path: Path, module: ModuleType) -> dict[str, Layout]:
    """LAYOUTS: what makes of MindSpore's parameter PyTorch's, by name."""
    entries = getattr(module, "LAYOUTS", {})
    if not isinstance(entries, dict):
        raise ScenarioError(
            f'{path}: LAYOUTS must be a dict such as {{"fc.weight": {{"transpose": (1, 0)}}}},'
            f" got {entries!r}"
        )
    try:
        return {str(name): read(entry) for name, entry in entries.items()}
    except UsageError as error:
        raise ScenarioError(f"{path}: LAYOUTS: {error}") from error


def buffers(path: Path, module: ModuleType) -> tuple[dict[str, str], tuple[str, ...]]:
    """BUFFERS: pairs of MindSpore's names and PyTorch's, and the names of what is left out."""
    entries = getattr(module, "BUFFERS", {})
    form = '{"mindspore name": "torch name"}, or {"name": None} for a buffer that is not paired'
    if not isinstance(entries, dict):
        raise ScenarioError(f"{path}: BUFFERS must be a dict, got {entries!r}; write {form}")
    pairs: dict[str, str] = {}
    left_out = []
    for name, torch_name in entries.items():
        if not isinstance(name, str) or not isinstance(torch_name, (str, type(None))):
            raise ScenarioError(f"{path}: BUFFERS[{name!r}] is {torch_name!r}; write {form}")
        if torch_name is None:
            left_out.append(name)
        else:
            pairs[name] = torch_name
    return pairs, tuple(left_out)


def constants(path: Path, module: ModuleType, inputs: Iterable[str]) -> tuple[str, ...]:
    """CONSTANTS: the inputs that no case differentiates, such as labels and masks."""
    names = names_in(path, module, "CONSTANTS")
    allowed = tuple(inputs)
    try:
        return tuple(choose("input", name, allowed) for name in names)
    except UsageError as error:
        raise ScenarioError(f"{path}: CONSTANTS: {error}") from error


def cases(
    path: Path, module: ModuleType, inputs: tuple[str, ...], constant_names: tuple[str, ...]
) -> tuple[Case, ...] | None:
    """CASES: the cases to run; None, which is all of them, if it is not given."""
    entries = getattr(module, "CASES", None)
    if entries is None:
        return None
    if not isinstance(entries, (tuple, list)) or not entries:
        raise ScenarioError(
            f"{path}: CASES must be a list of at least one case, got {entries!r}; give each case by its"
            " name ('grad(0, weights=all)') or by its attributes ({'api': 'grad'})"
        )
    indices = frozenset(inputs.index(name) for name in constant_names)
    # Whether the nets have weights is not known before a framework has seen them.
    known = matrix(len(inputs), has_parameters=True, order=MAX_ORDER, constants=indices)
    for entry in entries:
        if isinstance(entry, dict):
            _check_names(path, "an entry of CASES", entry, CONDITIONS)
            continue
        try:
            case_called(str(entry), known)
        except UsageError as error:
            raise ScenarioError(f"{path}: CASES: {error}") from error
    return tuple(entries)


def expected_differences(path: Path, module: ModuleType) -> tuple[ExpectedDifference, ...]:
    """EXPECTED_DIFFERENCES: who is expected to disagree on which cases, and why."""
    form = "{'engines': (…), 'reason': '…', 'when': {…}}"
    differences = _records(path, module, "EXPECTED_DIFFERENCES", ExpectedDifference, form)
    for difference in differences:
        engines = difference.engines
        # A string would be accepted as a tuple of letters, none of which is an engine.
        if isinstance(engines, str):
            raise ScenarioError(
                f"{path}: 'engines' in EXPECTED_DIFFERENCES must be a tuple, got {engines!r};"
                f" write ({engines!r},)"
            )
        _check_names(path, "'engines' of EXPECTED_DIFFERENCES", engines, PARTIES)
        _check_names(path, "'when' of EXPECTED_DIFFERENCES", difference.when, CONDITIONS)
    return differences


def tolerances(path: Path, module: ModuleType) -> tuple[Tolerance, ...]:
    """TOLERANCES: how much results may differ, and why."""
    form = "{'rtol': 1e-3, 'reason': '…'}, with 'atol', 'leaves' and 'when' if needed"
    given = _records(path, module, "TOLERANCES", Tolerance, form)
    for tolerance in given:
        if not tolerance.reason:
            raise ScenarioError(f"{path}: an entry of TOLERANCES has no reason; write {form}")
        for key in ("rtol", "atol"):
            value = getattr(tolerance, key)
            is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if not is_number or not 0 <= value < float("inf"):
                raise ScenarioError(
                    f"{path}: {key!r} in TOLERANCES must be a number from 0 up, got {value!r}"
                )
        if not tolerance.rtol and not tolerance.atol:
            raise ScenarioError(
                f"{path}: an entry of TOLERANCES has neither rtol nor atol; write {form}"
            )
        if isinstance(tolerance.leaves, str):
            raise ScenarioError(
                f"{path}: 'leaves' in TOLERANCES must be a tuple, got {tolerance.leaves!r};"
                f" write ({tolerance.leaves!r},)"
            )
        _check_names(path, "'when' of TOLERANCES", tolerance.when, CONDITIONS)
    return given


def expected_findings(path: Path, module: ModuleType) -> tuple[ExpectedFinding, ...]:
    """EXPECTED_FINDINGS: intended differences between the two nets, and why."""
    form = "{'names': ('fc.weight',), 'reason': '…'}"
    findings = _records(path, module, "EXPECTED_FINDINGS", ExpectedFinding, form)
    for finding in findings:
        if isinstance(finding.names, str) or not finding.names:
            raise ScenarioError(
                f"{path}: 'names' in EXPECTED_FINDINGS must be a tuple of names, got {finding.names!r};"
                f" write {form}"
            )
    return findings


def _records(
    path: Path, module: ModuleType, option: str, kind: type[Entry], form: str
) -> tuple[Entry, ...]:
    """The entries of an optional list of dicts, as records; none if it is not given."""
    try:
        return tuple(kind(**entry) for entry in getattr(module, option, ()))
    except TypeError as error:
        # Python names the record's own function, which no scenario knows.
        problem = str(error).rpartition("() ")[2]
        message = f"{path}: an entry of {option} must have the form {form}; {problem}"
        raise ScenarioError(message) from error


def _check_names(path: Path, where: str, names: Iterable[str], allowed: tuple[str, ...]) -> None:
    for name in names:
        if name not in allowed:
            raise ScenarioError(
                f"{path}: unknown name {name!r} in {where}; allowed: {', '.join(allowed)}"
            )
