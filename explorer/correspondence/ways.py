"""How the value of an argument becomes the other framework's: a closed set of transformations."""

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

from explorer.correspondence.records import Argument, Value
from explorer.model.engines import Framework

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
    """The arguments of one side, defaults among them, and the shapes of the operands."""

    arguments: Mapping[str, Value]
    shapes: tuple[Shape, ...] = ()


Turns = Callable[[Argument, Setting], Values]


class Way(NamedTuple):
    """A transformation, in both directions."""

    to_torch: Turns
    to_mindspore: Turns

    def turns(self, source: Framework) -> Turns:
        """The direction that begins at a framework."""
        return self.to_torch if source == "mindspore" else self.to_mindspore


def _by_value(forth: Callable[[Value], Value], back: Callable[[Value], Value]) -> Way:
    """A way that looks at nothing but the value."""

    def to_torch(argument: Argument, setting: Setting) -> Values:
        return {argument.torch: forth(setting.arguments[argument.mindspore])}

    def to_mindspore(argument: Argument, setting: Setting) -> Values:
        return {argument.mindspore: back(setting.arguments[argument.torch])}

    return Way(to_torch, to_mindspore)


def _unchanged(value: Value) -> Value:
    return value


def _one_minus(value: Value) -> Value:
    assert isinstance(value, (int, float))
    # 1 - 0.9 is 0.09999999999999998.
    return round(1 - value, 12)


def _root(value: Value) -> Value:
    assert isinstance(value, (int, float))
    return math.sqrt(value)


def _square(value: Value) -> Value:
    assert isinstance(value, (int, float))
    return value * value


def _named_by(names: Mapping[Value, Value]) -> Way:
    """A way between values that correspond one by one; all others are the same."""
    back = {there: here for here, there in names.items()}
    return _by_value(lambda value: names.get(value, value), lambda value: back.get(value, value))


def _numbers(value: Value, count: int) -> tuple[int, ...]:
    """A number for each axis; one number stands for all."""
    if isinstance(value, tuple):
        numbers = [item for item in value if isinstance(item, int)]
        # Operators of MindSpore have those of batch and channels too: (1, 1, 2, 2).
        return tuple(numbers[-count:]) if len(numbers) > 1 else tuple(numbers) * count
    assert isinstance(value, int)
    return (value,) * count


# What a call leaves to the other arguments


def _nothing(argument: Argument, setting: Setting) -> Values:
    return {}


# The stride of pooling


def _stride_to_torch(argument: Argument, setting: Setting) -> Values:
    return {argument.torch: setting.arguments[argument.mindspore]}


def _stride_to_mindspore(argument: Argument, setting: Setting) -> Values:
    stride = setting.arguments[argument.torch]
    return {argument.mindspore: setting.arguments["kernel_size"] if stride is None else stride}


# Padding by mode


def _kernel(setting: Setting) -> tuple[int, ...]:
    """The sizes of the kernel: a setting of layers, otherwise the shape of the weight."""
    kernel = setting.arguments.get("kernel_size")
    if isinstance(kernel, str):
        raise NoCounterpartError("kernel_size", kernel)
    if kernel is not None:
        return _numbers(kernel, _axes(setting))
    return setting.shapes[1][2:]


def _axes(setting: Setting) -> int:
    """How many axes a kernel moves along."""
    return len(setting.shapes[0]) - 2 if setting.shapes else 1


def _strides(setting: Setting, axes: int) -> tuple[int, ...]:
    given = setting.arguments
    return _numbers(given.get("stride", given.get("strides", 1)), axes)


def _pad_mode_to_torch(argument: Argument, setting: Setting) -> Values:
    mode = str(setting.arguments["pad_mode"]).lower()
    if mode == "valid":
        return {argument.torch: 0}
    if mode == "pad":
        return {argument.torch: _symmetric(setting.arguments["padding"], setting)}
    is_moved_by_one = all(number == 1 for number in _strides(setting, _axes(setting)))
    if is_moved_by_one and argument.way == "pad_mode":
        return {argument.torch: "same"}
    return _same_padding(argument, setting)


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


