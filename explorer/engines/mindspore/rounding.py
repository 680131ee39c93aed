"""MindSpore's operators carried out with other rounding than usual, to see what that changes."""

import ctypes
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

import mindspore as ms
import numpy as np

from explorer.engines.mindspore.dispatch import MsDispatchMode
from explorer.engines.mindspore.net import array_of
from explorer.engines.mindspore.operators import draws_random_numbers
from explorer.engines.mindspore.tape_tensors import tensors_in
from explorer.engines.mindspore.versions import require
from explorer.engines.nested import replaced
from explorer.engines.noise import UNMOVED
from explorer.model.arrays import AnyArray
from explorer.numeric.differences import Floats, real_parts
from explorer.numeric.random_arrays import is_short


class _Format(NamedTuple):
    """How floats of a dtype are kept in memory: as integers whose order is theirs, of one sign.

    Results with at most ``exact`` significant bits are taken for exact, such as sums of small
    integers; 0 where too few rounded results have more. In tensors of up to ``most`` elements it is
    looked up which of them an operator has only passed on.
    """

    integer: type[np.signedinteger[Any]]
    memory: type[Any]
    exact: int
    most: int


FORMATS = {
    ms.float64: _Format(np.int64, ctypes.c_int64, 32, 2**16),
    ms.float32: _Format(np.int32, ctypes.c_int32, 16, 2**16),
    # A complex number is kept as its two parts.
    ms.complex128: _Format(np.int64, ctypes.c_int64, 32, 2**16),
    ms.complex64: _Format(np.int32, ctypes.c_int32, 16, 2**16),
    # Inputs moved by float32's last place round to the same numbers: nothing else shows these.
    ms.float16: _Format(np.int16, ctypes.c_int16, 0, 2**31),
    ms.bfloat16: _Format(np.int16, ctypes.c_int16, 0, 2**31),
}
"""How floats of each dtype are kept."""

APPROXIMATED = (
    "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atan2", "Atanh", "Cos", "Cosh", "Elu", "EluExt",
    "Erf", "Erfc", "Erfinv", "Exp", "Exp2", "Expm1", "GeLU", "GeluExt", "GeLUGrad", "GeluGradExt",
    "HSwish", "LgammaCPU", "Log", "Log10", "Log1p", "Log2", "LogAddExp", "LogSigmoid",
    "LogSoftmax", "LogSoftmaxExt", "LogSoftmaxGrad", "Mish", "MishExt", "Pow",
    "PowTensorScalar", "Reciprocal", "Rsqrt", "SeLU", "SeLUExt", "SiLU", "SiLUGrad", "Sigmoid",
    "SigmoidGrad", "Sin", "Sinh", "Softmax", "SoftmaxBackward", "Softplus", "SoftplusExt",
    "SoftplusGradExt", "Sqrt", "Tan", "Tanh", "TanhGrad",
)  # fmt: skip
"""Operators whose float32 kernels approximate a function.

On the CPU those of exp, tanh, erf and sigmoid are off by 1e-6 to 1e-5 where that of another
framework is right to the last place (2.10.0): alike at every run, so that no jitter shows it.
"""

BELIEVED = 1e-4
"""The greatest difference of a float32 kernel from its float64 one, as a share of the scale.

More is another function, or a kernel that is wrong: that of LSTM in float64 is (2.10.0).
"""


def _log_softmax(operands: list[Floats], axis: int) -> list[Floats]:
    (x,) = operands
    shifted = x - x.max(axis, keepdims=True)
    return [shifted - np.log(np.exp(shifted).sum(axis, keepdims=True))]


def _log_softmax_gradient(operands: list[Floats], axis: int) -> list[Floats]:
    output, gradient = operands
    return [gradient - np.exp(output) * gradient.sum(axis, keepdims=True)]


FORMULAS: dict[str, Callable[[list[Floats], int], list[Floats]]] = {
    "LogSoftmax": _log_softmax,
    "LogSoftmaxExt": _log_softmax,
    "LogSoftmaxGrad": _log_softmax_gradient,
}
"""Operators along an axis whose float64 kernels are no better than those of float32 (2.10.0)."""

_without_float64: set[str] = set()
"""Operators of APPROXIMATED that turned out to have no float64 kernel in this process."""


STEPS = frozenset({"Floor", "Ceil", "Round", "Trunc", "FloorDiv", "FloorDivScalar"})
"""Operators whose value jumps."""


