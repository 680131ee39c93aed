"""The parameters of two trainings: which are the same, and whether both begin with them and train them."""

import functools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from explorer.compare.training.moments import (
    Answered,
    Moment,
    Pair,
    are_same,
    elements,
    greatest,
    module_of,
    one_sided,
)
from explorer.model.requests import ParameterSpec
from explorer.model.trace import Start, Trace
from explorer.model.training import Training
from explorer.model.training_comparison import TrainingDifference
from explorer.scenario.pairing import candidates

NAMED = ("gradients", "given", "weights", "buffers", "state", "averages")
"""The fields of a step whose tensors go by the names of parameters, or begin with them."""

DRIFTING = ("weights", "gradients", "buffers")
"""The fields of a jittered run that are by the names of parameters."""

Renamed = Callable[[str], str | None]
"""Another name for a tensor; None where it is left out."""


def in_names_of(left: Training, right: Training) -> tuple[Training, dict[str, str]]:
    """The right training by the names of the left one, and these by its own where they differ.

    Tensors that begin with one value are one parameter, and so are those beside them in their modules; what
    is left is paired by equal names, then by names, order and shapes. Where both have the same names of the
    same shapes these count: values that are exchanged there are a difference.
    """
    ones, others = _starts(left), _starts(right)
    if _shapes(ones) == _shapes(others):
        return right, {}
    found = _paired(ones, others)
    left_over = {name: one for name, one in ones.items() if name not in found.values()}
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
    changes = {**names, **taken}
    changed = _changed(right, lambda name: changes.get(name, name)) if changes else right
    return changed, names


def _paired(ones: Mapping[str, Start], others: Mapping[str, Start]) -> dict[str, str]:
    """The names of tensors that begin with one value by those of others, and of what is beside them."""
    pairs = [
        (one, other) for one in ones for other in others if _begin_alike(ones[one], others[other])
    ]
    # A tensor with another partner of its shape and values is none that these tell.
    counts = [Counter(names) for names in zip(*pairs, strict=True)] or [Counter(), Counter()]
    found = {other: one for one, other in pairs if counts[0][one] == counts[1][other] == 1}
    # Tensors of one last name and shape go together in modules of which another tensor is paired.
    modules = {module_of(other): module_of(one) for other, one in found.items()}
    shapes = {name: it.value.shape for name, it in ones.items() if name not in found.values()}
    for other, it in others.items():
        module = modules.get(module_of(other))
        name = f"{module}.{other.rpartition('.')[2]}".lstrip(".")
        if module is not None and other not in found and shapes.get(name) == it.value.shape:
            found[other] = name
    return found


def in_names_of_trace(left: Trace, right: Trace) -> Trace:
    """The right trace by the names of the left one, where all that is called otherwise begins alike."""
    ones, others = _starts(left), _starts(right)
    if _shapes(ones) == _shapes(others):
        return right
    found = _paired(ones, others)
    names = {other: one for other, one in found.items() if other != one}
    is_free = not any(one in others and one not in names for one in names.values())
    if not is_free or not all(_begin_alike(ones[one], others[it]) for it, one in names.items()):
        return right
    whole = _whole(names, lambda name: names.get(name, name))

    def named(name: str) -> str:
        """The name of a tensor or of the gradient of one."""
        own = whole(name) or name
        return own if own != name or not name.startswith("d") else f"d{whole(name[1:])}"

    graph = right.graph and replace(right.graph, nodes=_leaves(right.graph.nodes, named))
    fields = ("start", "results", "state")
    parts = {field: _leaves(getattr(right, field), named) for field in fields}
    return replace(right, graph=graph, **parts)


def without(training: Training, names: Iterable[str]) -> Training:
    """A training without some parameters and what belongs to them."""
    lone = frozenset(names)
    return _changed(training, lambda name: None if name in lone else name, lone)


def _starts(training: Training | Trace) -> dict[str, Start]:
    return {one.name: one for one in training.start if one.role in ("parameter", "buffer")}


