"""How MindSpore's parameters are called in PyTorch, and how their numbers lie there.

KNOWN is about 2.10.0 beside PyTorch 2.13.0. Cells that are not in it have PyTorch's names (but for
RENAMES) and shapes. That goes for LSTM, GRU, RNN, their cells, and MultiheadAttention too: gates,
split biases and packed projections lie as in PyTorch (tests/engines/test_known_cells.py runs each).
"""

from collections.abc import Mapping
from itertools import chain
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


Steps = dict[StepName, tuple[int, ...]]
"""Steps of other names each, by these."""


def as_entry(layout: Layout) -> Steps | list[Steps]:
    """A layout as LAYOUTS has it: a dict of steps, or a list of such where a step recurs."""
    steps: list[Steps] = [{step.name: step.numbers} for step in layout]
    if len({step.name for step in layout}) < len(layout):
        return steps
    return dict(layout)


def written(layout: Layout) -> str:
    """A layout as LAYOUTS has it, in text: ``{"transpose": (1, 0)}``."""
    return str(as_entry(layout)).replace("'", '"')


def read(entry: Any) -> Layout:
    """The layout that an entry of LAYOUTS describes: a dict of steps, taken in its order.

    Where a step recurs it is a list of such dicts. Raises UsageError for anything else.
    """
    dicts = entry if isinstance(entry, (list, tuple)) else [entry]
    if not dicts or not all(isinstance(part, Mapping) and part for part in dicts):
        raise UsageError(_refusal(entry))
    steps = []
    for name, numbers in chain.from_iterable(part.items() for part in dicts):
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


HOME = "mindspore.nn."
"""The package of the Cells in the table; those of mindspore.mint are like PyTorch's modules."""


class KnownCell(NamedTuple):
    """The parameters of a Cell, as far as they are unlike those of PyTorch's module.

    ``names`` are its own parameters and child Cells, by PyTorch's names; a child whose name is ""
    has no counterpart, and its parameters are the module's own. ``layouts`` are those of its own
    parameters. ``source`` says where it can be read.
    """

    source: str
    names: Mapping[str, str] = {}
    layouts: Mapping[str, Layout] = {}


DROPS_AXIS_2: Layout = (Step("squeeze", (2,)),)

RENAMES = {
    "gamma": "weight",
    "beta": "bias",
    "moving_mean": "running_mean",
    "moving_variance": "running_var",
    "embedding_table": "weight",
}
"""The last part of a parameter's name in MindSpore 2.10.0, and in PyTorch 2.13.0."""

KNOWN: Mapping[str, KnownCell] = {
    "Conv1d": KnownCell(
        "mindspore/nn/layer/conv.py, Conv1d: computed as a two-dimensional one of height 1",
        layouts={"weight": DROPS_AXIS_2},
    ),
    "Conv1dTranspose": KnownCell(
        "mindspore/nn/layer/conv.py, Conv1dTranspose: as Conv1d",
        layouts={"weight": DROPS_AXIS_2},
    ),
    "PReLU": KnownCell("mindspore/nn/layer/activation.py, PReLU: self.w", names={"w": "weight"}),
    "BatchNorm3d": KnownCell(
        "mindspore/nn/layer/normalization.py, BatchNorm3d: holds a BatchNorm2d",
        names={"bn2d": ""},
    ),
    "TransformerEncoderLayer": KnownCell(
        "mindspore/nn/layer/transformer.py, TransformerEncoderLayer",
        names={"dense1": "linear1", "dense2": "linear2"},
    ),
    "TransformerDecoderLayer": KnownCell(
        "mindspore/nn/layer/transformer.py, TransformerDecoderLayer",
        names={"dense1": "linear1", "dense2": "linear2"},
    ),
}
"""By the name of the Cell's class; classes that derive from it count as well."""


Cells = Mapping[str, KnownCell]
"""The known Cells of a net by their paths: "features.conv"."""


def known_cell(class_names: tuple[str, ...]) -> KnownCell | None:
    """The entry of a Cell whose class and base classes are called so, the class first."""
    for name in class_names:
        if name in KNOWN:
            return KNOWN[name]
    return None


def torch_name(path: str, own_name: str, cells: Cells, renames: Mapping[str, str]) -> str:
    """PyTorch's name of the parameter at ``path`` in the Cell tree.

    ``own_name`` is what the Parameter itself is called. ``renames`` may have either, or the path of
    a Cell around it; they come before ``cells`` and RENAMES.
    """
    for name in (path, own_name):
        if name in renames:
            return renames[name]

    parts = path.split(".")
    in_torch = [_part(parts, place, cells) for place in range(len(parts))]
    # The longest path of a Cell counts.
    for length in range(len(parts) - 1, 0, -1):
        prefix = ".".join(parts[:length])
        if prefix in renames:
            in_torch[:length] = [renames[prefix]]
            break
    return ".".join(part for part in in_torch if part)


def _part(parts: list[str], place: int, cells: Cells) -> str:
    """PyTorch's name of one part of a path; empty where PyTorch has no such module."""
    part = parts[place]
    cell = cells.get(".".join(parts[:place]))
    if cell and part in cell.names:
        return cell.names[part]
    is_last = place == len(parts) - 1
    return RENAMES.get(part, part) if is_last else part


def layout_of(path: str, name: str, cells: Cells, layouts: Mapping[str, Layout]) -> Layout:
    """The layout of the parameter at ``path``; no steps where it lies as in PyTorch.

    ``layouts`` may have its name in the Cell tree, or PyTorch's ``name``. They come before
    ``cells``.
    """
    for key in (path, name):
        if key in layouts:
            return layouts[key]
    module_path, _, last = path.rpartition(".")
    cell = cells.get(module_path)
    return cell.layouts.get(last, ()) if cell else ()
