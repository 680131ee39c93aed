"""Layouts: how the numbers of one parameter lie in MindSpore, and how in PyTorch."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from explorer.model.arrays import AnyArray
from explorer.model.errors import UsageError
from explorer.text.language import _

StepName = Literal["transpose", "reshape", "squeeze"]

STEP_NAMES: tuple[StepName, ...] = get_args(StepName)


class Step(NamedTuple):
    """One change of layout.

    ``numbers`` are the axes of a transposition, in their new order, the shape to reshape to, or the
    axes of length 1 to drop.
    """

    name: StepName
    numbers: tuple[int, ...]


Layout = tuple[Step, ...]
"""The steps that turn MindSpore's array into PyTorch's, in order."""


def to_torch(array: AnyArray, layout: Layout) -> AnyArray:
    """MindSpore's array as PyTorch lays it out.

    Raises UsageError for a step that the array's shape does not allow.
    """
    for step in layout:
        array = _taken(array, step)
    return array


def to_mindspore(array: AnyArray, layout: Layout, shape: tuple[int, ...]) -> AnyArray:
    """PyTorch's array as MindSpore lays it out, where its shape is ``shape``.

    Without any steps it is reshaped. Raises UsageError for a layout that does not lead from
    ``shape`` to that of the array.
    """
    if not layout and int(np.prod(shape, dtype=int)) == array.size:
        return array.reshape(shape)
    # Where each number of MindSpore's array ends up shows where PyTorch's numbers have to go.
    places = to_torch(np.arange(int(np.prod(shape, dtype=int))).reshape(shape), layout)
    if places.shape != array.shape:
        text = _("MindSpore's parameter has shape {shape}, but PyTorch's has {wanted}")
        if layout:
            text = _(
                "MindSpore's parameter has shape {shape}, which {layout} turns into {result}, but"
                " PyTorch's has {wanted}"
            )
        raise UsageError(
            text, shape=shape, layout=written(layout), result=places.shape, wanted=array.shape
        )
    result = np.empty(places.size, array.dtype)
    result[places.ravel()] = array.ravel()
    return result.reshape(shape)


def _taken(array: AnyArray, step: Step) -> AnyArray:
    try:
        if step.name == "transpose":
            return array.transpose(step.numbers)
        if step.name == "reshape":
            return array.reshape(step.numbers)
        return array.squeeze(step.numbers)
    except ValueError as error:
        text = _("{step} cannot be applied to an array of shape {shape}: {error}")
        raise UsageError(text, step=written((step,)), shape=array.shape, error=error) from error


def written(layout: Layout) -> str:
    """A layout as LAYOUTS has it: ``{"transpose": (1, 0)}``."""
    steps = [f'"{step.name}": {step.numbers}' for step in layout]
    return f"{{{', '.join(steps)}}}"


def read(entry: Any) -> Layout:
    """The layout that an entry of LAYOUTS describes: a dict of steps, taken in its order.

    Raises UsageError for anything else.
    """
    if not isinstance(entry, Mapping) or not entry:
        raise UsageError(_refusal(entry))
    steps = []
    for name, numbers in entry.items():
        given = (numbers,) if isinstance(numbers, int) else numbers
        is_list = isinstance(given, (tuple, list))
        if name not in STEP_NAMES or not is_list or not all(isinstance(n, int) for n in given):
            raise UsageError(_refusal(entry))
        steps.append(Step(name, tuple(given)))
    return tuple(steps)


def _refusal(entry: Any) -> str:
    return _(
        "{entry!r} is not a layout; write the step that turns MindSpore's array into PyTorch's,"
        " such as {first}, {second} or {third}"
    ).format(
        entry=entry,
        first='{"transpose": (1, 0)}',
        second='{"reshape": (2, 3)}',
        third='{"squeeze": 2}',
    )
