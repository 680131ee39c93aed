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

    @property
    def axes(self) -> int:
        """How many axes a kernel moves along."""
        return len(self.shapes[0]) - 2 if self.shapes else 1

    def number(self, name: str = "") -> float:
        """An argument that is a number: that of a name, or the one that is translated."""
        value = self.arguments[name or self.here]
        assert isinstance(value, (int, float))
        return value

    def of_axes(self, *names: str) -> tuple[int, ...]:
        """The first of some arguments that is given, with a number for each axis; 1 where none is."""
        given = [self.arguments[name] for name in names if name in self.arguments]
        return _numbers(given[0] if given else 1, self.axes)


Turn = Callable[[Setting], Value | Values]
"""What a value is on the other side; or several, by their names there."""


class Way(NamedTuple):
    """A transformation, in both directions: between the values of PyTorch and of another framework."""

    to_torch: Turn
    from_torch: Turn


def _same(it: Setting) -> Value:
    return it.value


def _named_by(names: Mapping[Value, Value]) -> Way:
    """A way between values that correspond one by one; all others are the same."""
    back = {there: here for here, there in names.items()}
    return Way(lambda it: names.get(it.value, it.value), lambda it: back.get(it.value, it.value))


def _refused(refused: Value) -> Turn:
    """PyTorch's value that the other side cannot express; all others are the same."""

    def from_torch(it: Setting) -> Value:
        if it.value == refused:
            raise NoCounterpartError(it.here, refused)
        return it.value

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


def _one_minus(it: Setting, name: str = "") -> Value:
    # 1 - 0.9 is 0.09999999999999998.
    return round(1 - it.number(name), 12)


def _radius(it: Setting) -> Value:
    """How many elements a window has to either side; of an even number there is none."""
    size = int(it.number())
    if size % 2 == 0:
        raise NoCounterpartError("size", size)
    return size // 2


# Windows


def _kernel(it: Setting) -> tuple[int, ...]:
    """The sizes of the kernel: a setting of layers, otherwise the shape of the weight."""
    kernel = it.arguments.get("kernel_size")
    if isinstance(kernel, str):
        raise NoCounterpartError("kernel_size", kernel)
    return it.shapes[1][2:] if kernel is None else _numbers(kernel, it.axes)


def _stride_from_torch(it: Setting) -> Value:
    """A stride that is not given is the size of the window."""
    return it.arguments["kernel_size"] if it.value is None else it.value


def _each_axis(it: Setting) -> Value:
    return _numbers(it.value, it.axes)


# Padding by mode


OF_OPERATOR = "operator_pad_mode"
"""The way of operators, which have a number for each axis, and in PyTorch no mode."""


def _pad_mode_to_torch(it: Setting) -> Value | Values:
    is_operator, mode = it.way == OF_OPERATOR, str(it.arguments["pad_mode"]).lower()
    padding: Value | Values = 0
    if mode == "pad":
        padding = _symmetric(it.arguments["pad" if is_operator else "padding"], it.axes)
    elif mode == "valid" or (is_operator and mode != "same"):
        padding = 0
    elif it.way == "pad_mode" and all(step == 1 for step in it.of_axes("stride", "strides")):
        padding = "same"
    else:
        padding = _same_padding(it)
    if not is_operator:
        return padding
    if isinstance(padding, dict):
        return {**padding, it.there: _numbers(padding[it.there], it.axes)}
    return _numbers(padding, it.axes)


def _symmetric(padding: Value, axes: int) -> Value:
    """MindSpore's padding of both ends of each axis as one number for each axis."""
    if not isinstance(padding, tuple) or len(padding) not in (2 * axes, 4, 6):
        return padding
    if padding[::2] != padding[1::2]:
        raise NoCounterpartError("padding", padding)
    return padding[::2]


def same_ends(size: int, kernel: int, stride: int, dilation: int) -> tuple[int, int]:
    """What pad_mode="same" adds before and after an axis of this size: odd sums pad more after."""
    reach = dilation * (kernel - 1) + 1
    total = max((math.ceil(size / stride) - 1) * stride + reach - size, 0)
    return total // 2, total - total // 2


