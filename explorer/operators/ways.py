"""How the value of an argument becomes PyTorch's, and back: a closed set of transformations."""

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

from explorer.model.engines import Framework
from explorer.operators.records import Value

HUB: Framework = "torch"
"""The framework between whose arguments and those of each other one the ways go."""

Values = dict[str, Value]
"""Values of arguments by their names."""

Shape = tuple[int, ...]

PADS_FIRST = "<pads first>"
"""The key of what PyTorch pads the input with beforehand, as torch.nn.functional.pad takes it."""


class NoCounterpartError(Exception):
    """A value of an argument that the other framework cannot express."""

    def __init__(self, argument: str, value: Value) -> None:
        super().__init__(f"{argument}={value!r}")
        self.argument = argument
        self.value = value


class Setting(NamedTuple):
    """The arguments of one side, defaults among them, and the shapes of the operands.

    Of these one is translated: ``here`` is its name, ``there`` that on the other side, and ``way`` the
    name of its way.
    """

    arguments: Mapping[str, Value]
    shapes: tuple[Shape, ...] = ()
    here: str = ""
    there: str = ""
    way: str = ""

    @property
    def value(self) -> Value:
        """The value that is translated."""
        return self.arguments[self.here]


Turn = Callable[[Setting], Values]


class Way(NamedTuple):
    """A transformation, in both directions: between the values of PyTorch and of another framework."""

    to_torch: Turn
    from_torch: Turn


def _each(change: Callable[[Value], Value]) -> Turn:
    """What looks at nothing but the value."""
    return lambda setting: {setting.there: change(setting.value)}


_same = _each(lambda value: value)


def _named_by(names: Mapping[Value, Value]) -> Way:
    """A way between values that correspond one by one; all others are the same."""
    back = {there: here for here, there in names.items()}
    return Way(
        _each(lambda value: names.get(value, value)), _each(lambda value: back.get(value, value))
    )


def _refused(refused: Value) -> Turn:
    """PyTorch's value that the other side cannot express; all others are the same."""

    def from_torch(setting: Setting) -> Values:
        if setting.value == refused:
            raise NoCounterpartError(setting.here, refused)
        return _same(setting)

    return from_torch


def _numbers(value: Value, count: int) -> tuple[int, ...]:
    """A number for each axis; one number stands for all."""
    if isinstance(value, tuple):
        numbers = [item for item in value if isinstance(item, int)]
        # Operators of MindSpore have those of batch and channels too: (1, 1, 2, 2).
        return tuple(numbers[-count:]) if len(numbers) > 1 else tuple(numbers) * count
    assert isinstance(value, int)
    return (value,) * count


# Numbers


def _number(value: Value) -> float:
    assert isinstance(value, (int, float))
    return value


def _one_minus(value: Value) -> Value:
    # 1 - 0.9 is 0.09999999999999998.
    return round(1 - _number(value), 12)


def _size(radius: Value) -> int:
    assert isinstance(radius, int)
    return 2 * radius + 1


def radius(size: Value) -> Value:
    """How many elements a window has to either side; of an even number there is none."""
    assert isinstance(size, int)
    if size % 2 == 0:
        raise NoCounterpartError("size", size)
    return size // 2


def mean_to_torch(setting: Setting) -> Values:
    """PyTorch takes the mean of the window where MindSpore takes its sum."""
    return {setting.there: _number(setting.value) * _size(setting.arguments["depth_radius"])}


def sum_from_torch(setting: Setting) -> Values:
    """MindSpore takes the sum of the window where PyTorch takes its mean."""
    return {setting.there: _number(setting.value) / _number(setting.arguments["size"])}


def dropped(setting: Setting) -> Values:
    """Of the two ways to say how much is dropped, the one that is given."""
    kept = setting.arguments["keep_prob"]
    return {setting.there: _one_minus(kept) if setting.value is None else setting.value}


# Windows


def _axes(setting: Setting) -> int:
    """How many axes a kernel moves along."""
    return len(setting.shapes[0]) - 2 if setting.shapes else 1


def _kernel(setting: Setting) -> tuple[int, ...]:
    """The sizes of the kernel: a setting of layers, otherwise the shape of the weight."""
    kernel = setting.arguments.get("kernel_size")
    if isinstance(kernel, str):
        raise NoCounterpartError("kernel_size", kernel)
    if kernel is not None:
        return _numbers(kernel, _axes(setting))
    return setting.shapes[1][2:]


def _strides(setting: Setting, axes: int) -> tuple[int, ...]:
    given = setting.arguments
    return _numbers(given.get("stride", given.get("strides", 1)), axes)


def stride_from_torch(setting: Setting) -> Values:
    """A stride that is not given is the size of the window."""
    stride = setting.value
    return {setting.there: setting.arguments["kernel_size"] if stride is None else stride}


def _each_axis(setting: Setting) -> Values:
    return {setting.there: _numbers(setting.value, _axes(setting))}


def stride_of_each_axis(setting: Setting) -> Values:
    """As ``stride_from_torch``, a number for each axis."""
    stride = setting.value or setting.arguments["kernel_size"]
    return {setting.there: _numbers(stride, _axes(setting))}


