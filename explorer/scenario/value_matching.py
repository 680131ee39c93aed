"""Pairs parameters by values: both nets made to start alike, then what they return is compared.

A first run from a random start says which candidate is right. Where none is, the modules whose
pairs are not sure all start with one set of values, and one after the other with others: what that
does to the outputs is the same for a module and its counterpart, and is still alike where one of the
nets has a mistake. Pairs that nothing confirms are the likeliest, and are said to be no more.
"""

import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np

from explorer.model.arrays import AnyArray, Array, pack, unpack
from explorer.model.requests import ParameterSpec, Responses
from explorer.scenario.packing import Pack, packs
from explorer.scenario.pairing import Pair, Pairing, feature_of, kind_of, module_of

Starts = tuple[dict[str, Array], ...]

Who = Literal["own", "leading"]
"""The net whose parameters are to be paired, or the one whose names count."""

Ask = Callable[[Who, Mapping[str, str], Starts], Responses | None]
"""Runs a net from given starts, its own with names by path; None where its worker was lost."""

SAME = 1e-3
"""The greatest relative difference of outputs that start alike and count as the same."""

LIKE = 0.1
"""The greatest at which outputs count as alike: the nets may differ in an epsilon."""

CLEARLY = 5.0
"""How many times nearer the outputs of one candidate must be than those of another."""

MOST = 48
"""The greatest number of modules that are moved one by one."""

MOVES = 4
"""How often each module is moved, each time to other values."""

DECLARED = 0.05
"""How much more alike than the pairs that names and order give, from 0 to 1, others must be."""


class Likeness(NamedTuple):
    """A pairing, and how far the outputs are from each other with it; None where that is not known."""

    pairing: Pairing
    difference: float | None = None

    @property
    def is_confirmed(self) -> bool:
        """Whether the nets compute the same with it."""
        return self.difference is not None and self.difference <= SAME


def likeliest(choices: Sequence[Pairing], ask: Ask) -> Likeness:
    """The candidate with which both nets compute the same, or the likeliest one."""
    surest = min(choices, key=_guesses)
    differences = _differences(choices, ask)
    if differences is None:
        return Likeness(surest)
    order = sorted(range(len(choices)), key=differences.__getitem__)
    best = order[0]
    if differences[best] <= SAME:
        return Likeness(choices[best], differences[best])
    matched = _nearer(surest, _by_response(surest, ask), ask)
    (difference,) = _differences([matched], ask) or [np.inf]
    is_clear = len(order) > 1 and differences[best] * CLEARLY <= differences[order[1]]
    if is_clear and differences[best] <= min(LIKE, difference):
        return Likeness(choices[best], differences[best])
    return Likeness(matched, difference)


def _nearer(surest: Pairing, matched: Pairing | None, ask: Ask) -> Pairing:
    """The surest pairing, or the matched one if the outputs of both nets are more alike with it."""
    if matched is None or matched.names == surest.names:
        return surest
    unlike = []
    for pairing in (surest, matched):
        found = packs(pairing.mindspore, pairing.torch)
        keys = [f"{turn} {{0.name}}".format for turn in range(MOVES)]
        starts = [_start(pairing, found, key) for key in keys]
        outputs = _outputs(names_with(pairing, found), tuple(starts), ask)
        unlike.append(_unlike(*outputs) if outputs else 1.0)
    return matched if unlike[1] < unlike[0] else surest


def _guesses(pairing: Pairing) -> int:
    return sum(pair.how == "guess" for pair in pairing.pairs)


# Starts


def drawn(name: str, spec: ParameterSpec) -> AnyArray:
    """Random values for a parameter, of a size that keeps activations in range; by ``name`` alone.

    Rows of zeros among others stay so: a net that has none for padding may leave its rows out instead.
    """
    shape = spec.value.shape
    # crc32 and not hash(), which is salted in every process.
    normal = np.random.default_rng(zlib.crc32(name.encode())).standard_normal(shape)
    kind = kind_of(spec)
    if kind == "variance" or (kind == "weight" and len(shape) < 2):
        return np.asarray(1 + 0.2 * np.abs(normal))
    if kind != "weight":
        return np.asarray(0.2 * normal)
    begins = unpack(spec.value).any(axis=tuple(range(1, len(shape))))
    if begins.any():
        normal[~begins] = 0.0
    row_length = max(int(np.prod(shape[1:], dtype=int)), 1)
    return np.asarray(normal * np.sqrt(2 / row_length))


