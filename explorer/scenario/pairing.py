"""Pairs the parameters of two nets by names, then by order, kind and shape within the module tree.

Two independent ways lead to the pairs: down the two module trees, and along the two sequences of
declarations. Where they agree, the pairs are unambiguous; where they do not, there are two
candidates, between which values decide (``starts.py``).
"""

import difflib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Literal, NamedTuple, get_args

from explorer.model.requests import ParameterSpec

Kind = Literal["weight", "bias", "mean", "variance", ""]
"""What a parameter is in its module; empty where its name does not say."""

KINDS: tuple[tuple[str, Kind], ...] = (
    ("running_mean", "mean"),
    ("moving_mean", "mean"),
    ("running_var", "variance"),
    ("moving_var", "variance"),
    ("weight", "weight"),
    ("gamma", "weight"),
    ("bias", "bias"),
    ("beta", "bias"),
)
"""What a last name says of its kind, the longer names first."""

RECURRENT = ("_ih", "_hh", "_hr")
"""What tells the weights of a recurrent module apart: two different ones never belong together."""

LIKENESS = 0.5
"""The lowest ratio of difflib (0 to 1) at which names of siblings count as alike."""

LEAST = 0.1
"""The least ratio at which a likeness counts at all: "v" and "value" have one of 0.33."""

How = Literal["name", "value", "shape", "likeness", "order", "guess"]
"""How two parameters were paired.

By equal names; by what they do to the outputs; by a shape that no other one has; by names that are
alike; by the order among layers of one shape; by a few letters, or the order of siblings whose
names say nothing.
"""

STRENGTHS: tuple[How, ...] = get_args(How)
"""The ways from the surest to the least sure."""

Shape = tuple[int, ...]

Feature = tuple[str, Shape]
"""The kind of a parameter, with the part of a recurrent module, and its shape without ones."""

Signature = tuple[Feature, ...]
"""The features of a module's own parameters, sorted."""

Content = frozenset[tuple[Signature, int]]
"""The signatures of the modules in a part of a net, and how many there are of each."""


class Pair(NamedTuple):
    """A parameter of MindSpore's and the one of PyTorch's, and how they were paired."""

    mindspore: ParameterSpec
    torch: ParameterSpec
    how: How


class Pairing(NamedTuple):
    """Pairs in MindSpore's order, and what each net has left over."""

    pairs: tuple[Pair, ...]
    mindspore: tuple[ParameterSpec, ...] = ()
    torch: tuple[ParameterSpec, ...] = ()

    @property
    def names(self) -> dict[str, str]:
        """PyTorch's names by MindSpore's paths."""
        return {pair.mindspore.path: pair.torch.name for pair in self.pairs}

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left over that a net trains."""
        return not any(spec.trainable for spec in (*self.mindspore, *self.torch))


# Kinds and shapes


def kind_of(spec: ParameterSpec) -> Kind:
    """The kind of a parameter, by PyTorch's name."""
    return kind_of_name(spec.name)


def kind_of_name(name: str) -> Kind:
    """The kind that the last part of a name tells."""
    last = name.rpartition(".")[2].casefold()
    # "weight_net" names a module and "position_bias_table" a table: what a name ends with counts.
    for word, kind in KINDS:
        if word in last and not last.endswith(("table", "net")):
            return kind
    return ""


def feature_of(spec: ParameterSpec) -> Feature:
    """The kind and shape of a parameter; lengths of 1 do not count."""
    last = last_name(spec)
    parts = [part for part in RECURRENT if part in last]
    if "reverse" in last:
        parts.append("reverse")
    return kind_of(spec) + "".join(parts), squeezed(spec.value.shape)


def squeezed(shape: Shape) -> Shape:
    """A shape without its lengths of 1: a 1×1 convolution has that of a dense layer."""
    return tuple(length for length in shape if length != 1)


def last_name(spec: ParameterSpec) -> str:
    """The last part of PyTorch's name of a parameter."""
    return spec.name.rpartition(".")[2]


def module_of(spec: ParameterSpec) -> str:
    """PyTorch's path of the module that a parameter is in."""
    return spec.name.rpartition(".")[0]


def size_of(spec: ParameterSpec) -> int:
    """The number of elements of a parameter."""
    size = 1
    for length in spec.value.shape:
        size *= length
    return size


def fits(one: ParameterSpec, other: ParameterSpec) -> bool:
    """Whether two parameters may be the same: of one size, and not of two different kinds."""
    (kind, _), (other_kind, _) = feature_of(one), feature_of(other)
    kinds_fit = "" in (kind, other_kind) or kind == other_kind
    return kinds_fit and size_of(one) == size_of(other)


# The module tree