# Padding by mode


OF_OPERATOR = "operator_pad_mode"
"""The way of operators, which have a number for each axis, and in PyTorch no mode."""


def _pad_mode_to_torch(setting: Setting) -> Values:
    given, is_operator = setting.arguments, setting.way == OF_OPERATOR
    mode = str(given["pad_mode"]).lower()
    if mode == "pad":
        ends = given["pad" if is_operator else "padding"]
        padded: Values = {setting.there: _symmetric(ends, setting)}
    elif mode == "valid" or (is_operator and mode != "same"):
        padded = {setting.there: 0}
    elif setting.way == "pad_mode" and all(it == 1 for it in _strides(setting, _axes(setting))):
        padded = {setting.there: "same"}
    else:
        padded = _same_padding(setting)
    if is_operator:
        padded[setting.there] = _numbers(padded[setting.there], _axes(setting))
    return padded


def _symmetric(padding: Value, setting: Setting) -> Value:
    """MindSpore's padding of both ends of each axis as one number for each axis."""
    is_of_ends = isinstance(padding, tuple) and len(padding) in (2 * _axes(setting), 4, 6)
    if not isinstance(padding, tuple) or not is_of_ends:
        return padding
    ends = list(zip(padding[::2], padding[1::2], strict=True))
    if any(before != after for before, after in ends):
        raise NoCounterpartError("padding", padding)
    return tuple(before for before, _after in ends)


def same_ends(size: int, kernel: int, stride: int, dilation: int) -> tuple[int, int]:
    """What pad_mode="same" adds before and after an axis of this size: odd sums pad more after."""
    reach = dilation * (kernel - 1) + 1
    total = max((math.ceil(size / stride) - 1) * stride + reach - size, 0)
    return total // 2, total - total // 2


def _same_padding(setting: Setting) -> Values:
    sizes = setting.shapes[0][2:] if setting.shapes else ()
    if not sizes or setting.way.startswith("average"):
        # What MindSpore divides an average at the border by, no argument of PyTorch's says.
        raise NoCounterpartError("pad_mode", "same")
    strides = _strides(setting, len(sizes))
    dilations = _numbers(setting.arguments.get("dilation", 1), len(sizes))
    axes = zip(sizes, _kernel(setting), strides, dilations, strict=True)
    ends = [same_ends(*axis) for axis in axes]
    if all(before == after for before, after in ends):
        return {setting.there: tuple(before for before, _after in ends)}
    # The last axis comes first, as torch.nn.functional.pad takes it.
    flat = [number for pair in reversed(ends) for number in pair]
    return {setting.there: 0, PADS_FIRST: tuple(flat)}


def _pad_mode_from_torch(setting: Setting) -> Values:
    padding, name = setting.value, "padding"
    if setting.way == OF_OPERATOR:
        padding, name = _numbers(padding, _axes(setting)), "pad"
    if isinstance(padding, str):
        return {"pad_mode": padding, name: 0}
    if padding == 0 or (isinstance(padding, tuple) and not any(padding)):
        return {"pad_mode": "valid", name: 0}
    is_of_axes = isinstance(padding, tuple) and len(padding) == 2 and setting.way == "pad_mode"
    if isinstance(padding, tuple) and (is_of_axes or setting.way == OF_OPERATOR):
        padding = tuple(number for number in padding for _end in "ab")
    return {"pad_mode": "pad", name: padding}


def _mode_of_padding(setting: Setting) -> Values:
    """The mode of an operator without a number for padding: what PyTorch pads may be its "same"."""
    padding = _numbers(setting.value, _axes(setting))
    if not any(padding):
        return {setting.there: "valid"}
    if setting.shapes and _same_padding(setting) == {setting.there: padding}:
        return {setting.there: "same"}
    raise NoCounterpartError(setting.here, padding)


