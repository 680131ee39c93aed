"""Proposes which parameters of two nets are the same, where their names differ.

Of two parameters that belong together the kinds fit (a weight, a bias, a mean, a variance) and the
sizes are the same. Whatever that and the names of their modules leave open is not proposed.
"""

import difflib
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from operator import attrgetter
from typing import NamedTuple

from explorer.model.requests import Description, ParameterSpec
from explorer.scenario.correspondence import is_floating, is_weight, lone

LIKENESS = 0.5
"""The lowest ratio of difflib (0 to 1) at which names count as alike."""

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

LEAST = 0.1
"""The least ratio at which a likeness of names counts at all: "v" and "value" have one of 0.33."""

Signature = tuple[frozenset[str], tuple[tuple[str, int], ...]]
"""The names of a module's statistics, and those of its weights with their sizes."""

Pair = tuple[ParameterSpec, ParameterSpec]
"""A parameter of MindSpore's, and the one of PyTorch's."""


class ModuleWeights(NamedTuple):
    """The parameters of a module that have no partner: its weights in ``specs``, as declared.

    ``path`` is that of the module in PyTorch's words. ``statistics`` are the last names of what it does
    not train: a batch norm has some, and a layer norm of the same weights has none.
    """

    path: str
    specs: tuple[ParameterSpec, ...]
    statistics: frozenset[str]

    @property
    def signature(self) -> Signature:
        """What the modules of a pair have in common: names, and the sizes of the weights."""
        weights = tuple(sorted((_last(spec), size_of(spec)) for spec in self.specs))
        return self.statistics, weights


class Proposal(NamedTuple):
    """Pairs of MindSpore's parameters and PyTorch's, in MindSpore's order.

    ``unsure`` are the paths of MindSpore's modules whose names tell little: a few letters, or their order
    alone. ``undecided`` are those of its parameters that several of PyTorch's fit equally.
    """

    pairs: tuple[Pair, ...]
    unsure: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()


def fits(one: ParameterSpec, other: ParameterSpec) -> bool:
    """Whether two parameters may be the same: of one size, and not of two different kinds."""
    kinds = kind_of(one), kind_of(other)
    return size_of(one) == size_of(other) and ("" in kinds or kinds[0] == kinds[1])


def kind_of(spec: ParameterSpec) -> str:
    """The one of KINDS that is in PyTorch's name of a parameter; empty if there is none."""
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
    """The likely pairs among the weights that only one of the nets has.

    Modules are paired first, each with one that has weights of the same names and sizes: by the
    modules' names, and where these do not tell by their order. What is left over is paired one by
    one.
    """
    in_mindspore, in_torch = lone(mindspore, torch), lone(torch, mindspore)
    mine = list(filter(is_weight, in_mindspore))
    pairs: list[Pair] = []
    unsure: list[str] = []
    crosses = _Crossings(mindspore, torch)
    for module, other, is_sure in _paired_modules(_modules(in_mindspore), _modules(in_torch)):
        if crosses(module.path, other.path):
            continue
        by_name = {_last(spec): spec for spec in other.specs}
        pairs += [(spec, by_name[_last(spec)]) for spec in module.specs]
        if not is_sure:
            unsure.append(module.specs[0].path.rpartition(".")[0])
    for spec, other_spec in _one_by_one(_free(mine, pairs), _free(in_torch, pairs)):
        if not crosses(_module_of(spec), _module_of(other_spec)):
            pairs.append((spec, other_spec))

    places = {spec.path: place for place, spec in enumerate(mine)}
    pairs.sort(key=lambda pair: places[pair[0].path])
    left_over = _free(in_torch, pairs)
    fitting = [spec for spec in _free(mine, pairs) if any(map(partial(fits, spec), left_over))]
    undecided = map(attrgetter("path"), fitting)
    return Proposal(tuple(pairs), tuple(unsure), tuple(undecided))


class _Crossings:
    """Finds pairs that cross a module of the same name and signature in both nets.

    Layers 1 and 2 beside layers 0 and 1: 2 must not be paired with 0.
    """

    def __init__(self, mindspore: Description, torch: Description) -> None:
        self._mine = {module.path: module for module in _modules(mindspore.parameters)}
        self._theirs = {module.path: module for module in _modules(torch.parameters)}
        self._places = {path: place for place, path in enumerate(self._mine)}
        self._other_places = {path: place for place, path in enumerate(self._theirs)}

    def __call__(self, path: str, other_path: str) -> bool:
        """Whether a pair of the modules at these paths crosses one."""
        if path not in self._mine or other_path not in self._theirs:
            return False
        signature = self._mine[path].signature
        for shared, module in self._mine.items():
            other = self._theirs.get(shared)
            if other is None or not module.signature == other.signature == signature:
                continue
            is_behind = self._places[shared] > self._places[path]
            if is_behind != (self._other_places[shared] > self._other_places[other_path]):
                return True
        return False


