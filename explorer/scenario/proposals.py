"""Entries of PARAMETER_NAMES for parameters that belong together, and what may belong together."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import NamedTuple

from explorer.model.requests import Description, ParameterSpec
from explorer.scenario.correspondence import is_weight, lone
from explorer.scenario.pairing import LIKENESS, fits, module_of, nearest

Couple = tuple[ParameterSpec, ParameterSpec]
"""A parameter of MindSpore's, and the one of PyTorch's."""


class Proposal(NamedTuple):
    """Likely pairs among parameters that no rule pairs, in MindSpore's order.

    ``undecided`` are the paths of MindSpore's parameters that several of PyTorch's fit equally.
    """

    pairs: tuple[Couple, ...]
    undecided: tuple[str, ...] = ()


def propose(mindspore: Description, torch: Description) -> Proposal:
    """The likely pairs among the parameters that only one of the nets has, of one size and kind."""
    in_mindspore, in_torch = lone(mindspore, torch), lone(torch, mindspore)
    mine = list(filter(is_weight, in_mindspore))
    pairs: list[Couple] = []
    for spec in mine:
        other = _only(spec, in_torch)
        if other is not None and _only(other, mine) is spec:
            pairs.append((spec, other))

    taken = {id(spec) for pair in pairs for spec in pair}
    free = [other for other in in_torch if id(other) not in taken]
    left = [spec for spec in mine if id(spec) not in taken]
    undecided = [spec.path for spec in left if any(map(partial(fits, spec), free))]
    return Proposal(tuple(pairs), tuple(undecided))


def _only(spec: ParameterSpec, others: Sequence[ParameterSpec]) -> ParameterSpec | None:
    """The one that fits a parameter, trained ones first, or the one in the module most like its own."""
    fitting = [other for other in others if fits(spec, other)]
    trained = [other for other in fitting if other.trainable]
    choices = trained or fitting
    if len(choices) == 1:
        return choices[0]
    place = nearest(module_of(spec), list(map(module_of, choices)), LIKENESS)
    return None if place is None else choices[place]


# Entries of PARAMETER_NAMES


def entries(pairs: Iterable[Couple], mindspore: Description, torch: Description) -> dict[str, str]:
    """The entries of PARAMETER_NAMES for pairs, a whole Cell in the place of its parameters.

    ``mindspore`` has the names that its parameters have without any entry.
    """
    pairs = list(pairs)
    names = {spec.path: other.name for spec, other in pairs}
    in_torch = {spec.name for spec in (*torch.parameters, *torch.constants)}
    lines: dict[str, str] = {}
    for spec, other in pairs:
        if any(spec.path.startswith(f"{cell}.") for cell in lines):
            continue
        cell = _cell(spec, other, mindspore, names, in_torch)
        if cell is None:
            lines[spec.path] = other.name
        else:
            lines[cell[0]] = cell[1]
    return lines


def _cell(
    spec: ParameterSpec,
    other: ParameterSpec,
    mindspore: Description,
    names: dict[str, str],
    in_torch: set[str],
) -> tuple[str, str] | None:
    """The largest Cell around a parameter that PyTorch calls otherwise, and what it calls it.

    None where the names end alike nowhere, or where a new name for the Cell would be wrong for
    another of its parameters.
    """
    path, parts, wanted = (name.split(".") for name in (spec.path, spec.name, other.name))
    if len(path) != len(parts):
        return None
    alike = 0
    while alike < min(len(parts), len(wanted)) and parts[-1 - alike] == wanted[-1 - alike]:
        alike += 1
    for kept in range(alike, 0, -1):
        cell, name = ".".join(path[:-kept]), ".".join(wanted[:-kept])
        if cell and name and _suits_all(cell, name, mindspore, names, in_torch):
            return cell, name
    return None


def _suits_all(
    cell: str, name: str, mindspore: Description, names: dict[str, str], in_torch: set[str]
) -> bool:
    """Whether all parameters of a Cell get the right names where it is called ``name``."""
    depth = cell.count(".") + 1
    for spec in (*mindspore.parameters, *mindspore.constants):
        if not spec.path.startswith(f"{cell}."):
            continue
        renamed = ".".join([name, *spec.name.split(".")[depth:]])
        is_right = names[spec.path] == renamed if spec.path in names else renamed in in_torch
        if not is_right:
            return False
    return True