def transposed_to_torch(setting: Setting) -> Values:
    """Padding by mode of a transposed convolution."""
    mode = setting.arguments["pad_mode"]
    if mode != "same":
        return _pad_mode_to_torch(setting)
    axes = _axes(setting)
    strides = _numbers(setting.arguments.get("stride", 1), axes)
    dilations = _numbers(setting.arguments.get("dilation", 1), axes)
    padding: list[int] = []
    for kernel, stride, dilation in zip(_kernel(setting), strides, dilations, strict=True):
        # The result is stride times as long as the input.
        cropped = dilation * (kernel - 1) + 1 - stride
        if cropped < 0 or cropped % 2:
            raise NoCounterpartError("pad_mode", mode)
        padding.append(cropped // 2)
    return {setting.there: tuple(padding)}


# Axes


def swap_to_torch(setting: Setting) -> Values:
    """The two axes that a permutation swaps; refuses any other permutation."""
    axes = setting.value if isinstance(setting.value, tuple) else ()
    moved = [place for place, axis in enumerate(axes) if axis not in (place, place - len(axes))]
    if len(moved) != 2:
        raise NoCounterpartError("dims", setting.value)
    return dict(zip(("dim0", "dim1"), moved, strict=True))


def swap_from_torch(setting: Setting) -> Values:
    """The permutation that swaps two axes."""
    axes = list(range(len(setting.shapes[0])))
    first, second = (_numbers(setting.arguments[name], 1)[0] for name in ("dim0", "dim1"))
    axes[first], axes[second] = axes[second], axes[first]
    return {setting.there: tuple(axes)}


def softmax_axis(setting: Setting) -> Values:
    """PyTorch chooses an axis by the rank of the input where none is given."""
    axis = setting.value
    if axis is None:
        if not setting.shapes:
            raise NoCounterpartError(setting.here, axis)
        axis = 0 if len(setting.shapes[0]) in (0, 1, 3) else 1
    return {setting.there: axis}


def single(axis: Value) -> Value:
    """The one axis that an operator of MindSpore has in a tuple."""
    return axis[0] if isinstance(axis, tuple) and len(axis) == 1 else axis


def none_or_several(axes: Value) -> Value:
    """Axes as PyTorch takes them: none are all."""
    if axes == ():
        return None
    return axes if isinstance(axes, tuple) else (axes,)


def _empty_for_none(axes: Value) -> Value:
    return () if axes is None else axes


# The axes of a layer norm


def normalized_from_torch(setting: Setting) -> Values:
    """The shape of the last axes, and which one is the first."""
    shape = setting.value if isinstance(setting.value, tuple) else (setting.value,)
    first = {"begin_norm_axis": -len(shape), "begin_params_axis": -len(shape)}
    return {setting.there: shape, **first}


def normalized_to_torch(setting: Setting) -> Values:
    """The shape, where the axes are the last ones of it."""
    shape = setting.value
    rank = len(setting.shapes[0]) if setting.shapes else 0
    for name in ("begin_norm_axis", "begin_params_axis"):
        (axis,) = _numbers(setting.arguments[name], 1)
        from_end = -axis if axis < 0 else rank - axis
        if not isinstance(shape, tuple) or from_end != len(shape):
            raise NoCounterpartError(name, axis)
    return {setting.there: shape}


def begins_at(setting: Setting) -> Values:
    """The axes from the first to the last, by their sizes."""
    shape = setting.shapes[0] if setting.shapes else ()
    (axis,) = _numbers(setting.value, 1)
    (own,) = _numbers(setting.arguments["begin_params_axis"], 1)
    if not shape or axis % len(shape) != own % len(shape):
        raise NoCounterpartError(setting.here, axis)
    return {setting.there: shape[axis:]}


def first_axis(setting: Setting) -> Values:
    """The first of the last axes that are normalized."""
    axis = -len(setting.value) if isinstance(setting.value, tuple) else -1
    return {setting.there: axis, "begin_params_axis": axis}


WAYS: dict[str, Way] = {
    "same": Way(_same, _same),
    "one_minus": Way(_each(_one_minus), _each(_one_minus)),
    "root": Way(
        _each(lambda it: math.sqrt(_number(it))), _each(lambda it: _number(it) * _number(it))
    ),
    "tanh": _named_by({True: "tanh", False: "none"}),
    "zero_is_none": _named_by({0: None}),
    "stride": Way(_same, stride_from_torch),
    "pad_mode": Way(_pad_mode_to_torch, _pad_mode_from_torch),
    "pool_pad_mode": Way(_pad_mode_to_torch, _pad_mode_from_torch),
    "mode_alone": Way(_pad_mode_to_torch, _mode_of_padding),
    "average_pad_mode": Way(_pad_mode_to_torch, _pad_mode_from_torch),
    "average_mode_alone": Way(_pad_mode_to_torch, _mode_of_padding),
    "transposed_pad_mode": Way(transposed_to_torch, _pad_mode_from_torch),
    OF_OPERATOR: Way(_pad_mode_to_torch, _pad_mode_from_torch),
    "each_axis": Way(_each_axis, _each_axis),
    "stride_of_each_axis": Way(_each_axis, stride_of_each_axis),
    "single_axis": Way(_each(single), _same),
    "some_axes": Way(_each(none_or_several), _each(_empty_for_none)),
    "reduction_number": _named_by({"none": 0, "mean": 1, "sum": 2}),
    "swap": Way(swap_to_torch, swap_from_torch),
    "softmax_axis": Way(_same, softmax_axis),
    "last_axis": Way(_each(lambda axis: -1 if axis is None else axis), _same),
    "one_axis": Way(_same, _refused(None)),
    "counted_classes": Way(_same, _refused(-1)),
    "none_is_false": Way(_same, _each(bool)),
    "every_axis": Way(_each(_empty_for_none), _each(lambda axes: None if axes == () else axes)),
    "normalized_shape": Way(normalized_to_torch, normalized_from_torch),
    "begins_at": Way(begins_at, first_axis),
    "dropped": Way(dropped, _same),
    "radius": Way(_each(_size), _each(radius)),
    "alpha_of_radius": Way(mean_to_torch, sum_from_torch),
}
"""The transformations by name."""

COMPANIONS = frozenset(
    {"of_weight", "of_pad_mode", "of_swap", "of_normalized_shape", "of_begins_at", "of_dropped"}
)
"""Ways of arguments that another argument's way takes along."""