def _same_padding(it: Setting) -> Value | Values:
    """The padding of each axis that "same" adds; with what comes first where its ends are not the same."""
    sizes = it.shapes[0][2:] if it.shapes else ()
    if not sizes or it.way.startswith("average"):
        # What MindSpore divides an average at the border by, no argument of PyTorch's says.
        raise NoCounterpartError("pad_mode", "same")
    windows = _kernel(it), it.of_axes("stride", "strides"), it.of_axes("dilation")
    ends = [same_ends(*axis) for axis in zip(sizes, *windows, strict=True)]
    if all(before == after for before, after in ends):
        return tuple(before for before, _after in ends)
    # The last axis comes first, as torch.nn.functional.pad takes it.
    return {it.there: 0, PADS_FIRST: tuple(number for pair in reversed(ends) for number in pair)}


def _pad_mode_from_torch(it: Setting) -> Values:
    is_operator = it.way == OF_OPERATOR
    padding: Value = _numbers(it.value, it.axes) if is_operator else it.value
    name = "pad" if is_operator else "padding"
    if isinstance(padding, str):
        return {"pad_mode": padding, name: 0}
    if padding == 0 or (isinstance(padding, tuple) and not any(padding)):
        return {"pad_mode": "valid", name: 0}
    is_of_axes = isinstance(padding, tuple) and len(padding) == 2 and it.way == "pad_mode"
    if isinstance(padding, tuple) and (is_of_axes or is_operator):
        padding = tuple(number for number in padding for _end in "ab")
    return {"pad_mode": "pad", name: padding}


def _mode_of_padding(it: Setting) -> Value:
    """The mode of an operator without a number for padding: what PyTorch pads may be its "same"."""
    padding = _numbers(it.value, it.axes)
    if not any(padding):
        return "valid"
    if it.shapes and _same_padding(it) == padding:
        return "same"
    raise NoCounterpartError(it.here, padding)