class Unit:
    """A part of a net: a module with all in it, or parameters that belong together."""

    def __init__(self, name: str, own: Iterable[ParameterSpec] = ()) -> None:
        self.name = name
        self.own = list(own)
        self.children: dict[str, Unit] = {}

    @property
    def parts(self) -> list["Unit"]:
        """The units one level below: its own parameters, then its modules."""
        # A table may be in a module of its own in the other net.
        parts = [Unit(last_name(spec), [spec]) for spec in self.own if not kind_of(spec)]
        rest = [spec for spec in self.own if kind_of(spec)]
        if rest:
            parts.append(Unit("", rest))
        return [*parts, *self.children.values()]

    @property
    def is_leaf(self) -> bool:
        """Whether there is nothing to open."""
        return not self.children and len(self.parts) == 1

    def leaves(self) -> Iterator["Unit"]:
        """All units without further ones below, in order."""
        waiting = [self]
        while waiting:
            unit = waiting.pop()
            if unit.is_leaf:
                yield unit
            else:
                waiting.extend(reversed(unit.parts))

    @property
    def signature(self) -> Signature:
        """The features of its own parameters."""
        return tuple(sorted(map(feature_of, self.own)))

    @cached_property
    def content(self) -> Content:
        """How often it holds a module of each signature."""
        return frozenset(Counter(leaf.signature for leaf in self.leaves()).items())

    @cached_property
    def contents(self) -> Counter[Content]:
        """How often a content is that of this unit or of one in it."""
        counts = Counter([self.content])
        if not self.is_leaf:
            for unit in _opened(self):
                counts += unit.contents
        return counts

    @property
    def size(self) -> int:
        """The number of modules with parameters in it."""
        return sum(count for _, count in self.content)


def tree_of(specs: Iterable[ParameterSpec]) -> Unit:
    """The module tree that the names of parameters describe."""
    root = Unit("")
    for spec in specs:
        unit = root
        for part in filter(None, module_of(spec).split(".")):
            unit = unit.children.setdefault(part, Unit(part))
        unit.own.append(spec)
    return root


def _opened(unit: Unit) -> list[Unit]:
    """What is inside a unit, through all modules that hold a single one."""
    parts = unit.parts
    while len(parts) == 1 and not parts[0].is_leaf:
        parts = parts[0].parts
    return parts


# Candidates


def candidates(
    mindspore: Sequence[ParameterSpec], torch: Sequence[ParameterSpec]
) -> tuple[Pairing, ...]:
    """The pairings that names, order, kinds and shapes allow: one where they leave no choice.

    Of several the first one is the likelier. Each has as many pairs as it can.
    """
    mine, theirs = list(filter(_counts, mindspore)), list(filter(_counts, torch))
    by_tree = _finished(_by_tree(mine, theirs), mine, theirs)
    by_sequence = _finished(_by_sequence(mine, theirs), mine, theirs)
    conflicts = 0
    for path, name in by_tree.names.items():
        conflicts += by_sequence.names.get(path, name) != name
    if not conflicts:
        return (max(by_tree, by_sequence, key=lambda pairing: len(pairing.pairs)),)
    if len(by_sequence.pairs) > len(by_tree.pairs):
        return by_sequence, by_tree
    return by_tree, by_sequence


def _counts(spec: ParameterSpec) -> bool:
    """Whether a tensor takes part: a parameter of floating numbers, or a running statistic."""
    if "float" not in spec.value.dtype:
        return False
    is_known = spec.role == "frozen" and kind_of(spec) != ""
    return spec.trainable or is_known or kind_of(spec) in ("mean", "variance")


def _by_tree(mine: Sequence[ParameterSpec], theirs: Sequence[ParameterSpec]) -> list[Pair]:
    pairs: list[Pair] = []
    top: How = "name"
    waiting = [(_opened(tree_of(mine)), _opened(tree_of(theirs)), top)]
    while waiting:
        left, right, above = waiting.pop()
        for unit, other, how in _matched(left, right):
            weaker = max(how, above, key=STRENGTHS.index)
            if unit.is_leaf and other.is_leaf:
                pairs += _inside(unit, other, weaker)
            else:
                waiting.append((_opened(unit), _opened(other), weaker))
    return pairs


def _matched(left: list[Unit], right: list[Unit]) -> Iterator[tuple[Unit, Unit, How]]:
    """Pairs of units with the same content; larger ones are opened until they have a partner."""
    left, right = list(left), list(right)
    while left and right:
        matches = _of_one_content(left, right)
        if not matches:
            matches = _of_one_name(left, right)
        for unit, other, how in matches:
            left.remove(unit)
            right.remove(other)
            yield unit, other, how
        if not matches:
            largest = max((unit.size for unit in (*left, *right) if not unit.is_leaf), default=0)
            if not largest:
                return
            left, right = _opened_if(left, largest), _opened_if(right, largest)


