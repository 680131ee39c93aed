"""Whether two trainings were given the same data, start and parameters to train, and else how they differ."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Literal

import numpy as np
from msgspec.structs import replace

from explorer.compare.graphs.sameness import CLEAR, level, ratios
from explorer.compare.training.values import Moment, elements, greatest, norm_of
from explorer.model.results import Leaf
from explorer.model.training import Training
from explorer.model.training_comparison import SideName, Status, TrainingDifference
from explorer.numeric.differences import Floats
from explorer.numeric.summaries import spread

Answered = Status | TrainingDifference

Kind = Literal["data", "carried", "read"]
"""The fields of a pass that have what it was given."""

STATIC = ("float32", "float64")


def are_same(one: Floats, other: Floats, dtype: str = "float32", growth: float = 1.0) -> bool:
    """Whether two tensors differ by no more than rounding does."""
    if one.shape != other.shape:
        return False
    dtype = dtype if dtype in STATIC else "float32"
    levels = [growth * level(values, dtype, None) for values in (one, other)]
    return bool((ratios(one, other, *levels) <= CLEAR).all())


# Data


def data(left: Moment, right: Moment, others: Sequence[Moment]) -> Answered:
    """Whether both sides were called with the same; ``others`` are all steps of the right side."""
    names, *tensors = _in_common(left, right)
    if not names:
        return "not_recorded"
    reset = _reset(left, right)
    if reset is not None:
        return reset
    is_split = _have_the_same(left, right)
    if is_split or _are_all_same(*tensors):
        return _read(left, right, is_split)
    return _unlike(left, names, tensors, others)


def _read(left: Moment, right: Moment, is_split: bool) -> Answered:
    """Whether what operators of the losses have read beside is the same, where all else is.

    It may be computed of what the other side was given, or be given in other passes where that ``is_split``:
    so it is a difference where both sides have read such tensors alone.
    """
    has_more = any(batch.has_read_more for moment in (left, right) for batch in moment.step.batches)
    for own, other in ((left, right), (right, left)):
        given, read = _tensors(own), _tensors(own, "read")
        other_given, other_read = _tensors(other), _tensors(other, "read")
        widths = {one.shape[1] for one in other_given.values()} if is_split else ()
        mine, theirs = (
            [*one.values(), *more.values()]
            for one, more in ((given, read), (other_given, other_read))
        )
        lone = [one for one in other_read.values() if not _is_among(one, mine)]
        for name, tensor in read.items():
            alike = [one for one in lone if one.shape == tensor.shape]
            if alike and not has_more and not _is_among(tensor, theirs):
                return TrainingDifference(
                    question="data",
                    reason="values",
                    step=left.step.number,
                    names=(name,),
                    of=len(mine),
                    apart=greatest(tensor, alike[0]),
                )
        # A target that is one number, such as that of a discriminator, is none of the data.
        rows = [_rows(leaf, own) for leaf in _leaves(own, "data")]
        varied = {one.shape[1] for one in rows if one.size and np.ptp(one)}
        rest = [one for one in given.values() if one.shape[1] in varied.difference(widths)]
        has_more |= not all(_is_among(one, theirs) for one in (*rest, *read.values()))
    return "in_part" if has_more else "same"


def _is_among(one: Floats, others: Sequence[Floats]) -> bool:
    return any(_are_all_same([one], [other]) for other in others)


def _unlike(
    left: Moment, names: Sequence[str], tensors: Sequence[list[Floats]], others: Sequence[Moment]
) -> TrainingDifference:
    """How tensors that both sides were called with differ."""
    number = left.step.number
    unlike = [
        name
        for name, one, other in zip(names, *tensors, strict=False)
        if not are_same(one.ravel(), other.ravel())
    ]
    plain = TrainingDifference(
        question="data", reason="values", step=number, names=tuple(unlike), of=len(names)
    )
    for one, other in zip(*tensors, strict=True):
        if one.size != other.size:
            return replace(plain, reason="other_size", numbers=(len(one), len(other)))
    apart = max(greatest(one, other) for one, other in zip(*tensors, strict=True))
    if _are_all_same(_sorted(tensors[0]), _sorted(tensors[1])):
        return replace(plain, reason="rows_in_another_order", apart=apart)
    for moment in others:
        if _are_all_same(*_in_common(left, moment)[1:]):
            return replace(
                plain, reason="of_another_step", numbers=(moment.step.number,), apart=apart
            )
    stretch = _stretch(*(tensors[side][names.index(unlike[0])] for side in (0, 1)))
    reason = "stretched" if stretch else "values"
    return replace(plain, reason=reason, numbers=stretch, apart=apart)


def _reset(left: Moment, right: Moment) -> TrainingDifference | None:
    """That one side was given what the other side carries on from the step before: tensors of its shapes."""
    sides: tuple[tuple[SideName, Moment, Moment], ...] = (
        ("left", left, right),
        ("right", right, left),
    )
    for side, own, other in sides:
        more = _forms(_leaves(own, "data")) - _forms(_leaves(other, "data"))
        lost = _forms(_leaves(other, "carried")) - _forms(_leaves(own, "carried"))
        if lost and lost <= more:
            named = _leaves(left, "data" if side == "left" else "carried")
            names = tuple(leaf.name for leaf in named if _form(leaf) in lost)
            return TrainingDifference(
                question="data", reason="reset", step=left.step.number, names=names, side=side
            )
    return None


def _leaves(moment: Moment, kind: Kind) -> list[Leaf]:
    return [leaf for batch in moment.step.batches for leaf in getattr(batch, kind)]


def _form(leaf: Leaf) -> tuple[tuple[int, ...], str]:
    # PyTorch has a state of each layer and direction, if there is only one too.
    return tuple(size for size in leaf.value.shape if size != 1), leaf.value.dtype


def _forms(leaves: Sequence[Leaf]) -> Counter[tuple[tuple[int, ...], str]]:
    return Counter(map(_form, leaves))


def _have_the_same(left: Moment, right: Moment) -> bool:
    """Whether both sides were called with the same tensors, in whatever passes and how often.

    Those whose rows have a length that one side alone has, such as labels, are no part of it.
    """
    ones, others = (
        [(_width(leaf), _rows(leaf, moment)) for leaf in _leaves(moment, "data")]
        for moment in (left, right)
    )
    widths = [{width for width, _one in side} for side in (ones, others)]
    common = widths[0] & widths[1]
    return bool(common) and all(
        any(_are_all_same([one], [other]) for _width, other in more)
        for some, more in ((ones, others), (others, ones))
        for width, one in some
        if width in common
    )


def _in_common(left: Moment, right: Moment) -> tuple[list[str], list[Floats], list[Floats]]:
    """What both sides were called with, in one order, and its names on the left.

    One side may have recorded more: the labels, where the net computes its loss itself. Of its tensors
    those count that are most like the other side's.
    """
    by_name, others = _tensors(left), list(_tensors(right).values())
    ones, names = list(by_name.values()), list(by_name)
    places = [list(range(len(ones))), list(range(len(others)))]
    if len(ones) < len(others):
        places[1] = _places(ones, others)
    elif len(ones) > len(others):
        places[0] = _places(others, ones)
    return (
        [names[place] for place in places[0]] if others else [],
        [ones[place] for place in places[0]],
        [others[place] for place in places[1]],
    )


def _places(fewer: Sequence[Floats], more: Sequence[Floats]) -> list[int]:
    """The place of each of some tensors among more: of the same values, else of the same form, else next."""
    free = list(range(len(more)))
    found = []
    for one in fewer:
        likeness = [
            (_are_all_same([one], [more[place]]), one.shape == more[place].shape) for place in free
        ]
        found.append(free.pop(likeness.index(max(likeness))))
    return found


def _tensors(moment: Moment, kind: Kind = "data") -> dict[str, Floats]:
    """Each tensor of the data of a step, with a row for each sample: its passes one behind the other.

    Passes whose rows have other lengths, as of another net or of padded texts, are tensors of their own.
    """
    passes: list[tuple[Leaf, ...]] = [getattr(batch, kind) for batch in moment.step.batches]
    if not passes or not any(passes):
        return {}
    rows: dict[tuple[int, int], list[Floats]] = {}
    names: dict[tuple[int, int], str] = {}
    for data in passes:
        for place, leaf in enumerate(data):
            of_leaf = _rows(leaf, moment)
            key = place, of_leaf.shape[1]
            names.setdefault(key, leaf.name)
            rows.setdefault(key, []).append(of_leaf)
    tensors: dict[str, Floats] = {}
    for key, parts in rows.items():
        name = names[key]
        tensors[name if name not in tensors else f"{name} ({key[1]})"] = np.concatenate(parts)
    return tensors


def _width(leaf: Leaf) -> int:
    """How long the rows of a tensor are."""
    return math.prod(leaf.value.shape[1:])


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


def _are_all_same(one: Sequence[Floats], other: Sequence[Floats]) -> bool:
    # A program may flatten its labels before a loss sees them.
    return len(one) == len(other) and all(
        are_same(a.ravel(), b.ravel()) for a, b in zip(one, other, strict=True)
    )


def _sorted(tensors: Sequence[Floats]) -> list[Floats]:
    """The same tensors with their rows in an order that is that of their values."""
    if len({len(tensor) for tensor in tensors}) > 1:
        return list(tensors)
    order = np.lexsort(np.concatenate(tensors, axis=1).T)
    return [tensor[order] for tensor in tensors]


def _stretch(one: Floats, other: Floats) -> tuple[float, ...]:
    """The factor and the summand that make one tensor of the other, if there are such."""
    x, y = other.ravel(), one.ravel()
    if x.size < 3 or not x.std():
        return ()
    factor, summand = np.polyfit(x, y, 1)
    fits = are_same(y, factor * x + summand)
    return (float(factor), float(summand)) if fits else ()


# The start


def start(left: Training, right: Training) -> Answered:
    """Whether both sides began with the same parameters and buffers."""
    parameters, buffers = (
        [{one.name: one for one in side.start if one.role == role} for side in (left, right)]
        for role in ("parameter", "buffer")
    )
    if not all(parameters):
        return "not_recorded"
    first = left.steps[0].number
    missing = parameters[0].keys() ^ parameters[1].keys()
    every = len(parameters[0] | parameters[1])
    if missing:
        side: SideName = "left" if missing - parameters[0].keys() else "right"
        names = tuple(sorted(missing))
        return TrainingDifference(
            question="start", reason="missing", step=first, names=names, of=every, side=side
        )
    unlike, apart = [], 0.0
    for ones, others in (parameters, buffers):
        for name in ones.keys() & others.keys():
            one, other = elements(ones[name].value), elements(others[name].value)
            if not are_same(one, other, ones[name].value.dtype):
                unlike.append(name)
                apart = max(apart, greatest(one, other))
    if not unlike:
        return "same"
    names = tuple(name for name in parameters[0] | buffers[0] if name in unlike)
    return TrainingDifference(
        question="start", reason="values", step=first, names=names, of=every, apart=apart
    )


def trained(left: Moment, right: Moment, sides: tuple[Training, Training]) -> Answered:
    """Whether the optimizers of both sides update the same parameters."""
    updated = [_updated(moment, side) for moment, side in zip((left, right), sides, strict=True)]
    if not all(updated):
        return "not_recorded"
    unlike = updated[0] ^ updated[1]
    if not unlike:
        return "same"
    return TrainingDifference(
        question="trained",
        reason="frozen",
        step=left.step.number,
        names=tuple(sorted(unlike)),
        of=len(updated[0] | updated[1]),
        side="left" if unlike - updated[0] else "right",
    )


def _updated(moment: Moment, training: Training) -> set[str]:
    """The names of the parameters that are trained: in a group, and not frozen."""
    grouped = {name for group in moment.step.groups for name in group.names}
    starts = {one.name: one.trained for one in training.start if one.role == "parameter"}
    marked = {name for name, is_trained in starts.items() if is_trained}
    if not grouped or not marked:
        return grouped or marked
    return grouped & marked