def _transposed_to_torch(it: Setting) -> Value | Values:
    """Padding by mode of a transposed convolution."""
    mode = it.arguments["pad_mode"]
    if mode != "same":
        return _pad_mode_to_torch(it)
    windows = zip(_kernel(it), it.of_axes("stride"), it.of_axes("dilation"), strict=True)
    # The result is stride times as long as the input.
    cropped = [dilation * (kernel - 1) + 1 - stride for kernel, stride, dilation in windows]
    if any(total < 0 or total % 2 for total in cropped):
        raise NoCounterpartError("pad_mode", mode)
    return tuple(total // 2 for total in cropped)


# Axes


def _swap_to_torch(it: Setting) -> Values:
    """The two axes that a permutation swaps; refuses any other permutation."""
    axes = it.value if isinstance(it.value, tuple) else ()
    moved = [place for place, axis in enumerate(axes) if axis not in (place, place - len(axes))]
    if len(moved) != 2:
        raise NoCounterpartError("dims", it.value)
    return dict(zip(("dim0", "dim1"), moved, strict=True))


def _swap_from_torch(it: Setting) -> Value:
    """The permutation that swaps two axes."""
    axes = list(range(len(it.shapes[0])))
    first, second = int(it.number("dim0")), int(it.number("dim1"))
    axes[first], axes[second] = axes[second], axes[first]
    return tuple(axes)


def _softmax_axis(it: Setting) -> Value:
    """PyTorch chooses an axis by the rank of the input where none is given."""
    if it.value is not None:
        return it.value
    if not it.shapes:
        raise NoCounterpartError(it.here, None)
    return 0 if len(it.shapes[0]) in (0, 1, 3) else 1


def _single(it: Setting) -> Value:
    """The one axis that an operator of MindSpore has in a tuple."""
    return it.value[0] if isinstance(it.value, tuple) and len(it.value) == 1 else it.value


def _none_or_several(it: Setting) -> Value:
    """Axes as PyTorch takes them: none are all."""
    return (it.value if isinstance(it.value, tuple) else (it.value,)) or None


NONE_ARE_ALL = _named_by({None: ()})
"""The way of axes of which an empty tuple is all."""


# The axes of a layer norm


def _normalized_from_torch(it: Setting) -> Values:
    """The shape of the last axes, and which one is the first."""
    shape = it.value if isinstance(it.value, tuple) else (it.value,)
    first = {"begin_norm_axis": -len(shape), "begin_params_axis": -len(shape)}
    return {it.there: shape, **first}


def _normalized_to_torch(it: Setting) -> Value:
    """The shape, where the axes are the last ones of it."""
    rank = len(it.shapes[0]) if it.shapes else 0
    for name in ("begin_norm_axis", "begin_params_axis"):
        axis = int(it.number(name))
        from_end = -axis if axis < 0 else rank - axis
        if not isinstance(it.value, tuple) or from_end != len(it.value):
            raise NoCounterpartError(name, axis)
    return it.value


def _begins_at(it: Setting) -> Value:
    """The axes from the first to the last, by their sizes."""
    shape = it.shapes[0] if it.shapes else ()
    axis, own = int(it.number()), int(it.number("begin_params_axis"))
    if not shape or axis % len(shape) != own % len(shape):
        raise NoCounterpartError(it.here, axis)
    return shape[axis:]


def _first_axis(it: Setting) -> Values:
    """The first of the last axes that are normalized."""
    axis = -len(it.value) if isinstance(it.value, tuple) else -1
    return {it.there: axis, "begin_params_axis": axis}


WAYS: dict[str, Way] = {
    "same": Way(_same, _same),
    "one_minus": Way(_one_minus, _one_minus),
    "root": Way(lambda it: math.sqrt(it.number()), lambda it: it.number() * it.number()),
    "tanh": _named_by({True: "tanh", False: "none"}),
    "zero_is_none": _named_by({0: None}),
    "stride": Way(_same, _stride_from_torch),
    "pad_mode": Way(_pad_mode_to_torch, _pad_mode_from_torch),
    "pool_pad_mode": Way(_pad_mode_to_torch, _pad_mode_from_torch),
    "mode_alone": Way(_pad_mode_to_torch, _mode_of_padding),
    "average_pad_mode": Way(_pad_mode_to_torch, _pad_mode_from_torch),
    "average_mode_alone": Way(_pad_mode_to_torch, _mode_of_padding),
    "transposed_pad_mode": Way(_transposed_to_torch, _pad_mode_from_torch),
    OF_OPERATOR: Way(_pad_mode_to_torch, _pad_mode_from_torch),
    "each_axis": Way(_each_axis, _each_axis),
    "stride_of_each_axis": Way(
        _each_axis, lambda it: _numbers(it.value or it.arguments["kernel_size"], it.axes)
    ),
    "single_axis": Way(_single, _same),
    "some_axes": Way(_none_or_several, NONE_ARE_ALL.to_torch),
    "reduction_number": _named_by({"none": 0, "mean": 1, "sum": 2}),
    "swap": Way(_swap_to_torch, _swap_from_torch),
    "softmax_axis": Way(_same, _softmax_axis),
    "last_axis": Way(lambda it: -1 if it.value is None else it.value, _same),
    "one_axis": Way(_same, _refused(None)),
    "counted_classes": Way(_same, _refused(-1)),
    "none_is_false": Way(_same, lambda it: bool(it.value)),
    "every_axis": NONE_ARE_ALL,
    "normalized_shape": Way(_normalized_to_torch, _normalized_from_torch),
    "begins_at": Way(_begins_at, _first_axis),
    # Of the two ways to say how much is dropped, the one that is given.
    "dropped": Way(lambda it: _one_minus(it, "keep_prob") if it.value is None else it.value, _same),
    "radius": Way(lambda it: 2 * int(it.number()) + 1, _radius),
    # PyTorch takes the mean of the window where MindSpore takes its sum.
    "alpha_of_radius": Way(
        lambda it: it.number() * (2 * int(it.number("depth_radius")) + 1),
        lambda it: it.number() / it.number("size"),
    ),
}
"""The transformations by name."""

COMPANIONS = frozenset(
    {"of_weight", "of_pad_mode", "of_swap", "of_normalized_shape", "of_begins_at", "of_dropped"}
)
"""Ways of arguments that another argument's way takes along."""