def _free(specs: Iterable[ParameterSpec], pairs: Iterable[Pair]) -> list[ParameterSpec]:
    """The parameters of one net that are in no pair."""
    taken = set(map(id, chain.from_iterable(pairs)))
    return [spec for spec in specs if id(spec) not in taken]


def _paired_modules(
    modules: Sequence[ModuleWeights], others: Sequence[ModuleWeights]
) -> Iterator[tuple[ModuleWeights, ModuleWeights, bool]]:
    """Pairs of modules of one signature; beside them whether their names are alike, or nothing else fits."""
    alike: dict[Signature, tuple[list[ModuleWeights], list[ModuleWeights]]] = {}
    for module in modules:
        alike.setdefault(module.signature, ([], []))[0].append(module)
    for other in others:
        if other.signature in alike:
            alike[other.signature][1].append(other)
    for left, right in alike.values():
        yield from _paired_alike(left, right)


def _paired_alike(
    left: list[ModuleWeights], right: list[ModuleWeights]
) -> Iterator[tuple[ModuleWeights, ModuleWeights, bool]]:
    """Pairs among modules that all fit each other: by likeness of names, else in order."""
    is_only = len(left) == len(right) == 1
    for least in (LIKENESS, LEAST):
        for module, other in _by_name(left, right, least):
            left.remove(module)
            right.remove(other)
            yield module, other, is_only or least == LIKENESS
    if len(left) == len(right) and _names_do_not_tell(left, right):
        for module, other in zip(left, right, strict=True):
            yield module, other, is_only


def _names_do_not_tell(left: Sequence[ModuleWeights], right: Sequence[ModuleWeights]) -> bool:
    """Whether names are equally like each other, for all modules of one side."""
    rows = {tuple(_likeness(module.path, other.path) for other in right) for module in left}
    columns = {tuple(_likeness(module.path, other.path) for module in left) for other in right}
    return len(rows) <= 1 or len(columns) <= 1


def _modules(specs: Iterable[ParameterSpec]) -> list[ModuleWeights]:
    """The modules that some parameters are in, as far as these hold weights."""
    by_path: dict[str, list[ParameterSpec]] = {}
    for spec in filter(is_floating, specs):
        by_path.setdefault(_module_of(spec), []).append(spec)
    modules = []
    for path, of_module in by_path.items():
        weights = tuple(spec for spec in of_module if spec.trainable)
        statistics = frozenset(_last(spec) for spec in of_module if not spec.trainable)
        if weights:
            modules.append(ModuleWeights(path, weights, statistics))
    return modules


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
    paths = list(map(_module_of, candidates))
    place = _nearest(_module_of(spec), paths, LIKENESS)
    return None if place is None else candidates[place]


def _by_name(
    left: Sequence[ModuleWeights], right: Sequence[ModuleWeights], least: float
) -> list[tuple[ModuleWeights, ModuleWeights]]:
    """The pairs of modules each of which has the name that is the nearest to the other's."""
    # What all names of a side begin with tells nothing: "backbone.a" beside "backbone.b".
    paths = _without_head([module.path for module in left])
    other_paths = _without_head([module.path for module in right])
    pairs = []
    for place, module in enumerate(left):
        there = _nearest(paths[place], other_paths, least)
        if there is not None and _nearest(other_paths[there], paths, least) == place:
            pairs.append((module, right[there]))
    return pairs


def _without_head(paths: Sequence[str]) -> list[str]:
    """Paths without the parts with which all of them begin; the last part stays."""
    parts = [path.split(".") for path in paths]
    alike = 0
    while len(parts) > 1 and all(len(path) > alike + 1 for path in parts):
        if len({path[alike] for path in parts}) > 1:
            break
        alike += 1
    return [".".join(path[alike:]) for path in parts]


def _nearest(name: str, names: Sequence[str], least: float) -> int | None:
    """The place of the name most like ``name``; None where none is near, or two are as near."""
    likeness = [_likeness(name, other) for other in names]
    best = max(likeness, default=0.0)
    if best < least or likeness.count(best) > 1:
        return None
    return likeness.index(best)


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
