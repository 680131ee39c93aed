"""Which tensor of MindSpore's net is which of PyTorch's, and what is wrong with a pair."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec
import numpy as np

from explorer.model.arrays import unpack
from explorer.model.errors import ScenarioError
from explorer.model.findings import ReportFinding
from explorer.model.requests import Description, ParameterSpec
from explorer.scenario.contract import Scenario
from explorer.text.choices import nearest, refusal

Shape = tuple[int, ...]

ROLE_WORDS = {
    "trained": "trained",
    "frozen": "frozen (requires_grad=False)",
    "buffer": "a buffer",
    "constant": "a plain tensor",
}
"""What a net does with a tensor, in words that follow "is"."""

START_RTOL, START_ATOL = 1e-5, 1e-7
"""Up to here two nets start alike: one may have computed in float64 what the other did in float32."""

SHOWN = 3
"""The greatest number of candidates that a message names for a parameter without a partner."""


class Held(NamedTuple):
    """A tensor that both nets hold."""

    mindspore: ParameterSpec
    torch: ParameterSpec

    @property
    def name(self) -> str:
        """PyTorch's name."""
        return self.torch.name

    @property
    def has_one_shape(self) -> bool:
        """Whether both lay it out alike, as far as their shapes say."""
        return self.mindspore.value.shape == self.torch.value.shape


def all_specs(description: Description) -> dict[str, ParameterSpec]:
    """What a net holds, by PyTorch's names; of a parameter and a constant the parameter counts."""
    specs = {spec.name: spec for spec in description.constants}
    specs.update({spec.name: spec for spec in description.parameters})
    return specs


def common(mindspore: Description, torch: Description) -> list[Held]:
    """What both nets hold."""
    known = all_specs(mindspore)
    in_torch = all_specs(torch).values()
    return [Held(known[spec.name], spec) for spec in in_torch if spec.name in known]


# Names


def with_statistics_named(mindspore: Description, torch: Description) -> Description:
    """MindSpore's net, with PyTorch's names for statistics of modules that are called differently.

    PARAMETER_NAMES that map a module's weights say what the module is called; where they do not,
    the only statistic of a name and a shape on either side is the same.
    """
    free = _free_statistics(torch.parameters, mindspore.parameters)
    own = _free_statistics(mindspore.parameters, torch.parameters)
    modules = _modules(mindspore)
    names: dict[str, str] = {}
    for spec in own:
        module_path, last = spec.path.rpartition(".")[0], spec.name.rpartition(".")[2]
        alike = _alike(spec, free)
        if module_path in modules:
            names[spec.path] = f"{modules[module_path]}.{last}".lstrip(".")
        elif len(alike) == 1 and len(_alike(spec, own)) == 1:
            names[spec.path] = alike[0].name

    parameters = []
    for spec in mindspore.parameters:
        name = names.get(spec.path, spec.name)
        parameters.append(msgspec.structs.replace(spec, name=name))
    return msgspec.structs.replace(mindspore, parameters=tuple(parameters))


def _free_statistics(
    specs: Iterable[ParameterSpec], others: Iterable[ParameterSpec]
) -> list[ParameterSpec]:
    """The parameters that are not trained and whose names the other net does not have."""
    taken = {spec.name for spec in others}
    return [spec for spec in specs if not spec.trainable and spec.name not in taken]


def _alike(spec: ParameterSpec, specs: Iterable[ParameterSpec]) -> list[ParameterSpec]:
    """Those whose names end like that of ``spec`` and whose shapes are the same."""
    return [other for other in specs if _ending(other) == _ending(spec)]


def _ending(spec: ParameterSpec) -> tuple[str, Shape]:
    return spec.name.rpartition(".")[2], spec.value.shape


def _modules(mindspore: Description) -> dict[str, str]:
    """PyTorch's path of each module whose weights all have a name in one module of PyTorch's.

    The keys are MindSpore's paths, in which its own names of statistics begin.
    """
    paths: dict[str, set[str]] = {}
    for spec in mindspore.parameters:
        if spec.trainable:
            module_path = spec.path.rpartition(".")[0]
            paths.setdefault(module_path, set()).add(spec.name.rpartition(".")[0])
    return {path: names.pop() for path, names in paths.items() if len(names) == 1}


def check_parameter_names(scenario: Scenario, mindspore: Description) -> None:
    """Raise ScenarioError for an entry of PARAMETER_NAMES or LAYOUTS that names nothing there is."""
    specs = (*mindspore.parameters, *mindspore.constants)
    paths = [spec.path for spec in specs]
    own_names = [spec.own_name for spec in specs if spec.own_name]
    modules = [path[:end] for path in paths for end in _dots(path)]
    _check_named(scenario, "PARAMETER_NAMES", scenario.renames, paths, [*own_names, *modules])
    in_torch = [spec.name for spec in specs]
    _check_named(scenario, "LAYOUTS", scenario.layouts, paths, in_torch)


def is_left_out(scenario: Scenario, held: Held) -> bool:
    """Whether the scenario says that each net keeps its own values of a buffer."""
    return not {held.name, held.mindspore.path}.isdisjoint(scenario.left_out)