def _record(values: AnyArray, spec: ParameterSpec) -> Array:
    return pack(values.reshape(spec.value.shape).astype("float32"), spec.value.dtype)


def _start(
    pairing: Pairing, found: Iterable[Pack], key: Callable[[ParameterSpec], str]
) -> dict[str, Array]:
    """One start for both nets, by PyTorch's names; ``key`` says what a parameter's values depend on."""
    start = {}
    for pair in pairing.pairs:
        values = drawn(key(pair.torch), pair.torch)
        start[pair.torch.name] = _record(values, pair.torch)
    packed: set[str] = set()
    for pack_ in found:
        start.update(pack_start(pack_, drawn(pack_.whole.name, pack_.whole)))
        packed |= {spec.path for spec in (pack_.whole, *pack_.parts)}
    # A bias that one net alone has changes nothing where it is 0.
    for spec in (*pairing.mindspore, *pairing.torch):
        if spec.path not in packed and kind_of(spec) == "bias":
            start.setdefault(spec.name, _record(np.zeros(spec.value.shape), spec))
    return start


def pack_start(pack_: Pack, whole: AnyArray) -> dict[str, Array]:
    """Starting values of a packed parameter and of its parts, by their names in either net."""
    names = pack_.names
    parts = pack_.split(whole.reshape(pack_.whole.value.shape))
    start = {names.get(pack_.whole.path, pack_.whole.name): _record(whole, pack_.whole)}
    for part, values in zip(pack_.parts, parts, strict=True):
        start[names.get(part.path, part.name)] = _record(values, part)
    return start


def names_with(pairing: Pairing, found: Iterable[Pack]) -> dict[str, str]:
    """A name in PyTorch's words for MindSpore's parameters, by path."""
    names = dict(pairing.names)
    for pack_ in found:
        names.update(pack_.names)
    return names


# One run from one start


def _differences(choices: Sequence[Pairing], ask: Ask) -> list[float] | None:
    """How far the outputs of both nets are from each other with each candidate."""
    differences = []
    for choice in choices:
        found = packs(choice.mindspore, choice.torch)
        start = _start(choice, found, lambda spec: spec.name)
        outputs = _outputs(names_with(choice, found), (start,), ask)
        if outputs is None:
            return None
        differences.append(distance(outputs[0][0], outputs[1][0]))
    return differences


def _outputs(
    names: Mapping[str, str], starts: Starts, ask: Ask
) -> tuple[list[AnyArray], list[AnyArray]] | None:
    """The outputs of MindSpore's net and of PyTorch's from each start; None where one fails."""
    theirs = ask("leading", {}, starts)
    mine = ask("own", names, starts)
    if theirs is None or mine is None or theirs.error or mine.error:
        return None
    return list(map(_vector, mine.outputs)), list(map(_vector, theirs.outputs))


def _vector(outputs: Iterable[Array]) -> AnyArray:
    flat = [unpack(output).ravel().astype(np.float64) for output in outputs]
    return np.concatenate(flat) if flat else np.zeros(0)


def distance(one: AnyArray, other: AnyArray) -> float:
    """The norm of the difference, relative to the greater one; inf where nothing can be said."""
    if one.shape != other.shape or not (np.isfinite(one).all() and np.isfinite(other).all()):
        return np.inf
    scale = max(np.linalg.norm(one), np.linalg.norm(other))
    return float(np.linalg.norm(one - other) / scale) if scale else np.inf


# One module after the other


