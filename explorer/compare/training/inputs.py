"""Two trainings by the names and in the layouts of one side, and whether they are called with the same."""

import functools
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import permutations
from typing import Any, Literal, TypeVar

import numpy as np
from msgspec.structs import replace

from explorer.compare.training.moments import (
    Answered,
    Moment,
    Pair,
    Tensors,
    are_same,
    elements,
    greatest,
    module_of,
    norm_of,
)
from explorer.model.arrays import Array, pack
from explorer.model.graph import GradGraph, Node
from explorer.model.requests import ParameterSpec
from explorer.model.results import Leaf
from explorer.model.state import StateChange
from explorer.model.trace import Start, Trace
from explorer.model.training import Batch, Drift, Group, Training, TrainingStep
from explorer.model.training_comparison import Reason
from explorer.numeric.differences import Floats
from explorer.numeric.summaries import spread
from explorer.scenario.pairing import candidates

# The parameters by the names of one side

BY_NAMES: dict[type, tuple[str, ...]] = {
    Training: ("start", "steps", "jittered"),
    TrainingStep: ("batches", "groups", *Tensors._fields),
    Batch: ("gradients",),
    Group: ("names",),
    Drift: ("weights", "gradients", "buffers"),
    Trace: ("start", "results", "state", "graph"),
    GradGraph: ("nodes",),
    **dict.fromkeys((Leaf, Start, StateChange, Node), ("name",)),
}
"""The fields of records in which something goes by the names of parameters, or by what begins with them."""

Named = TypeVar("Named", Training, Trace)


def in_names_of(left: Training, right: Training) -> tuple[Training, dict[str, str]]:
    """The right training by the names of the left one, and these by its own where they differ.

    Tensors that begin with one value are one parameter, and so are those beside them in their modules; what
    is left is paired by equal names, then by names, order and shapes. Where both have the same names of the
    same shapes these count: values that are exchanged there are a difference.
    """
    ones, others = starts_of(left), starts_of(right)
    found = _paired(ones, others)
    left_over = ones.keys() - found.values()
    found.update({name: name for name in others if name not in found and name in left_over})
    # What is left is as likely as names, order and shapes say.
    specs = [
        [
            ParameterSpec(name, name, "trained" if it.role == "parameter" else "buffer", it.value)
            for name, it in some.items()
            if name not in paired
        ]
        for some, paired in ((others, {*found}), (ones, {*found.values()}))
    ]
    if all(specs):
        found.update(candidates(*specs)[0].names)
    names = {other: one for other, one in found.items() if other != one}
    # A name that means something else on the left is no name of it.
    taken = {name: f"{right.name}.{name}" for name in others if name in ones and name not in found}
    return _renamed(right, {**names, **taken}, others), names


def in_names_of_trace(left: Trace, right: Trace) -> Trace:
    """The right trace by the names of the left one, where all that is called otherwise begins alike."""
    ones, others = starts_of(left), starts_of(right)
    names = {other: one for other, one in _paired(ones, others).items() if other != one}
    is_free = not any(one in others and one not in names for one in names.values())
    if not is_free or not all(_begin_alike(ones[one], others[it]) for it, one in names.items()):
        return right
    return _renamed(right, names, names)


def without(training: Training, names: Iterable[str]) -> Training:
    """A training without some parameters and what belongs to them."""
    lone = dict.fromkeys(names)
    return _renamed(training, lone, {**starts_of(training), **lone})


