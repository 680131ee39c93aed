"""Whether two trainings were called with the same data, in whatever layout, and else how these differ."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import permutations
from typing import Literal

import numpy as np
from msgspec.structs import replace

from explorer.compare.training.moments import (
    Answered,
    Moment,
    Pair,
    are_same,
    elements,
    greatest,
    norm_of,
)
from explorer.model.arrays import Array, pack
from explorer.model.results import Leaf
from explorer.model.training import Training
from explorer.model.training_comparison import Reason
from explorer.numeric.differences import Floats
from explorer.numeric.summaries import spread

Kind = Literal["data", "carried", "read"]
"""The fields of a pass that have what it was given."""

Named = tuple[str, Floats]
"""A tensor with its name."""


def data(pair: Pair) -> Answered:
    """Whether both sides were called with the same."""
    left, right, _noise = pair
    names, ones, others = _in_common(left, right)
    if not names:
        return "not_recorded"
    for side, resets, carries in pair.sides:
        # A side is given what the other one carries on from the step before: tensors of its shapes.
        more = _forms(resets, "data") - _forms(carries, "data")
        lost = _forms(carries, "carried") - _forms(resets, "carried")
        if lost and lost <= more:
            named = _leaves(left, "data" if side == "left" else "carried")
            reset = [leaf.name for leaf in named if _form(leaf) in lost]
            return pair.differ("data", "reset", reset, side=side)
    is_split = _have_the_same(left, right)
    if is_split or _are_all_same(ones, others):
        return _read(pair, is_split)
    tensors = list(zip(names, ones, others, strict=True))
    unlike = [it for it in tensors if not are_same(it[1].ravel(), it[2].ravel())]
    plain = pair.differ("data", "values", [name for name, *_ in unlike], of=len(names))
    for one, other in zip(ones, others, strict=True):
        if one.size != other.size:
            return replace(plain, reason="other_size", numbers=(len(one), len(other)))
    reason, numbers = _how(pair, ones, others, unlike[0][1:])
    apart = max(greatest(one, other) for one, other in zip(ones, others, strict=True))
    return replace(plain, reason=reason, numbers=numbers, apart=apart)


def _how(
    pair: Pair,
    ones: Sequence[Floats],
    others: Sequence[Floats],
    unlike: tuple[Floats, Floats],
) -> tuple[Reason, tuple[float, ...]]:
    """How tensors of one side are made of those of the other, and with which numbers."""
    if _are_all_same(_sorted(ones), _sorted(others)):
        return "rows_in_another_order", ()
    for moment in pair.right.steps.values():
        if _are_all_same(*_in_common(pair.left, moment)[1:]):
            return "of_another_step", (moment.step.number,)
    one, other = (tensor.ravel() for tensor in unlike)
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


# The tensors of a step


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


def _in_common(left: Moment, right: Moment) -> tuple[list[str], list[Floats], list[Floats]]:
    """What both sides were called with, in one order, and its names on the left.

    One side may have recorded more: the labels, where the net computes its loss itself. Of its tensors
    those count that are most like the other side's.
    """
    mine, theirs = [*_tensors(left).items()], [*_tensors(right).items()]
    if len(mine) < len(theirs):
        theirs = _most_like(mine, theirs)
    elif len(mine) > len(theirs):
        mine = _most_like(theirs, mine)
    return [it for it, _ in mine], [it for _, it in mine], [it for _, it in theirs]


def _most_like(fewer: Sequence[Named], more: Sequence[Named]) -> list[Named]:
    """For each of some tensors one of more: of the same values, else of the same form, else the next."""
    free = list(more)
    found = []
    for _name, one in fewer:
        likeness = [(_is_among(one, [it]), one.shape == it.shape) for _, it in free]
        found.append(free.pop(likeness.index(max(likeness))))
    return found


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


def _are_all_same(ones: Sequence[Floats], others: Sequence[Floats]) -> bool:
    # A program may flatten its labels before a loss sees them.
    return len(ones) == len(others) and all(
        are_same(one.ravel(), other.ravel()) for one, other in zip(ones, others, strict=True)
    )


def _is_among(one: Floats, others: Iterable[Floats]) -> bool:
    return any(are_same(one.ravel(), other.ravel()) for other in others)


def _sorted(tensors: Sequence[Floats]) -> Sequence[Floats]:
    """The same tensors with their rows in an order that is that of their values."""
    if len({len(tensor) for tensor in tensors}) > 1:
        return tensors
    order = np.lexsort(np.concatenate(tensors, axis=1).T)
    return [tensor[order] for tensor in tensors]


# Layouts


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