def _by_response(pairing: Pairing, ask: Ask) -> Pairing | None:
    """The pairs of modules to which both nets respond most alike; None where that tells nothing."""
    groups = _unsure(pairing)
    modules = [module for group in groups for module in group]
    if not modules or len(modules) > MOST:
        return None
    found = packs(pairing.mindspore, pairing.torch)
    group_of = {}
    for number, group in enumerate(groups):
        for module in group:
            group_of[module] = number
    by_module = _of_modules(pairing)

    def key(spec: ParameterSpec) -> str:
        module = module_of(spec)
        if module in group_of:
            return f"group {group_of[module]} {feature_of(spec)}"
        return spec.name

    base = _start(pairing, found, key)
    # Each start has only what changes: a whole one for each module would take gigabytes.
    starts = [base]
    back: dict[str, Array] = {}
    for module in modules:
        for turn in range(MOVES):
            moved = {}
            for pair in by_module[module]:
                values = drawn(f"moved {turn} {key(pair.torch)}", pair.torch)
                moved[pair.torch.name] = _record(values, pair.torch)
            starts.append({**back, **moved})
            back = {name: base[name] for name in moved}
    outputs = _outputs(names_with(pairing, found), tuple(starts), ask)
    if outputs is None:
        return None
    mine, theirs = (_responses(side, modules) for side in outputs)
    partners: dict[str, str] = {}
    for group in groups:
        partners.update(_partners(group, mine, theirs))
    return _exchanged(pairing, partners)


def _responses(
    outputs: Sequence[AnyArray], modules: Sequence[str]
) -> dict[str, Sequence[AnyArray]]:
    """What each move of each module does to the outputs, of which the first are those of the base."""
    moves = [output - outputs[0] for output in outputs[1:]]
    return {
        module: moves[place * MOVES : (place + 1) * MOVES] for place, module in enumerate(modules)
    }


def _of_modules(pairing: Pairing) -> dict[str, list[Pair]]:
    by_module: dict[str, list[Pair]] = {}
    for pair in pairing.pairs:
        by_module.setdefault(module_of(pair.torch), []).append(pair)
    return by_module


def _unsure(pairing: Pairing) -> list[list[str]]:
    """PyTorch's modules whose parameters others of one signature could be, in groups."""
    groups: dict[tuple[object, ...], list[str]] = {}
    for module, pairs in _of_modules(pairing).items():
        if any(pair.how != "name" for pair in pairs):
            signature = tuple(sorted(feature_of(pair.torch) for pair in pairs))
            groups.setdefault(signature, []).append(module)
    return [group for group in groups.values() if len(group) > 1]


def _partners(
    group: Sequence[str],
    mine: Mapping[str, Sequence[AnyArray]],
    theirs: Mapping[str, Sequence[AnyArray]],
) -> dict[str, str]:
    """For each module of a group that whose counterpart in MindSpore responds as it does.

    MindSpore's modules go by the names of those that they are paired with so far.
    """
    # Few commands get here, and all would wait for it.
    from scipy.optimize import linear_sum_assignment  # type: ignore[import-untyped]  # no types

    costs = np.array([[_unlike(mine[one], theirs[other]) for other in group] for one in group])
    _, places = linear_sum_assignment(costs - DECLARED * np.eye(len(group)))
    return {module: group[place] for module, place in zip(group, places, strict=True)}


def _unlike(one: Sequence[AnyArray], other: Sequence[AnyArray]) -> float:
    """How little two modules' responses are multiples of each other, from 0 to 1, on average."""
    shares = []
    for here, there in zip(one, other, strict=True):
        scale = float(np.linalg.norm(here) * np.linalg.norm(there))
        # A factor, as a sign or a scale that one net lacks, is the mistake's, and none of the module's.
        share = float(here @ there) / scale if here.shape == there.shape and scale else 0.0
        shares.append(1 - share**2 if np.isfinite(share) else 1.0)
    return float(np.mean(shares))


def _exchanged(pairing: Pairing, partners: Mapping[str, str]) -> Pairing:
    """The pairing with other counterparts for some modules of MindSpore's."""
    by_module = _of_modules(pairing)
    pairs = []
    for pair in pairing.pairs:
        own = module_of(pair.torch)
        there = partners.get(own, own)
        if there == own:
            pairs.append(pair)
            continue
        feature = feature_of(pair.torch)
        for other in by_module[there]:
            if feature_of(other.torch) == feature:
                pairs.append(Pair(pair.mindspore, other.torch, "value"))
                break
    return Pairing(tuple(pairs), pairing.mindspore, pairing.torch)
