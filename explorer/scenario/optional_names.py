"""Reads and checks the optional names of a declaration: those in capitals in a scenario's file."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeVar

import msgspec
import numpy as np

from explorer.model.arrays import AnyArray
from explorer.model.engines import Framework
from explorer.model.errors import ScenarioError, UsageError
from explorer.scenario.declaration import (
    CONDITIONS,
    PARTIES,
    Condition,
    Declaration,
    ExpectedDifference,
    ExpectedFinding,
    Tolerance,
    named_arrays,
)
from explorer.scenario.layouts import Layout, read
from explorer.scenario.matrix import MAX_ORDER, case_called, matrix
from explorer.text.choices import choose
from explorer.text.language import _

Entry = TypeVar("Entry", ExpectedDifference, ExpectedFinding, Tolerance)

Case = str | dict[str, Condition]
"""An entry of CASES: the name of a case, or attributes that cases must have."""


DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "float16", "float32", "float64")
"""The dtypes of inputs.

Complex numbers have no gradient in MindSpore 2.10, and numpy < 2 has no
bfloat16.
"""


PAIR_OF_NAMES = '{"mindspore name": "torch name"}'
LAYOUT_OF_WEIGHT = '{"fc.weight": {"transpose": (1, 0)}}'
"""An entry of PARAMETER_NAMES, and one of LAYOUTS, as errors show them."""


class Names(NamedTuple):
    """What a scenario says under its names; errors begin with ``place``.

    Of ``is_of_api`` they are arguments of nets(), in small letters.
    """

    place: str
    values: Mapping[str, Any]
    is_of_api: bool = False

    def said(self, option: str) -> str:
        """An option as its author knows it."""
        return option.lower() if self.is_of_api else option

    def get(self, option: str, default: Any) -> Any:
        """What is said under a name, or the default."""
        return self.values.get(option, default)


def declared(names: Names, plain: Declaration) -> Declaration:
    """A declaration with all names that do not depend on the inputs; raises ScenarioError."""
    paired_buffers, left_out = buffers(names)
    return msgspec.structs.replace(
        plain,
        train=optional_flag(names, "TRAIN") or False,
        output_names=names_in(names, "OUTPUTS"),
        renames={**parameter_names(names), **paired_buffers},
        tolerances=tolerances(names),
        left_out=left_out,
        same_dropout=optional_flag(names, "SAME_DROPOUT"),
        leader=leader(names, plain.nets),
        layouts=layouts(names),
        expected=expected_differences(names),
        expected_findings=expected_findings(names),
    )


def with_arrays(
    names: Names,
    declaration: Declaration,
    inputs: Mapping[str, AnyArray],
    start: Mapping[str, AnyArray] | None,
) -> Declaration:
    """A declaration with its inputs, its starting values, and the names that depend on the inputs.

    Raises ScenarioError.
    """
    constant_names = constants(names, inputs)
    return msgspec.structs.replace(
        declaration,
        arguments=named_arrays(inputs),
        start=None if start is None else named_arrays(start),
        constants=constant_names,
        cases=cases(names, tuple(inputs), constant_names),
    )


# Inputs and starting values


def check_inputs(names: Names, inputs: Mapping[str, AnyArray]) -> None:
    """Raise ScenarioError unless there are inputs, each an array that the engines take."""
    if not inputs:
        text = _(
            "{file}: inputs() returned nothing; return a dict with at least one numpy array by name"
        )
        if names.is_of_api:
            text = _("{file}: inputs is empty; give at least one array by name")
        raise ScenarioError(text, file=names.place)
    check_arrays(names, "inputs", inputs)
    text = _(
        "{file}: input {name!r} has dtype {dtype}; allowed: {allowed}."
        " To compute in another dtype, cast the inputs inside the net"
    )
    for name, array in inputs.items():
        dtype, allowed = array.dtype, ", ".join(DTYPES)
        if dtype.name not in DTYPES:
            raise ScenarioError(text, file=names.place, name=name, dtype=dtype, allowed=allowed)


def check_arrays(names: Names, function: str, arrays: Mapping[str, object]) -> None:
    """Raise ScenarioError unless a function has returned numpy arrays by name."""
    text = _(
        "{file}: {function}()[{name!r}] is a {type}; return only numpy arrays, by"
        " names of type str. If a net takes a list or a dict of tensors, make each"
        " tensor an input, and wrap the net in a function that builds the list"
    )
    for name, array in arrays.items():
        if not isinstance(name, str) or not isinstance(array, np.ndarray):
            kind = type(array).__name__
            raise ScenarioError(text, file=names.place, function=function, name=name, type=kind)


# Names that do not depend on the inputs


def names_in(names: Names, option: str) -> tuple[str, ...]:
    """The names that an optional tuple or list of names holds; none where it is not given."""
    entries = names.get(option, ())
    # A string would be accepted as a tuple of letters.
    if isinstance(entries, str):
        raise _wrong(names, option, _("a tuple of names"), entries, f"({entries!r},)")
    is_list = isinstance(entries, (tuple, list))
    if not is_list or not all(isinstance(entry, str) for entry in entries):
        raise _wrong(names, option, _("a tuple of names"), entries)
    return tuple(entries)


def optional_flag(names: Names, option: str) -> bool | None:
    """An optional name that is True or False; None where it is not given."""
    if option not in names.values:
        return None
    value = names.values[option]
    if not isinstance(value, bool):
        raise _wrong(names, option, _("True or False"), value)
    return value


def leader(names: Names, nets: Iterable[Framework]) -> Framework:
    """STARTS_FROM: the framework whose initial values both nets take; PyTorch if not given."""
    name: Framework = names.get("STARTS_FROM", "torch")
    allowed = list(nets)
    if "STARTS_FROM" in names.values and name not in allowed:
        expected = _("one of {allowed}").format(allowed=", ".join(allowed))
        raise _wrong(names, "STARTS_FROM", expected, name)
    return name


def parameter_names(names: Names) -> dict[str, str]:
    """PARAMETER_NAMES: MindSpore's names, and PyTorch's names of the same parameters."""
    entries = names.get("PARAMETER_NAMES", {})
    is_dict = isinstance(entries, dict)
    if not is_dict or not all(isinstance(name, str) for pair in entries.items() for name in pair):
        expected = _("a dict {form}").format(form=PAIR_OF_NAMES)
        raise _wrong(names, "PARAMETER_NAMES", expected, entries)
    return dict(entries)


def layouts(names: Names) -> dict[str, Layout]:
    """LAYOUTS: what makes of MindSpore's parameter PyTorch's, by name."""
    entries = names.get("LAYOUTS", {})
    if not isinstance(entries, dict):
        expected = _("a dict such as {form}").format(form=LAYOUT_OF_WEIGHT)
        raise _wrong(names, "LAYOUTS", expected, entries)
    try:
        return {str(name): read(entry) for name, entry in entries.items()}
    except UsageError as error:
        raise ScenarioError(f"{names.place}: {names.said('LAYOUTS')}: {error}") from error


def buffers(names: Names) -> tuple[dict[str, str], tuple[str, ...]]:
    """BUFFERS: pairs of MindSpore's names and PyTorch's, and the names of what is left out."""
    entries = names.get("BUFFERS", {})
    form = _("{pair}, or {lone} for a buffer that is not paired")
    form = form.format(pair=PAIR_OF_NAMES, lone='{"name": None}')
    if not isinstance(entries, dict):
        raise _wrong(names, "BUFFERS", _("a dict"), entries, form)
    pairs: dict[str, str] = {}
    left_out = []
    for name, torch_name in entries.items():
        if not isinstance(name, str) or not isinstance(torch_name, (str, type(None))):
            text = _("{file}: {option}[{name!r}] is {given!r}; write {form}")
            option = names.said("BUFFERS")
            raise ScenarioError(
                text, file=names.place, option=option, name=name, given=torch_name, form=form
            )
        if torch_name is None:
            left_out.append(name)
        else:
            pairs[name] = torch_name
    return pairs, tuple(left_out)


def expected_differences(names: Names) -> tuple[ExpectedDifference, ...]:
    """EXPECTED_DIFFERENCES: who is expected to disagree on which cases, and why."""
    option = "EXPECTED_DIFFERENCES"
    form = "{'engines': (…), 'reason': '…', 'when': {…}}"
    differences = _records(names, option, ExpectedDifference, form)
    for difference in differences:
        _check_tuple(names, "engines", option, difference.engines)
        _check_names(names, _of("engines", names.said(option)), difference.engines, PARTIES)
        _check_names(names, _of("when", names.said(option)), difference.when, CONDITIONS)
    return differences


def tolerances(names: Names) -> tuple[Tolerance, ...]:
    """TOLERANCES: how much results may differ, and why."""
    option = "TOLERANCES"
    form = _("{entry}, with 'atol', 'leaves' and 'when' if needed")
    form = form.format(entry="{'rtol': 1e-3, 'reason': '…'}")
    entries = _records(names, option, Tolerance, form)
    for tolerance in entries:
        if not tolerance.reason:
            text = _("{file}: an entry of {option} has no reason; write {form}")
            raise ScenarioError(text, file=names.place, option=names.said(option), form=form)
        for key in ("rtol", "atol"):
            value = getattr(tolerance, key)
            is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if not is_number or not 0 <= value < float("inf"):
                raise _wrong(names, _in(key, names.said(option)), _("a number from 0 up"), value)
        if not tolerance.rtol and not tolerance.atol:
            text = _("{file}: an entry of {option} has neither rtol nor atol; write {form}")
            raise ScenarioError(text, file=names.place, option=names.said(option), form=form)
        _check_tuple(names, "leaves", option, tolerance.leaves)
        _check_names(names, _of("when", names.said(option)), tolerance.when, CONDITIONS)
    return entries


def expected_findings(names: Names) -> tuple[ExpectedFinding, ...]:
    """EXPECTED_FINDINGS: intended differences between the two nets, and why."""
    option = "EXPECTED_FINDINGS"
    form = "{'names': ('fc.weight',), 'reason': '…'}"
    findings = _records(names, option, ExpectedFinding, form)
    for finding in findings:
        if isinstance(finding.names, str) or not finding.names:
            raise _wrong(
                names, _in("names", names.said(option)), _("a tuple of names"), finding.names, form
            )
    return findings


def _records(names: Names, option: str, kind: type[Entry], form: str) -> tuple[Entry, ...]:
    """The entries of an optional list of dicts, as records; none if it is not given."""
    try:
        return tuple(kind(**entry) for entry in names.get(option, ()))
    except TypeError as error:
        # Python names the record's own function, which no scenario knows.
        problem = str(error).rpartition("() ")[2]
        text = _("{file}: an entry of {option} must have the form {form}; {problem}")
        raise ScenarioError(
            text, file=names.place, option=names.said(option), form=form, problem=problem
        ) from error


# Names that depend on the inputs


def constants(names: Names, inputs: Iterable[str]) -> tuple[str, ...]:
    """CONSTANTS: the inputs that no case differentiates, such as labels and masks."""
    entries = names_in(names, "CONSTANTS")
    allowed = tuple(inputs)
    try:
        return tuple(choose("input", name, allowed) for name in entries)
    except UsageError as error:
        raise ScenarioError(f"{names.place}: {names.said('CONSTANTS')}: {error}") from error


def cases(
    names: Names, inputs: tuple[str, ...], constant_names: tuple[str, ...]
) -> tuple[Case, ...] | None:
    """CASES: the cases to run; None, which is all of them, if it is not given."""
    entries = names.get("CASES", None)
    if entries is None:
        return None
    if not isinstance(entries, (tuple, list)) or not entries:
        text = _(
            "{file}: {option} must be a list of at least one case, got {given!r}; give each case by"
            " its name ({name}) or by its attributes ({attributes})"
        )
        option = names.said("CASES")
        name, attributes = "'grad(0, weights=all)'", "{'api': 'grad'}"
        raise ScenarioError(
            text, file=names.place, option=option, given=entries, name=name, attributes=attributes
        )
    indices = frozenset(inputs.index(name) for name in constant_names)
    # Whether the nets have weights is not known before a framework has seen them.
    known = matrix(len(inputs), has_parameters=True, order=MAX_ORDER, constants=indices)
    for entry in entries:
        if isinstance(entry, dict):
            where = _("an entry of {option}").format(option=names.said("CASES"))
            _check_names(names, where, entry, CONDITIONS)
            continue
        try:
            case_called(str(entry), known)
        except UsageError as error:
            raise ScenarioError(f"{names.place}: {names.said('CASES')}: {error}") from error
    return tuple(entries)


# Errors


def _wrong(
    names: Names, subject: str, expected: str, given: object, form: str = ""
) -> ScenarioError:
    """The error for a value that is not as expected, with the form to write where there is one."""
    # An option; of a part of one it is said already.
    subject = names.said(subject) if subject.replace("_", "").isupper() else subject
    text = _("{file}: {subject} must be {expected}, got {given!r}")
    if form:
        text = _("{file}: {subject} must be {expected}, got {given!r}; write {form}")
    return ScenarioError(
        text, file=names.place, subject=subject, expected=expected, given=given, form=form
    )


def _of(key: str, option: str) -> str:
    return _("{key!r} of {option}").format(key=key, option=option)


def _in(key: str, option: str) -> str:
    return _("{key!r} in {option}").format(key=key, option=option)


def _check_tuple(names: Names, key: str, option: str, value: object) -> None:
    # A string would be accepted as a tuple of letters, none of which is a name.
    if isinstance(value, str):
        raise _wrong(names, _in(key, names.said(option)), _("a tuple"), value, f"({value!r},)")


def _check_names(names: Names, where: str, given: Iterable[str], allowed: tuple[str, ...]) -> None:
    for name in given:
        if name not in allowed:
            text = _("{file}: unknown name {name!r} in {where}; allowed: {allowed}")
            raise ScenarioError(
                text, file=names.place, name=name, where=where, allowed=", ".join(allowed)
            )