def check_left_out(scenario: Scenario, mindspore: Description, torch: Description) -> None:
    """Raise ScenarioError for a name in BUFFERS that no net has, or that a net trains."""
    specs = (*all_specs(mindspore).values(), *all_specs(torch).values())
    names = [name for spec in specs if not spec.trainable for name in (spec.path, spec.name)]
    _check_named(scenario, "BUFFERS", scenario.left_out, names, [], "no net has a buffer")


def _check_named(
    scenario: Scenario,
    option: str,
    names: Iterable[str],
    paths: list[str],
    also_allowed: list[str],
    fact: str = "MindSpore's net has no parameter",
) -> None:
    """Raise ScenarioError for a name that is neither a path in the Cell tree nor allowed besides."""
    for name in names:
        if name not in paths and name not in also_allowed:
            allowed = list(dict.fromkeys([*paths, *also_allowed]))
            said = refusal(f"{option}: {fact} called {name!r}", name, allowed)
            raise ScenarioError(f"{scenario.path}: {said}")


def _dots(name: str) -> Iterator[int]:
    """The places of the dots in a name: before each stands the path of a module."""
    for place, letter in enumerate(name):
        if letter == ".":
            yield place


# What does not correspond


def check_parameters(scenario: Scenario, mindspore: Description, torch: Description) -> None:
    """Raise ScenarioError where a trained parameter has no partner, or one of another shape.

    The message says for each what it might belong to, and the line to add.
    """
    problems = [*_without_partner(mindspore, torch), *_of_another_shape(mindspore, torch)]
    if not problems:
        return
    lines = "".join(f"\n  {problem}" for problem in problems)
    raise ScenarioError(
        f"{scenario.path}: the parameters of the two nets do not correspond.{lines}\n"
        f"{_remedy(mindspore, torch)}"
    )


def _remedy(mindspore: Description, torch: Description) -> str:
    """The lines to add if each parameter belongs to the nearest one that is left over."""
    names: dict[str, str] = {}
    layouts: dict[str, str] = {}
    lone, lone_in_torch = _lone(mindspore, torch)
    for spec in lone:
        near = _nearest(
            spec, [other for other in lone_in_torch if other.name not in names.values()]
        )
        if spec.trainable and is_floating(spec) and near:
            names[spec.path] = near[0].name
            layouts[spec.path] = _layout(Held(spec, near[0]))
    for held in common(mindspore, torch):
        if held.mindspore.trainable or held.torch.trainable:
            layouts[held.mindspore.path] = _layout(held)

    pairs = [f'"{path}": "{name}"' for path, name in names.items()]
    steps = [f'"{path}": {layout}' for path, layout in layouts.items() if layout]
    lines = []
    if pairs:
        lines.append(f"PARAMETER_NAMES = {{{', '.join(pairs)}}}")
    if steps:
        lines.append(f"LAYOUTS = {{{', '.join(steps)}}}")
    if not lines:
        return (
            "Give both nets parameters of the same shapes; pairs of other names stand in"
            ' PARAMETER_NAMES = {"mindspore name": "torch name"}'
        )
    return "If these are the same numbers, add " + " and ".join(lines)


def _lone(
    mindspore: Description, torch: Description
) -> tuple[list[ParameterSpec], list[ParameterSpec]]:
    """What MindSpore's net alone holds, and what PyTorch's does."""
    in_mindspore, in_torch = all_specs(mindspore), all_specs(torch)
    lone = [spec for spec in in_mindspore.values() if spec.name not in in_torch]
    lone_in_torch = [spec for spec in in_torch.values() if spec.name not in in_mindspore]
    return lone, lone_in_torch


def _without_partner(mindspore: Description, torch: Description) -> Iterator[str]:
    """A sentence on each trained parameter that one net alone has."""
    lone, lone_in_torch = _lone(mindspore, torch)
    for spec in lone:
        # Nobody trains integers: such a parameter is a counter or a table of indices.
        if spec.trainable and is_floating(spec):
            yield f"MindSpore alone has {_titled(spec)}; {_candidates('PyTorch', spec, lone_in_torch)}"
    for spec in lone_in_torch:
        if spec.trainable:
            yield f"PyTorch alone has {_titled(spec)}; {_candidates('MindSpore', spec, lone)}"


def _candidates(side: str, spec: ParameterSpec, others: list[ParameterSpec]) -> str:
    """What a parameter without a partner may belong to on the other side."""
    near = _nearest(spec, others)
    if not near:
        return f"{side} has nothing left over of its size"
    return f"nearest in {side}: {', '.join(map(_titled, near))}"


def _nearest(spec: ParameterSpec, others: list[ParameterSpec]) -> list[ParameterSpec]:
    """The parameters most like one by shape, then by name; none where no size is the same."""
    alike = [other for other in others if _size(other) == _size(spec)]
    names = nearest(spec.path, [other.path for other in alike])

    def distance(other: ParameterSpec) -> tuple[bool, bool, int]:
        place = names.index(other.path) if other.path in names else len(names)
        return other.value.shape != spec.value.shape, not other.trainable, place

    return sorted(alike, key=distance)[:SHOWN]