def _paired(ones: Mapping[str, Start], others: Mapping[str, Start]) -> dict[str, str]:
    """The names of tensors that begin with one value by those of others, and of what is beside them.

    There are none where both have the same names of the same shapes.
    """
    shapes, of_others = (
        {name: it.value.shape for name, it in some.items()} for some in (ones, others)
    )
    if shapes == of_others:
        return {}
    pairs = [
        (one, other) for one in ones for other in others if _begin_alike(ones[one], others[other])
    ]
    # A tensor with another partner of its shape and values is none that these tell.
    counts = [Counter(names) for names in zip(*pairs, strict=True)] or [Counter(), Counter()]
    found = {other: one for one, other in pairs if counts[0][one] == counts[1][other] == 1}
    # Tensors of one last name and shape go together in modules of which another tensor is paired.
    modules = {module_of(other): module_of(one) for other, one in found.items()}
    free = {name: shape for name, shape in shapes.items() if name not in found.values()}
    for other, shape in of_others.items():
        module = modules.get(module_of(other))
        name = f"{module}.{other.rpartition('.')[2]}".lstrip(".")
        if module is not None and other not in found and free.get(name) == shape:
            found[other] = name
    return found


def starts_of(training: Training | Trace) -> dict[str, Start]:
    """The parameters and buffers that a training, or a step, begins with, by name."""
    return {one.name: one for one in training.start if one.role in ("parameter", "buffer")}


def _begin_alike(one: Start, other: Start) -> bool:
    if one.role != other.role or one.value.shape != other.value.shape:
        return False
    return are_same(elements(one.value), elements(other.value), one.value.dtype)


def _renamed(record: Named, names: Mapping[str, str | None], owners: Iterable[str]) -> Named:
    """A record in which what belongs to an owner goes by its other name; without it where that is None.

    Such are a parameter, its gradient "dfc.weight", and what an optimizer holds for it: "fc.weight.exp_avg".
    """
    longest_first = sorted(owners, key=len, reverse=True)

    @functools.cache
    def renamed(name: str) -> str | None:
        for prefix in ("", "d"):
            rest = name[len(prefix) :] if name.startswith(prefix) else ""
            for owner in longest_first:
                if rest == owner or rest.startswith(f"{owner}."):
                    other = names.get(owner, owner)
                    return None if other is None else prefix + other + rest[len(owner) :]
        return name

    def by_names(part: Any) -> Any:
        if not part:
            return part
        if isinstance(part, str):
            return renamed(part)
        if isinstance(part, dict):
            named = {renamed(name): value for name, value in part.items()}
            return {name: value for name, value in named.items() if name is not None}
        if isinstance(part, tuple):
            return tuple(one for one in map(by_names, part) if one is not None)
        fields = {name: by_names(getattr(part, name)) for name in BY_NAMES[type(part)]}
        return None if fields.get("name", "") is None else replace(part, **fields)

    whole: Named = by_names(record)
    return whole


# The data in the layouts of one side


def in_layouts_of(left: Training, right: Training) -> Training:
    """The right training with its data as they lie on the left, where their axes have another order.

    Images have their channels first, or last.
    """
    others = {
        step.number: [leaf.value for batch in step.batches for leaf in batch.data]
        for step in left.steps
    }
    steps = []
    for step in right.steps:
        batches = []
        for batch in step.batches:
            wanted = others.get(step.number, [])
            data = (replace(leaf, value=_laid_as(leaf.value, wanted)) for leaf in batch.data)
            batches.append(replace(batch, data=tuple(data)))
        steps.append(replace(step, batches=tuple(batches)))
    return replace(right, steps=tuple(steps))


def _laid_as(own: Array, others: Iterable[Array]) -> Array:
    """An array with all axes but the first in the order of the first of others that has another one.

    It is the first order that fits where none makes both the same. Of arrays that are kept in part, figures
    of all elements say whether they are: they depend on no layout.
    """
    for other in others:
        is_turned = own.shape != other.shape and sorted(own.shape) == sorted(other.shape)
        if len(own.shape) < 3 or not is_turned or own.shape[0] != other.shape[0]:
            continue
        if own.excerpt and other.excerpt:
            one, another = (
                np.array([it.minimum, it.maximum, it.mean, it.norm, *it.quantiles])
                for it in (own.excerpt.summary, other.excerpt.summary)
            )
            if are_same(one, another):
                return other
        elif not own.excerpt and not other.excerpt:
            values, wanted = elements(own).reshape(own.shape), elements(other)
            orders = permutations(range(1, values.ndim))
            turned = [values.transpose(0, *order) for order in orders]
            likely = [it for it in turned if it.shape == other.shape]
            same = (it for it in likely if are_same(it.ravel(), wanted))
            return pack(next(same, likely[0]), own.dtype)
    return own