def _opened_if(units: list[Unit], size: int) -> list[Unit]:
    """The units, those that hold ``size`` modules replaced by what is in them."""
    opened: list[Unit] = []
    for unit in units:
        if not unit.is_leaf and unit.size == size:
            opened += _opened(unit)
        else:
            opened.append(unit)
    return opened


def _of_one_content(left: list[Unit], right: list[Unit]) -> list[tuple[Unit, Unit, How]]:
    groups: dict[Content, tuple[list[Unit], list[Unit]]] = {}
    for side, units in enumerate((left, right)):
        for unit in units:
            groups.setdefault(unit.content, ([], []))[side].append(unit)
    # Of units that are not opened yet some may belong to a group.
    inside = _inside_all(left), _inside_all(right)
    pairs: list[tuple[Unit, Unit, How]] = []
    for content, (mine, theirs) in groups.items():
        if len(mine) == len(theirs) == inside[0][content] == inside[1][content]:
            pairs += _among_alike(mine, theirs)
        elif not (_are_numbers(mine) or _are_numbers(theirs)):
            pairs += [(unit, other, "name") for unit, other in _nearest_pairs(mine, theirs, 1.0)]
    return pairs


def _inside_all(units: Iterable[Unit]) -> Counter[Content]:
    counts: Counter[Content] = Counter()
    for unit in units:
        counts += unit.contents
    return counts


def _of_one_name(left: list[Unit], right: list[Unit]) -> list[tuple[Unit, Unit, How]]:
    """Pairs of modules of one name that hold much the same: parts of nets that differ inside."""
    by_name = {other.name: other for other in right if not other.is_leaf}
    # Numbers say the same thing only in two sequences of one length.
    are_same = _numbers(left) == _numbers(right)
    pairs: list[tuple[Unit, Unit, How]] = []
    for unit in left:
        other = by_name.get(unit.name)
        if other is None or unit.is_leaf or (unit.name.isdigit() and not are_same):
            continue
        shared = sum((Counter(dict(unit.content)) & Counter(dict(other.content))).values())
        if 2 * shared >= min(unit.size, other.size):
            pairs.append((unit, other, "name"))
            del by_name[unit.name]
    return pairs


def _among_alike(units: list[Unit], others: list[Unit]) -> Iterator[tuple[Unit, Unit, How]]:
    """Pairs among as many units of one content: by name, by likeness, else in order."""
    if len(units) == 1:
        same = units[0].name == others[0].name
        yield units[0], others[0], "name" if same else "shape"
        return
    left, right = list(units), list(others)
    ways: tuple[tuple[float, How], ...] = ((1.0, "name"), (LIKENESS, "likeness"), (LEAST, "guess"))
    if _are_numbers(left) or _are_numbers(right):
        ways = ()
    rest: How = "order" if not ways else "likeness"
    for least, how in ways:
        for unit, other in _nearest_pairs(left, right, least):
            left.remove(unit)
            right.remove(other)
            rest = how if how == "guess" else rest
            yield unit, other, how
    if len(left) > 1 and ways:
        rest = "guess"
    for unit, other in zip(left, right, strict=True):
        yield unit, other, rest


def _numbers(units: Iterable[Unit]) -> list[str]:
    return [unit.name for unit in units if unit.name.isdigit()]


def _are_numbers(units: Iterable[Unit]) -> bool:
    """Whether the names of units are places in a sequence, which say nothing but the order."""
    return all(unit.name.isdigit() for unit in units)


def _nearest_pairs(
    left: Sequence[Unit], right: Sequence[Unit], least: float
) -> list[tuple[Unit, Unit]]:
    """The pairs of units each of which has the name that is the nearest to the other's."""
    names, other_names = [unit.name for unit in left], [unit.name for unit in right]
    pairs = []
    for place, name in enumerate(names):
        there = nearest(name, other_names, least)
        if there is not None and nearest(other_names[there], names, least) == place:
            pairs.append((left[place], right[there]))
    return pairs


def nearest(name: str, names: Sequence[str], least: float) -> int | None:
    """The place of the name most like ``name``; None where none is near, or two are as near."""
    ratios = [likeness(name, other) for other in names]
    best = max(ratios, default=0.0)
    if best < least or ratios.count(best) > 1:
        return None
    return ratios.index(best)


def likeness(name: str, other: str) -> float:
    """The ratio of difflib, 0 to 1, of two names; case and underscores do not count."""
    one, another = (text.casefold().replace("_", "") for text in (name, other))
    return difflib.SequenceMatcher(None, one, another, autojunk=False).ratio()