def _same_padding(argument: Argument, setting: Setting) -> Values:
    sizes = setting.shapes[0][2:] if setting.shapes else ()
    if not sizes or argument.way.startswith("average"):
        # What MindSpore divides an average at the border by, no argument of PyTorch's says.
        raise NoCounterpartError("pad_mode", "same")
    strides = _strides(setting, len(sizes))
    dilations = _numbers(setting.arguments.get("dilation", 1), len(sizes))
    axes = zip(sizes, _kernel(setting), strides, dilations, strict=True)
    ends = [same_ends(*axis) for axis in axes]
    if all(before == after for before, after in ends):
        return {argument.torch: tuple(before for before, _after in ends)}
    # The last axis comes first, as torch.nn.functional.pad takes it.
    flat = [number for pair in reversed(ends) for number in pair]
    return {argument.torch: 0, PADS_FIRST: tuple(flat)}


def _pad_mode_to_mindspore(argument: Argument, setting: Setting) -> Values:
    padding = setting.arguments[argument.torch]
    if isinstance(padding, str):
        return {"pad_mode": padding, "padding": 0}
    if padding == 0 or (isinstance(padding, tuple) and not any(padding)):
        return {"pad_mode": "valid", "padding": 0}
    if isinstance(padding, tuple) and len(padding) == 2 and argument.way == "pad_mode":
        padding = tuple(number for number in padding for _end in "ab")
    return {"pad_mode": "pad", "padding": padding}


def _operator_padding_to_torch(argument: Argument, setting: Setting) -> Values:
    """As ``_pad_mode_to_torch``, with a number for each axis and no mode."""
    axes = _axes(setting)
    mode = setting.arguments["pad_mode"]
    if mode == "same":
        padded = _same_padding(argument, setting)
    else:
        ends = setting.arguments["pad"] if mode == "pad" else 0
        padded = {argument.torch: _symmetric(ends, setting)}
    return {**padded, argument.torch: _numbers(padded[argument.torch], axes)}


def _operator_padding_to_mindspore(argument: Argument, setting: Setting) -> Values:
    padding = _numbers(setting.arguments[argument.torch], _axes(setting))
    if not any(padding):
        return {"pad_mode": "valid", "pad": 0}
    return {"pad_mode": "pad", "pad": tuple(number for number in padding for _end in "ab")}


def _mode_of_padding(argument: Argument, setting: Setting) -> Values:
    """The mode of an operator without a number for padding: what PyTorch pads may be its "same"."""
    padding = _numbers(setting.arguments[argument.torch], _axes(setting))
    if not any(padding):
        return {argument.mindspore: "valid"}
    if setting.shapes and _same_padding(argument, setting) == {argument.torch: padding}:
        return {argument.mindspore: "same"}
    raise NoCounterpartError(argument.torch, padding)


def _each_axis_to_torch(argument: Argument, setting: Setting) -> Values:
    return {argument.torch: _numbers(setting.arguments[argument.mindspore], _axes(setting))}


def _each_axis_to_mindspore(argument: Argument, setting: Setting) -> Values:
    return {argument.mindspore: _numbers(setting.arguments[argument.torch], _axes(setting))}


def _stride_of_each_axis(argument: Argument, setting: Setting) -> Values:
    stride = setting.arguments[argument.torch] or setting.arguments["kernel_size"]
    return {argument.mindspore: _numbers(stride, _axes(setting))}


def _transposed_to_torch(argument: Argument, setting: Setting) -> Values:
    mode = setting.arguments["pad_mode"]
    if mode != "same":
        return _pad_mode_to_torch(argument, setting)
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
    return {argument.torch: tuple(padding)}


# Axes


def swapped(permutation: Value) -> tuple[int, int]:
    """The two axes that a permutation swaps; raises NoCounterpartError for any other."""
    axes = permutation if isinstance(permutation, tuple) else ()
    moved = [place for place, axis in enumerate(axes) if axis not in (place, place - len(axes))]
    if len(moved) != 2:
        raise NoCounterpartError("dims", permutation)
    return moved[0], moved[1]