# What both sides are called with

Kind = Literal["data", "carried", "read"]
"""The fields of a pass that have what it was given."""


def data(pair: Pair) -> Answered:
    """Whether both sides were called with the same."""
    left, right, _noise = pair
    named = _in_common(left, right)
    if not named:
        return "not_recorded"
    for side, resets, carries in pair.sides:
        # A side is given what the other one carries on from the step before: tensors of its shapes.
        more = _forms(resets, "data") - _forms(carries, "data")
        lost = _forms(carries, "carried") - _forms(resets, "carried")
        if lost and lost <= more:
            given = _leaves(left, "data" if side == "left" else "carried")
            reset = [leaf.name for leaf in given if _form(leaf) in lost]
            return pair.differ("data", "reset", reset, side=side)
    is_split = _have_the_same(left, right)
    unlike = [it for it in named if not _is_like(*it[1:])]
    if is_split or not unlike:
        return _read(pair, is_split)
    plain = pair.differ("data", "values", [name for name, *_ in unlike], of=len(named))
    for _name, one, other in named:
        if one.size != other.size:
            return replace(plain, reason="other_size", numbers=(len(one), len(other)))
    reason, numbers = _how(pair, named, unlike[0])
    apart = max(greatest(one, other) for _name, one, other in named)
    return replace(plain, reason=reason, numbers=numbers, apart=apart)


NamedPair = tuple[str, Floats, Floats]
"""A tensor of both sides with its name on the left."""


def _how(
    pair: Pair, named: Sequence[NamedPair], unlike: NamedPair
) -> tuple[Reason, tuple[float, ...]]:
    """How tensors of one side are made of those of the other, and with which numbers."""
    _names, *sides = zip(*named, strict=True)
    ordered = []
    for tensors in sides:
        # Rows of tensors that belong together are ordered together, by all their values.
        is_even = len({len(tensor) for tensor in tensors}) == 1
        order = np.lexsort(np.concatenate(tensors, axis=1).T) if is_even else slice(None)
        ordered.append([tensor[order] for tensor in tensors])
    if all(map(_is_like, *ordered)):
        return "rows_in_another_order", ()
    for moment in pair.right.steps.values():
        if all(_is_like(*it[1:]) for it in _in_common(pair.left, moment)):
            return "of_another_step", (moment.step.number,)
    one, other = (tensor.ravel() for tensor in unlike[1:])
    if other.size > 2 and other.std():
        factor, summand = np.polyfit(other, one, 1)
        if are_same(one, factor * other + summand):
            return "stretched", (float(factor), float(summand))
    return "values", ()


def _read(pair: Pair, is_split: bool) -> Answered:
    """Whether what operators of the losses have read beside is the same, where all else is.

    It may be computed of what the other side was given, or be given in other passes where that ``is_split``:
    so it is a difference where both sides have read such tensors alone.
    """
    has_more = any(
        batch.has_read_more for _, moment, _ in pair.sides for batch in moment.step.batches
    )
    for _side, own, other in pair.sides:
        given, read = _tensors(own), _tensors(own, "read")
        other_given, other_read = _tensors(other), _tensors(other, "read")
        mine = [*given.values(), *read.values()]
        theirs = [*other_given.values(), *other_read.values()]
        lone = [one for one in other_read.values() if not _is_among(one, mine)]
        for name, tensor in read.items():
            alike = [one for one in lone if one.shape == tensor.shape]
            if alike and not has_more and not _is_among(tensor, theirs):
                apart = greatest(tensor, alike[0])
                return pair.differ("data", "values", [name], of=len(mine), apart=apart)
        # A target that is one number, such as that of a discriminator, is none of the data.
        rows = [_rows(leaf, own) for leaf in _leaves(own, "data")]
        widths = {one.shape[1] for one in rows if one.size and np.ptp(one)}
        if is_split:
            widths -= {one.shape[1] for one in other_given.values()}
        rest = [one for one in given.values() if one.shape[1] in widths]
        has_more |= not all(_is_among(one, theirs) for one in (*rest, *read.values()))
    return "in_part" if has_more else "same"


