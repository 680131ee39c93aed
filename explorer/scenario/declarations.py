"""The optional names of a scenario file, read and checked: what they hold, and what is refused."""

from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

from explorer.model.engines import FRAMEWORKS, Framework
from explorer.model.errors import ScenarioError, UsageError
from explorer.scenario.contract import (
    CONDITIONS,
    PARTIES,
    ExpectedDifference,
    ExpectedFinding,
    Tolerance,
)
from explorer.scenario.layouts import Layout, read
from explorer.scenario.matrix import MAX_ORDER, case_called, matrix
from explorer.text.choices import choose

Case = str | dict[str, Any]
"""An entry of CASES: the name of a case, or attributes that cases must have."""


def names_in(path: Path, module: ModuleType, option: str) -> tuple[str, ...]:
    """The names that an optional tuple or list of names holds; none where it is not given."""
    names = getattr(module, option, ())
    # A string would pass for a tuple of letters.
    if isinstance(names, str):
        raise ScenarioError(f"{path}: {option} is {names!r}; write ({names!r},)")
    if not isinstance(names, (tuple, list)) or not all(isinstance(name, str) for name in names):
        raise ScenarioError(f"{path}: {option} is {names!r}; give a tuple of names")
    return tuple(names)


def flag(path: Path, module: ModuleType, option: str) -> bool:
    """An optional name that is True or False; False where it is not given."""
    return optional_flag(path, module, option) or False


def optional_flag(path: Path, module: ModuleType, option: str) -> bool | None:
    """An optional name that is True or False; None where it is not given."""
    value = getattr(module, option, None)
    if hasattr(module, option) and not isinstance(value, bool):
        raise ScenarioError(f"{path}: {option} is {value!r}; give True or False")
    return value


def leader(path: Path, module: ModuleType) -> Framework:
    """STARTS_FROM: the framework whose net's own values both start from; PyTorch where not given."""
    nets: dict[str, Framework] = {
        framework: framework for framework in FRAMEWORKS if hasattr(module, f"{framework}_net")
    }
    if not hasattr(module, "STARTS_FROM"):
        return "torch"
    name = module.STARTS_FROM
    if name not in nets:
        raise ScenarioError(f"{path}: STARTS_FROM is {name!r}; allowed: {', '.join(nets)}")
    return nets[name]


def parameter_names(path: Path, module: ModuleType) -> dict[str, str]:
    """PARAMETER_NAMES: MindSpore's names, and PyTorch's names of the same parameters."""
    names = getattr(module, "PARAMETER_NAMES", {})
    is_dict = isinstance(names, dict)
    if not is_dict or not all(isinstance(name, str) for pair in names.items() for name in pair):
        raise ScenarioError(
            f'{path}: PARAMETER_NAMES is {names!r}; write {{"mindspore name": "torch name"}}'
        )
    return dict(names)


def layouts(path: Path, module: ModuleType) -> dict[str, Layout]:
    """LAYOUTS: what makes of MindSpore's parameter PyTorch's, by name."""
    entries = getattr(module, "LAYOUTS", {})
    if not isinstance(entries, dict):
        raise ScenarioError(
            f'{path}: LAYOUTS is {entries!r}; write {{"fc.weight": {{"transpose": (1, 0)}}}}'
        )
    try:
        return {str(name): read(entry) for name, entry in entries.items()}
    except UsageError as error:
        raise ScenarioError(f"{path}: LAYOUTS: {error}") from error


def buffers(path: Path, module: ModuleType) -> tuple[dict[str, str], tuple[str, ...]]:
    """BUFFERS: pairs of MindSpore's names and PyTorch's, and the names of what is left out."""
    entries = getattr(module, "BUFFERS", {})
    form = '{"mindspore name": "torch name"}, or {"name": None} for one that each net keeps'
    if not isinstance(entries, dict):
        raise ScenarioError(f"{path}: BUFFERS is {entries!r}; write {form}")
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
    """CASES: the cases that are asked; None, which is all of them, where it is not given."""
    entries = getattr(module, "CASES", None)
    if entries is None:
        return None
    if not isinstance(entries, (tuple, list)) or not entries:
        raise ScenarioError(
            f"{path}: CASES is {entries!r}; give a list of at least one case, each by its name "
            "('grad(0, weights=all)') or by attributes that it must have ({'api': 'grad'})"
        )
    indices = frozenset(inputs.index(name) for name in constant_names)
    # Whether the nets have weights is not known before a framework has seen them.
    known = matrix(len(inputs), has_parameters=True, order=MAX_ORDER, constants=indices)
    for entry in entries:
        if isinstance(entry, dict):
            _check_names(path, "CASES", "a case", entry, CONDITIONS)
            continue
        try:
            case_called(str(entry), known)
        except UsageError as error:
            raise ScenarioError(f"{path}: CASES: {error}") from error
    return tuple(entries)