def _by_sequence(mine: Sequence[ParameterSpec], theirs: Sequence[ParameterSpec]) -> list[Pair]:
    """The pairs of modules of one signature in the order of declaration, as far as there are as many."""
    groups: dict[Signature, tuple[list[Unit], list[Unit]]] = {}
    for leaf in tree_of(mine).leaves():
        groups.setdefault(leaf.signature, ([], []))[0].append(leaf)
    for leaf in tree_of(theirs).leaves():
        groups.setdefault(leaf.signature, ([], []))[1].append(leaf)
    pairs: list[Pair] = []
    for units, others in groups.values():
        if len(units) == len(others):
            how: How = "shape" if len(units) == 1 else "order"
            for unit, other in zip(units, others, strict=True):
                pairs += _inside(unit, other, how)
    return pairs


def _inside(unit: Unit, other: Unit, how: How) -> Iterator[Pair]:
    """The pairs of the parameters of two modules of one signature."""
    for feature in dict.fromkeys(unit.signature):
        left = [spec for spec in unit.own if feature_of(spec) == feature]
        right = [spec for spec in other.own if feature_of(spec) == feature]
        by_name = {last_name(spec): spec for spec in right}
        for spec in list(left):
            same = by_name.get(last_name(spec))
            if same is not None:
                left.remove(spec)
                right.remove(same)
                yield Pair(spec, same, "name" if spec.name == same.name else how)
        for spec, partner in zip(left, right, strict=True):
            yield Pair(spec, partner, how if len(left) == 1 else "guess")


def _finished(
    pairs: list[Pair], mine: Sequence[ParameterSpec], theirs: Sequence[ParameterSpec]
) -> Pairing:
    """A pairing with those parameters too whose modules do not have one signature.

    A layer with a bias and one without it still have one weight.
    """
    pairs = [*pairs, *_by_sequence(*_free(mine, theirs, pairs))]
    left, right = _free(mine, theirs, pairs)
    groups: dict[Feature, tuple[list[ParameterSpec], list[ParameterSpec]]] = {}
    normed = _with_statistics(left), _with_statistics(right)
    for side, specs in enumerate((left, right)):
        for spec in specs:
            # A batch norm and a layer norm have weights of one shape, and are not the same.
            if module_of(spec) not in normed[side]:
                groups.setdefault(feature_of(spec), ([], []))[side].append(spec)
    for (kind, _), (own, others) in groups.items():
        if len(own) == len(others):
            how: How = "shape" if len(own) == 1 else "order"
            if not kind and len(own) > 1:
                how = "guess"
            pairs += [Pair(*pair, how) for pair in zip(own, others, strict=True)]
    pairs += _of_unknown_kind(*_free(mine, theirs, pairs))

    places = {spec.path: place for place, spec in enumerate(mine)}
    pairs.sort(key=lambda pair: places[pair.mindspore.path])
    left, right = _free(mine, theirs, pairs)
    return Pairing(tuple(map(_by_name_if_equal, pairs)), tuple(left), tuple(right))


def _by_name_if_equal(pair: Pair) -> Pair:
    is_named = pair.mindspore.name == pair.torch.name
    return pair._replace(how="name") if is_named else pair


def _of_unknown_kind(left: list[ParameterSpec], right: list[ParameterSpec]) -> Iterator[Pair]:
    """Guesses where a name says nothing of a kind: a scale and a shift beside a weight and a bias."""
    groups: dict[Shape, tuple[list[ParameterSpec], list[ParameterSpec]]] = {}
    for side, specs in enumerate((left, right)):
        for spec in specs:
            groups.setdefault(squeezed(spec.value.shape), ([], []))[side].append(spec)
    for own, others in groups.values():
        are_unknown = not (any(map(kind_of, own)) and any(map(kind_of, others)))
        if len(own) == len(others) and are_unknown:
            yield from (Pair(*pair, "guess") for pair in zip(own, others, strict=True))


def _with_statistics(specs: Iterable[ParameterSpec]) -> set[str]:
    return {module_of(spec) for spec in specs if kind_of(spec) in ("mean", "variance")}


def _free(
    mine: Iterable[ParameterSpec], theirs: Iterable[ParameterSpec], pairs: Iterable[Pair]
) -> tuple[list[ParameterSpec], list[ParameterSpec]]:
    """The parameters of each net that are in no pair."""
    taken: set[int] = set()
    for pair in pairs:
        taken |= {id(pair.mindspore), id(pair.torch)}
    left = [spec for spec in mine if id(spec) not in taken]
    right = [spec for spec in theirs if id(spec) not in taken]
    return left, right