def _shapes(starts: Mapping[str, Start]) -> dict[str, tuple[int, ...]]:
    return {name: tuple(start.value.shape) for name, start in starts.items()}


def _begin_alike(one: Start, other: Start) -> bool:
    if one.role != other.role or one.value.shape != other.value.shape:
        return False
    return are_same(elements(one.value), elements(other.value), one.value.dtype)


# A training by other names


def _changed(training: Training, renamed: Renamed, names: Iterable[str] = ()) -> Training:
    """A training by other names of its parameters; ``names`` are some of them that no start has."""
    whole = _whole({*_starts(training), *names}, renamed)
    steps = []
    for step in training.steps:
        batches = (replace(it, gradients=_leaves(it.gradients, whole)) for it in step.batches)
        groups = (
            replace(it, names=tuple(_by_name(dict.fromkeys(it.names), renamed)))
            for it in step.groups
        )
        fields = {name: _leaves(getattr(step, name), whole) for name in NAMED}
        steps.append(replace(step, batches=tuple(batches), groups=tuple(groups), **fields))
    jittered = (
        replace(it, **{field: _by_name(getattr(it, field), renamed) for field in DRIFTING})
        for it in training.jittered
    )
    return replace(
        training,
        start=_leaves(training.start, renamed),
        steps=tuple(steps),
        jittered=tuple(jittered),
    )


def _whole(names: Iterable[str], renamed: Renamed) -> Renamed:
    """Another name for what is a parameter's, or the optimizer's for one: "fc.weight.exp_avg"."""
    owners = sorted(names, key=len, reverse=True)

    @functools.cache
    def whole(name: str) -> str | None:
        owner = next((it for it in owners if name == it or name.startswith(f"{it}.")), None)
        other = renamed(owner) if owner else name
        return None if other is None else other + name[len(owner or name) :]

    return whole


def _leaves(some: Iterable[Any], renamed: Renamed) -> tuple[Any, ...]:
    """Records with a name, by their other ones."""
    named = ((one, renamed(one.name)) for one in some)
    return tuple(replace(one, name=name) for one, name in named if name is not None)


def _by_name(some: Mapping[str, Any], renamed: Renamed) -> dict[str, Any]:
    """What goes by names, by their other ones."""
    named = {renamed(name): value for name, value in some.items()}
    return {name: value for name, value in named.items() if name is not None}


# What both sides begin with, and train


def start(left: Training, right: Training) -> Answered:
    """Whether both sides began with the same parameters and buffers."""
    parameters, buffers = (
        [{one.name: one for one in side.start if one.role == role} for side in (left, right)]
        for role in ("parameter", "buffer")
    )
    if not all(parameters):
        return "not_recorded"
    number = left.steps[0].number
    if parameters[0].keys() != parameters[1].keys():
        return one_sided("start", "missing", number, *parameters)
    unlike, apart = [], 0.0
    for ones, others in (parameters, buffers):
        for name in ones.keys() & others.keys():
            one, other = elements(ones[name].value), elements(others[name].value)
            if not are_same(one, other, ones[name].value.dtype):
                unlike.append(name)
                apart = max(apart, greatest(one, other))
    if not unlike:
        return "same"
    return TrainingDifference(
        question="start",
        reason="values",
        step=number,
        names=tuple(name for name in parameters[0] | buffers[0] if name in unlike),
        of=len(parameters[0]),
        apart=apart,
    )


def trained(pair: Pair) -> Answered:
    """Whether the optimizers of both sides update the same parameters."""
    ones, others = _updated(pair.left), _updated(pair.right)
    if not ones or not others:
        return "not_recorded"
    return "same" if ones == others else one_sided("trained", "frozen", pair.number, ones, others)


def _updated(moment: Moment) -> set[str]:
    """The names of the parameters that are trained: in a group, and not frozen."""
    grouped = {name for group in moment.step.groups for name in group.names}
    starts = moment.training.start
    marked = {one.name for one in starts if one.role == "parameter" and one.trained}
    return grouped & marked if grouped and marked else grouped or marked