def _leaves(moment: Moment, kind: Kind) -> list[Leaf]:
    return [leaf for batch in moment.step.batches for leaf in getattr(batch, kind)]


def _form(leaf: Leaf) -> tuple[tuple[int, ...], str]:
    # PyTorch has a state of each layer and direction, if there is only one too.
    return tuple(size for size in leaf.value.shape if size != 1), leaf.value.dtype


def _forms(moment: Moment, kind: Kind) -> Counter[tuple[tuple[int, ...], str]]:
    return Counter(map(_form, _leaves(moment, kind)))


def _rows(leaf: Leaf, moment: Moment) -> Floats:
    """A tensor with a row for each sample; what is known of one of which a record has a part as one row."""
    values = elements(leaf.value)
    shape = leaf.value.shape
    if moment.is_few:
        # What is typical of all elements says whether the others are the same.
        typical = norm_of(leaf.value) / max(leaf.value.size, 1) ** 0.5
        return np.append(spread(values), typical).reshape(1, -1)
    if leaf.value.excerpt is not None or not shape:
        return values.reshape(1, -1)
    return values.reshape(shape[0], math.prod(shape[1:]))


def _tensors(moment: Moment, kind: Kind = "data") -> dict[str, Floats]:
    """Each tensor of the data of a step, with a row for each sample: its passes one behind the other.

    Passes whose rows have other lengths, as of another net or of padded texts, are tensors of their own.
    """
    found: dict[tuple[int, int], tuple[str, list[Floats]]] = {}
    for batch in moment.step.batches:
        for place, leaf in enumerate(getattr(batch, kind)):
            rows = _rows(leaf, moment)
            found.setdefault((place, rows.shape[1]), (leaf.name, []))[1].append(rows)
    tensors: dict[str, Floats] = {}
    for (_place, width), (name, passes) in found.items():
        tensors[name if name not in tensors else f"{name} ({width})"] = np.concatenate(passes)
    return tensors


def _in_common(left: Moment, right: Moment) -> list[NamedPair]:
    """What both sides were called with, in one order.

    One side may have recorded more: the labels, where the net computes its loss itself. Of its tensors those
    count that are most like the other side's: of the same values, else of the same form, else the next.
    """
    sides = [[*_tensors(moment).items()] for moment in (left, right)]
    fewer, more = sorted(sides, key=len)
    if len(fewer) < len(more):
        free = list(more)
        more.clear()
        for _name, one in fewer:
            likeness = [(_is_like(one, it), one.shape == it.shape) for _, it in free]
            more.append(free.pop(likeness.index(max(likeness))))
    return [(name, one, other) for (name, one), (_, other) in zip(*sides, strict=True)]


def _have_the_same(left: Moment, right: Moment) -> bool:
    """Whether both sides were called with the same tensors, in whatever passes and how often.

    Those whose rows have a length that one side alone has, such as labels, are no part of it.
    """
    ones, others = (
        [(math.prod(leaf.value.shape[1:]), _rows(leaf, moment)) for leaf in _leaves(moment, "data")]
        for moment in (left, right)
    )
    common = {width for width, _rows in ones} & {width for width, _rows in others}
    return bool(common) and all(
        _is_among(one, [other for _width, other in more])
        for some, more in ((ones, others), (others, ones))
        for width, one in some
        if width in common
    )


def _is_like(one: Floats, other: Floats) -> bool:
    # A program may flatten its labels before a loss sees them.
    return are_same(one.ravel(), other.ravel())


def _is_among(one: Floats, others: Iterable[Floats]) -> bool:
    return any(_is_like(one, other) for other in others)