def expected_differences(path: Path, module: ModuleType) -> tuple[ExpectedDifference, ...]:
    """EXPECTED_DIFFERENCES: who is expected to disagree on which cases, and why."""
    entries = getattr(module, "EXPECTED_DIFFERENCES", ())
    try:
        differences = tuple(ExpectedDifference(**entry) for entry in entries)
    except TypeError as error:
        raise ScenarioError(
            f"{path}: EXPECTED_DIFFERENCES holds an entry that is not "
            f"{{'engines': (…), 'reason': '…', 'when': {{…}}}}: {error}"
        ) from error
    for difference in differences:
        engines = difference.engines
        # A string would pass for a tuple of letters, none of which is an engine.
        if isinstance(engines, str):
            raise ScenarioError(
                f"{path}: EXPECTED_DIFFERENCES gives engines as {engines!r}; write ({engines!r},)"
            )
        _check_names(path, "EXPECTED_DIFFERENCES", "engines", engines, PARTIES)
        _check_names(path, "EXPECTED_DIFFERENCES", "when", difference.when, CONDITIONS)
    return differences


def tolerances(path: Path, module: ModuleType) -> tuple[Tolerance, ...]:
    """TOLERANCES: how far apart answers may be, and why."""
    entries = getattr(module, "TOLERANCES", ())
    form = "{'rtol': 1e-3, 'reason': '…'}, with 'atol', 'leaves' and 'when' if need be"
    try:
        given = tuple(Tolerance(**entry) for entry in entries)
    except TypeError as error:
        raise ScenarioError(
            f"{path}: TOLERANCES holds an entry that is not {form}: {error}"
        ) from error
    for tolerance in given:
        if not tolerance.reason:
            raise ScenarioError(f"{path}: TOLERANCES gives no reason; write {form}")
        for key in ("rtol", "atol"):
            value = getattr(tolerance, key)
            is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if not is_number or not 0 <= value < float("inf"):
                raise ScenarioError(
                    f"{path}: TOLERANCES gives {key} as {value!r}; give a number from 0 up"
                )
        if not tolerance.rtol and not tolerance.atol:
            raise ScenarioError(f"{path}: TOLERANCES gives neither rtol nor atol; write {form}")
        if isinstance(tolerance.leaves, str):
            raise ScenarioError(
                f"{path}: TOLERANCES gives leaves as {tolerance.leaves!r};"
                f" write ({tolerance.leaves!r},)"
            )
        _check_names(path, "TOLERANCES", "when", tolerance.when, CONDITIONS)
    return given


def expected_findings(path: Path, module: ModuleType) -> tuple[ExpectedFinding, ...]:
    """EXPECTED_FINDINGS: what is meant to be unlike in the two nets, and why."""
    entries = getattr(module, "EXPECTED_FINDINGS", ())
    form = "{'names': ('fc.weight',), 'reason': '…'}"
    try:
        findings = tuple(ExpectedFinding(**entry) for entry in entries)
    except TypeError as error:
        raise ScenarioError(
            f"{path}: EXPECTED_FINDINGS holds an entry that is not {form}: {error}"
        ) from error
    for finding in findings:
        if isinstance(finding.names, str) or not finding.names:
            raise ScenarioError(
                f"{path}: EXPECTED_FINDINGS gives names as {finding.names!r}; write {form}"
            )
    return findings


def _check_names(
    path: Path, option: str, key: str, names: Iterable[str], allowed: tuple[str, ...]
) -> None:
    for name in names:
        if name not in allowed:
            raise ScenarioError(
                f"{path}: {option} names {name!r} under {key}; allowed are {', '.join(allowed)}"
            )