class _Rounding(MsDispatchMode):  # type: ignore[misc]  # mindspore ships no types
    """Carries out operators, and then moves what they yielded.

    ``has_drawn`` says whether an operator drew random numbers meanwhile. ``steps`` is what operators whose
    value jumps yielded; they are given what they yield in the place of that.
    """

    has_drawn = False

    def __init__(self, steps: Sequence[AnyArray] = ()) -> None:
        self._given = steps
        self.steps: list[AnyArray] = []

    def __ms_dispatch__(
        self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None
    ) -> Any:
        self.note(func)
        return self.carry_out(func, args, kwargs or {})

    def carry_out(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result of an operator, moved, and at a step what it is given."""
        result = self.perform(func, args, kwargs)
        if func.name in STEPS or (func.name == "Cast" and _is_cut(args, result)):
            ms.runtime.synchronize()
            array = array_of(next(iter(tensors_in((result,)))))
            given = self._given[len(self.steps) : len(self.steps) + 1]
            self.steps.append(array.copy())
            if given and (given[0].shape, given[0].dtype) == (array.shape, array.dtype):
                # The array is the tensor's own memory (2.10.0).
                np.copyto(array, given[0])
        return result

    def note(self, func: Any) -> None:
        """Note whether an operator draws random numbers."""
        self.has_drawn |= draws_random_numbers(func.name)

    @abstractmethod
    def perform(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result of an operator, its elements moved in place."""


class RandomRounding(_Rounding):
    """Moves each element that an operator rounded to a neighbour, or not, at random.

    What an operator only passes on stays: zeros, the results of relu, max or where; and so do
    numbers with few significant bits, which are exact.
    """

    def __init__(self, sample: int, steps: Sequence[AnyArray] = ()) -> None:
        super().__init__(steps)
        self._draws = np.random.default_rng(sample)
        self._moves = sample != UNMOVED

    def perform(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result of an operator, moved."""
        result = func(*args, **kwargs)
        operands = list(tensors_in(args))
        outputs = [tensor for tensor in tensors_in((result,)) if tensor.dtype in FORMATS]
        # What has no operands is a constant, or drawn.
        if operands and outputs and self._moves:
            ms.runtime.synchronize()
            memory = {operand.data_ptr() for operand in operands}
            for tensor in outputs:
                # A view, or an operand written in place, shows what another operator rounded.
                is_new = tensor.data_ptr() not in memory and tensor.is_contiguous()
                if is_new and 0 < tensor.size <= FORMATS[tensor.dtype].most:
                    self._move(tensor, operands)
        return result

    def _move(self, tensor: Any, operands: list[Any]) -> None:
        kept = FORMATS[tensor.dtype]
        values = _numbers(tensor)
        given = [_numbers(operand) for operand in operands]
        stays = is_short(values, kept.exact) | np.isin(values, np.concatenate(given))
        steps = self._draws.integers(-1, 2, values.shape, dtype=kept.integer)
        memory = (kept.memory * values.size).from_address(tensor.data_ptr())
        np.ctypeslib.as_array(memory)[...] += np.where(stays, kept.integer(0), steps)


def _is_cut(args: tuple[Any, ...], result: Any) -> bool:
    """Whether a cast turns floats into integers."""
    read, made = (next(iter(tensors_in(it)), None) for it in (args, (result,)))
    return (
        read is not None
        and made is not None
        and read.dtype in FORMATS
        and made.dtype in (ms.int32, ms.int64)
    )


def _numbers(tensor: Any) -> Floats:
    """The numbers of a tensor in a row, as float64; a complex one has two for each element."""
    return real_parts(array_of(tensor)).astype(np.float64).ravel()


class SharpRounding(_Rounding):
    """Replaces the result of each kernel that approximates a function by the rounded right one."""

    def perform(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result of an operator, as its float64 kernel has it where there is one."""
        if func.name not in APPROXIMATED or func.name in _without_float64:
            return func(*args, **kwargs)
        try:
            exact = _in_float64(func, args, kwargs)
        except Exception:
            # Whatever it raises, the recording that runs is lost with it: the caller tries anew.
            _without_float64.add(func.name)
            raise
        result = func(*args, **kwargs)
        outputs = list(tensors_in((result,)))
        if len(exact) == len(outputs):
            for tensor, right in zip(outputs, exact, strict=True):
                if tensor.dtype == ms.float32 and are_near(array_of(tensor), right):
                    # The array is the tensor's own memory (2.10.0).
                    np.copyto(array_of(tensor), right.astype(np.float32))
        return result


def _in_float64(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Floats]:
    if func.name in FORMULAS:
        return FORMULAS[func.name](_arrays(args), axis_of(args))
    with ms._no_grad():
        result = func(*replaced(args, _wide), **replaced(kwargs, _wide))
        return _arrays((result,))


def _arrays(values: Any) -> list[Floats]:
    """The tensors of nested values, as float64."""
    return [array_of(tensor).astype(np.float64) for tensor in tensors_in(values)]


def axis_of(args: tuple[Any, ...]) -> int:
    """The axis among the arguments of an operator, or among its primitive's; else the last."""
    for value in args:
        if isinstance(value, ms.ops.Primitive):
            return int(getattr(value, "axis", -1))
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return -1


def _wide(value: Any) -> Any:
    """A float32 tensor in float64; anything else as it is."""
    if isinstance(value, ms.Tensor) and value.dtype == ms.float32:
        return value.astype(ms.float64)
    return value


def are_near(values: Floats, right: Floats) -> bool:
    """Whether the values of a kernel are those of another one that is more precise, but for rounding."""
    if values.shape != right.shape or not np.isfinite(right).all():
        return False
    scale = float(np.abs(right).max(initial=0.0))
    return bool((np.abs(values - right) <= BELIEVED * scale).all())


Mode = TypeVar("Mode", bound=_Rounding)

_active: list[_Rounding] = []


def perform(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Carry out an operator on behalf of another dispatch mode, with the rounding in force.

    Modes do not stack in MindSpore 2.10: the innermost alone sees an operator.
    """
    if not _active:
        return func(*args, **kwargs)
    _active[-1].note(func)
    return _active[-1].carry_out(func, args, kwargs)


@contextmanager
def rounding(mode: Mode) -> Iterator[Mode]:
    """Carry out all operators with the rounding of ``mode`` meanwhile."""
    require("MsDispatchMode")  # operators of backward would be left alone
    _active.append(mode)
    try:
        with mode:
            yield mode
    finally:
        _active.pop()


def lacking() -> int:
    """The number of operators that are known to lack a float64 kernel."""
    return len(_without_float64)