def _swap_to_torch(argument: Argument, setting: Setting) -> Values:
    first, second = swapped(setting.arguments[argument.mindspore])
    return {"dim0": first, "dim1": second}


def _swap_to_mindspore(argument: Argument, setting: Setting) -> Values:
    rank = len(setting.shapes[0])
    axes = list(range(rank))
    first, second = (_numbers(setting.arguments[name], 1)[0] for name in ("dim0", "dim1"))
    axes[first], axes[second] = axes[second], axes[first]
    return {argument.mindspore: tuple(axes)}


def _same_to_torch(argument: Argument, setting: Setting) -> Values:
    return {argument.torch: setting.arguments[argument.mindspore]}


def _softmax_axis(argument: Argument, setting: Setting) -> Values:
    """PyTorch chooses an axis by the rank of the input where none is given."""
    axis = setting.arguments[argument.torch]
    if axis is None:
        if not setting.shapes:
            raise NoCounterpartError(argument.torch, axis)
        axis = 0 if len(setting.shapes[0]) in (0, 1, 3) else 1
    return {argument.mindspore: axis}


def _single(axis: Value) -> Value:
    """The one axis that an operator of MindSpore has in a tuple."""
    return axis[0] if isinstance(axis, tuple) and len(axis) == 1 else axis


def _none_or_several(axes: Value) -> Value:
    if axes == ():
        return None
    return axes if isinstance(axes, tuple) else (axes,)


def _several(axes: Value) -> Value:
    return () if axes is None else axes


def _last_for_none(axis: Value) -> Value:
    return -1 if axis is None else axis


def _refused(value: Value) -> Turns:
    """PyTorch's value that MindSpore cannot express; all others are the same."""

    def to_mindspore(argument: Argument, setting: Setting) -> Values:
        given = setting.arguments[argument.torch]
        if given == value:
            raise NoCounterpartError(argument.torch, given)
        return {argument.mindspore: given}

    return to_mindspore


def _empty_for_none(axes: Value) -> Value:
    return () if axes is None else axes


def _none_for_empty(axes: Value) -> Value:
    return None if axes == () else axes


# The axes of a layer norm


def _normalized_to_mindspore(argument: Argument, setting: Setting) -> Values:
    shape = setting.arguments[argument.torch]
    count = len(shape) if isinstance(shape, tuple) else 1
    first = {"begin_norm_axis": -count, "begin_params_axis": -count}
    return {argument.mindspore: shape if isinstance(shape, tuple) else (shape,), **first}


def _normalized_to_torch(argument: Argument, setting: Setting) -> Values:
    shape = setting.arguments[argument.mindspore]
    rank = len(setting.shapes[0]) if setting.shapes else 0
    for name in ("begin_norm_axis", "begin_params_axis"):
        (axis,) = _numbers(setting.arguments[name], 1)
        from_end = -axis if axis < 0 else rank - axis
        if not isinstance(shape, tuple) or from_end != len(shape):
            raise NoCounterpartError(name, axis)
    return {argument.torch: shape}


def _begins_at(argument: Argument, setting: Setting) -> Values:
    """The axes from the first to the last, by their sizes."""
    shape = setting.shapes[0] if setting.shapes else ()
    (axis,) = _numbers(setting.arguments[argument.mindspore], 1)
    (own,) = _numbers(setting.arguments["begin_params_axis"], 1)
    if not shape or axis % len(shape) != own % len(shape):
        raise NoCounterpartError(argument.mindspore, axis)
    return {argument.torch: shape[axis:]}


def _first_axis(argument: Argument, setting: Setting) -> Values:
    shape = setting.arguments[argument.torch]
    axis = -len(shape) if isinstance(shape, tuple) else -1
    return {argument.mindspore: axis, "begin_params_axis": axis}


# The two ways to say how much is dropped


