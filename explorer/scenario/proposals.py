"""Proposes which parameters of two nets are the same, where their names differ.

Of two parameters that belong together the kinds fit (a weight, a bias, a mean, a variance) and the
sizes are the same. Whatever that and the names of their modules leave open is not proposed.
"""

import difflib
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

from explorer.model.requests import Description, ParameterSpec
from explorer.scenario.correspondence import is_weight, lone
from explorer.text.choices import LIKENESS

KINDS = (
    "weight_ih",
    "weight_hh",
    "bias_ih",
    "bias_hh",
    "in_proj_weight",
    "in_proj_bias",
    "running_mean",
    "running_var",
    "weight",
    "bias",
)
"""The kinds of parameters that PyTorch's names tell, those whose names hold another's first."""

Item = TypeVar("Item")

Pair = tuple[ParameterSpec, ParameterSpec]
"""A parameter of MindSpore's, and the one of PyTorch's."""


class Module(NamedTuple):
    """The weights of a module that have no partner: their ``specs``, in order of declaration.

    ``path`` is that of the module in PyTorch's words.
    """

    path: str
    specs: tuple[ParameterSpec, ...]

    @property
    def signature(self) -> tuple[tuple[str, int], ...]:
        """The last names and sizes of the weights."""
        return tuple(sorted((_last(spec), size_of(spec)) for spec in self.specs))


class Proposal(NamedTuple):
    """Pairs of MindSpore's parameters and PyTorch's, in MindSpore's order.

    ``in_order`` are the paths of MindSpore's modules that were paired by their order alone,
    ``undecided`` those of its parameters that several of PyTorch's fit equally.
    """

    pairs: tuple[Pair, ...]
    in_order: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()


def fits(one: ParameterSpec, other: ParameterSpec) -> bool:
    """Whether two parameters may be the same: of one size, and not of two different kinds."""
    kinds = kind_of(one), kind_of(other)
    return size_of(one) == size_of(other) and ("" in kinds or kinds[0] == kinds[1])


def kind_of(spec: ParameterSpec) -> str:
    """The one of KINDS that PyTorch's name of a parameter tells; empty where it tells none."""
    last = _last(spec)
    return next((kind for kind in KINDS if kind in last), "")


def size_of(spec: ParameterSpec) -> int:
    """The number of elements of a parameter."""
    size = 1
    for length in spec.value.shape:
        size *= length
    return size


def _last(spec: ParameterSpec) -> str:
    return spec.name.rpartition(".")[2]


def _module_of(spec: ParameterSpec) -> str:
    return spec.name.rpartition(".")[0]


# Pairs


def propose(mindspore: Description, torch: Description) -> Proposal:
    """Which of the weights that one net alone has are the same, as far as that can be told.

    Modules are paired first, each with one that has weights of the same names and sizes: by the
    modules' names, and where these do not tell by their order. What is left over is paired one by
    one.
    """
    mine = [spec for spec in lone(mindspore, torch) if is_weight(spec)]
    theirs = lone(torch, mindspore)
    pairs: list[Pair] = []
    in_order: list[str] = []
    for modules, are_in_order in _paired_modules(mine, theirs):
        for module, other in modules:
            by_name = {_last(spec): spec for spec in other.specs}
            pairs += [(spec, by_name[_last(spec)]) for spec in module.specs]
            if are_in_order:
                in_order.append(module.specs[0].path.rpartition(".")[0])
    pairs += _one_by_one(_free(mine, pairs), _free(theirs, pairs))

    places = {spec.path: place for place, spec in enumerate(mine)}
    pairs.sort(key=lambda pair: places[pair[0].path])
    left_over = _free(theirs, pairs)
    undecided = []
    for spec in _free(mine, pairs):
        undecided += [spec.path] * any(fits(spec, other) for other in left_over)
    return Proposal(tuple(pairs), tuple(in_order), tuple(undecided))


def _free(specs: Iterable[ParameterSpec], pairs: Iterable[Pair]) -> list[ParameterSpec]:
    """The parameters of one net that are in no pair."""
    taken = {id(spec) for pair in pairs for spec in pair}
    return [spec for spec in specs if id(spec) not in taken]


def _paired_modules(
    mine: Iterable[ParameterSpec], theirs: Iterable[ParameterSpec]
) -> Iterator[tuple[list[tuple[Module, Module]], bool]]:
    """Pairs of modules of one signature; beside them whether their order alone tells."""
    modules, others = _modules(mine), _modules(filter(is_weight, theirs))
    for signature in dict.fromkeys(module.signature for module in modules):
        left = [module for module in modules if module.signature == signature]
        right = [module for module in others if module.signature == signature]
        named = _by_name(left, right)
        yield named, False
        rest = [module for module in left if module not in [pair[0] for pair in named]]
        other_rest = [module for module in right if module not in [pair[1] for pair in named]]
        if len(rest) == len(other_rest):
            yield list(zip(rest, other_rest, strict=True)), len(rest) > 1


def _modules(specs: Iterable[ParameterSpec]) -> list[Module]:
    by_path: dict[str, list[ParameterSpec]] = {}
    for spec in specs:
        by_path.setdefault(_module_of(spec), []).append(spec)
    return [Module(path, tuple(of_module)) for path, of_module in by_path.items()]


def _one_by_one(rest: Sequence[ParameterSpec], others: Sequence[ParameterSpec]) -> list[Pair]:
    """Pairs of which each is the only one that fits the other, or the one in the likest module."""
    pairs = []
    for spec in rest:
        other = _only(spec, others)
        if other is not None and _only(other, rest) is spec:
            pairs.append((spec, other))
    return pairs


def _only(spec: ParameterSpec, others: Sequence[ParameterSpec]) -> ParameterSpec | None:
    """The one that fits a parameter, trained ones first, or the one in the module most like its own."""
    fitting = [other for other in others if fits(spec, other)]
    trained = [other for other in fitting if other.trainable]
    candidates = trained or fitting
    if len(candidates) == 1:
        return candidates[0]
    return _nearest(_module_of(spec), candidates, [_module_of(other) for other in candidates])


def _by_name(left: Sequence[Module], right: Sequence[Module]) -> list[tuple[Module, Module]]:
    """The pairs of modules each of which has the name that is the nearest to the other's."""
    paths, other_paths = [module.path for module in left], [module.path for module in right]
    pairs = []
    for module in left:
        other = _nearest(module.path, right, other_paths)
        if other is not None and _nearest(other.path, left, paths) is module:
            pairs.append((module, other))
    return pairs


def _nearest(name: str, items: Sequence[Item], names: Sequence[str]) -> Item | None:
    """The item whose name is the most like ``name``; None where none is near, or two are as near."""
    likeness = [_likeness(name, other) for other in names]
    best = max(likeness, default=0.0)
    if best < LIKENESS or likeness.count(best) > 1:
        return None
    return items[likeness.index(best)]


def _likeness(name: str, other: str) -> float:
    """The ratio of difflib, 0 to 1, of two paths; case and underscores do not count."""
    one, another = (path.casefold().replace("_", "") for path in (name, other))
    return difflib.SequenceMatcher(None, one, another, autojunk=False).ratio()


# Entries of PARAMETER_NAMES


def entries(proposal: Proposal, mindspore: Description, torch: Description) -> dict[str, str]:
    """The entries of PARAMETER_NAMES for pairs, a whole Cell in the place of its parameters."""
    names = {spec.path: other.name for spec, other in proposal.pairs}
    in_torch = {spec.name for spec in (*torch.parameters, *torch.constants)}
    lines: dict[str, str] = {}
    for spec, other in proposal.pairs:
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