def _of_another_shape(mindspore: Description, torch: Description) -> Iterator[str]:
    """A sentence on each pair, one of which is trained, whose shapes differ."""
    for held in common(mindspore, torch):
        is_trained = held.mindspore.trainable or held.torch.trainable
        if is_trained and not held.has_one_shape:
            shapes = (
                f"{held.mindspore.value.shape} in MindSpore, {held.torch.value.shape} in PyTorch"
            )
            yield f"{held.name} has shape {shapes}"


def _layout(held: Held) -> str:
    """The layout that makes MindSpore's shape PyTorch's; empty where none is needed or none does."""
    if held.has_one_shape or _size(held.mindspore) != _size(held.torch):
        return ""
    shape, wanted = held.mindspore.value.shape, held.torch.value.shape
    if len(shape) == 2 and shape[::-1] == wanted:
        return '{"transpose": (1, 0)}'
    return f'{{"reshape": {wanted}}}'


def _titled(spec: ParameterSpec) -> str:
    """A parameter by its framework's names, with its shape."""
    own_name = spec.own_name if spec.own_name not in ("", spec.path) else ""
    called = f" (its own name: {own_name})" if own_name else ""
    return f"{spec.path} {spec.value.shape}{called}"


def _size(spec: ParameterSpec) -> int:
    return int(np.prod(spec.value.shape, dtype=int))


def is_floating(spec: ParameterSpec) -> bool:
    """Whether a tensor holds floating numbers."""
    return "float" in spec.value.dtype


# Findings


def findings(
    scenario: Scenario, mindspore: Description, torch: Description
) -> tuple[ReportFinding, ...]:
    """What two nets do unlike each other, each finding judged by what the scenario expects."""
    judged = []
    unmet = list(scenario.expected_findings)
    for finding in _found(scenario, mindspore, torch):
        applicable = [entry for entry in scenario.expected_findings if entry.applies(finding)]
        unmet = [entry for entry in unmet if entry not in applicable]
        if applicable:
            reason = applicable[0].reason
            judged.append(msgspec.structs.replace(finding, expected=True, reason=reason))
        else:
            judged.append(finding)

    for entry in unmet:
        sentence = (
            f"{', '.join(entry.names)}: the scenario expects a finding, and there is none:"
            f" {entry.reason}"
        )
        judged.append(ReportFinding(kind="missing", sentence=sentence, names=tuple(entry.names)))
    return tuple(judged)


def _found(
    scenario: Scenario, mindspore: Description, torch: Description
) -> Iterator[ReportFinding]:
    """What one net trains and the other does not, and starting values that reach one net alone."""
    given = scenario.parameters() or {}
    for held in common(mindspore, torch):
        if held.mindspore.trainable != held.torch.trainable:
            yield _of_roles(held)

    in_mindspore, in_torch = all_specs(mindspore), all_specs(torch)
    for spec in mindspore.parameters:
        if spec.trainable and not is_floating(spec) and spec.name not in in_torch:
            yield _of_integers(spec)
    for name in given:
        if (name in in_mindspore) != (name in in_torch):
            yield _of_lost_start(name, "PyTorch" if name in in_torch else "MindSpore")


def _of_roles(held: Held) -> ReportFinding:
    sides = {"PyTorch": held.torch, "MindSpore": held.mindspore}
    clauses = []
    # The one that is trained comes first.
    for side, spec in sorted(sides.items(), key=lambda item: not item[1].trainable):
        integers = "" if is_floating(spec) else f", with values of {spec.value.dtype},"
        clauses.append(f"{ROLE_WORDS[spec.role]}{integers} in {side}")
    sentence = f"{held.name} is {' and '.join(clauses)}"
    return ReportFinding(kind="role", sentence=sentence, names=(held.name,))


def _of_integers(spec: ParameterSpec) -> ReportFinding:
    sentence = (
        f"{spec.name} is trained in MindSpore although it holds {spec.value.dtype}"
        " (Parameter takes requires_grad=True unless told otherwise), and PyTorch has none"
    )
    return ReportFinding(kind="role", sentence=sentence, names=(spec.name,))


def _of_lost_start(name: str, side: str) -> ReportFinding:
    sentence = (
        f"parameters() gives {name}, which reaches {side} alone: the other net holds nothing of"
        " that name; if it does under another one, name the pair in PARAMETER_NAMES"
    )
    return ReportFinding(kind="start", sentence=sentence, names=(name,))


def keep_their_own(held: Held) -> bool:
    """Whether each net keeps its own values of a tensor.

    Parameters and buffers start alike, as a checkpoint would have them, and so does what either
    trains; a plain tensor is otherwise what the net's own code made it.
    """
    one, other = unpack(held.mindspore.value), unpack(held.torch.value)
    # Tables of other sizes (a mask for the longest text) are not the same quantity.
    if one.size != other.size:
        return True
    roles = {held.mindspore.role, held.torch.role}
    if "trained" in roles or "constant" not in roles:
        return False
    pair = one.ravel().astype(np.float64), other.ravel().astype(np.float64)
    return not np.allclose(*pair, START_RTOL, START_ATOL, equal_nan=True)