def _dropped(argument: Argument, setting: Setting) -> Values:
    p, kept = setting.arguments["p"], setting.arguments["keep_prob"]
    return {argument.torch: _one_minus(kept) if p is None else p}


# The window of a local response norm


def _size(radius: Value) -> Value:
    assert isinstance(radius, int)
    return 2 * radius + 1


def _radius(size: Value) -> Value:
    assert isinstance(size, int)
    if size % 2 == 0:
        raise NoCounterpartError("size", size)
    return size // 2


def _mean_to_torch(argument: Argument, setting: Setting) -> Values:
    """PyTorch takes the mean of the window where MindSpore takes its sum."""
    factor, radius = (setting.arguments[name] for name in (argument.mindspore, "depth_radius"))
    size = _size(radius)
    assert isinstance(factor, (int, float))
    assert isinstance(size, int)
    return {argument.torch: factor * size}


def _sum_to_mindspore(argument: Argument, setting: Setting) -> Values:
    factor, size = (setting.arguments[name] for name in (argument.torch, "size"))
    assert isinstance(factor, (int, float))
    assert isinstance(size, int)
    return {argument.mindspore: factor / size}


WAYS: dict[str, Way] = {
    "same": _by_value(_unchanged, _unchanged),
    "one_minus": _by_value(_one_minus, _one_minus),
    "root": _by_value(_root, _square),
    "tanh": _named_by({True: "tanh", False: "none"}),
    "zero_is_none": _named_by({0: None}),
    "stride": Way(_stride_to_torch, _stride_to_mindspore),
    "pad_mode": Way(_pad_mode_to_torch, _pad_mode_to_mindspore),
    "pool_pad_mode": Way(_pad_mode_to_torch, _pad_mode_to_mindspore),
    "mode_alone": Way(_pad_mode_to_torch, _mode_of_padding),
    "average_pad_mode": Way(_pad_mode_to_torch, _pad_mode_to_mindspore),
    "average_mode_alone": Way(_pad_mode_to_torch, _mode_of_padding),
    "transposed_pad_mode": Way(_transposed_to_torch, _pad_mode_to_mindspore),
    "of_pad_mode": Way(_nothing, _nothing),
    "operator_pad_mode": Way(_operator_padding_to_torch, _operator_padding_to_mindspore),
    "each_axis": Way(_each_axis_to_torch, _each_axis_to_mindspore),
    "stride_of_each_axis": Way(_each_axis_to_torch, _stride_of_each_axis),
    "of_weight": Way(_nothing, _nothing),
    "single_axis": _by_value(_single, _unchanged),
    "some_axes": _by_value(_none_or_several, _several),
    "reduction_number": _named_by({"none": 0, "mean": 1, "sum": 2}),
    "swap": Way(_swap_to_torch, _swap_to_mindspore),
    "of_swap": Way(_nothing, _nothing),
    "softmax_axis": Way(_same_to_torch, _softmax_axis),
    "last_axis": _by_value(_last_for_none, _unchanged),
    "one_axis": Way(_same_to_torch, _refused(None)),
    "counted_classes": Way(_same_to_torch, _refused(-1)),
    "none_is_false": _by_value(_unchanged, bool),
    "every_axis": _by_value(_empty_for_none, _none_for_empty),
    "normalized_shape": Way(_normalized_to_torch, _normalized_to_mindspore),
    "of_normalized_shape": Way(_nothing, _nothing),
    "begins_at": Way(_begins_at, _first_axis),
    "of_begins_at": Way(_nothing, _nothing),
    "dropped": Way(_dropped, _by_value(_unchanged, _unchanged).to_mindspore),
    "of_dropped": Way(_nothing, _nothing),
    "radius": _by_value(_size, _radius),
    "alpha_of_radius": Way(_mean_to_torch, _sum_to_mindspore),
}
"""The transformations by name."""

COMPANIONS = frozenset(
    {"of_weight", "of_pad_mode", "of_swap", "of_normalized_shape", "of_begins_at", "of_dropped"}
)
"""Ways of arguments that another argument's way takes along."""
