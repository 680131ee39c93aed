"""The noise of PyTorch's results and nodes: the same engine again where every operator rounds otherwise."""

from collections.abc import Sequence
from typing import Any

import msgspec
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from explorer.engines.nested import replaced
from explorer.engines.noise import (
    UNMOVED,
    drawn_leaves,
    moved_runs,
    noisy_graphs,
    result_noise,
    returned_outputs,
)
from explorer.engines.torch import graph, tape
from explorer.engines.torch.operators import (
    draws_random_numbers,
    gather_tensors,
    operator_name,
    tensors_in,
    unwritten_outputs,
    written_arguments,
)
from explorer.model.requests import CaseRequest
from explorer.model.results import Captured, ResultNoise

BITS = {
    torch.float64: torch.int64,
    torch.float32: torch.int32,
    torch.float16: torch.int16,
    torch.bfloat16: torch.int16,
}
"""The integers whose order is that of the floats of one sign with the same bits."""


STEPS = frozenset(
    f"aten.{name}.default" for name in ("floor", "ceil", "round", "trunc", "fix", "floor_divide")
)
"""Operators whose value jumps."""


class RandomRounding(TorchDispatchMode):  # type: ignore[misc]  # torch is untyped here
    """Moves each element that an operator rounded to a neighbour, or not, at random.

    An element that is exact stays: small integers, what relu or max pass on, a mask. The same
    operator in float64 shows which are. ``has_drawn`` says whether an operator drew random
    numbers meanwhile. As in stochastic arithmetic: CADNA (Jezequel and Chesneaux, 2008). ``steps`` is
    what operators whose value jumps yielded; they are given what they yield in the place of that.
    """

    def __init__(self, sample: int, steps: Sequence[torch.Tensor] = ()) -> None:
        super().__init__()
        self._draws = torch.Generator().manual_seed(sample)
        self._moves = sample != UNMOVED
        self._given = steps
        self.has_drawn = False
        self.steps: list[torch.Tensor] = []

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        draws = draws_random_numbers(func)
        self.has_drawn |= draws
        if draws:
            return func(*args, **kwargs)
        exact = _in_float64(func, args, kwargs)
        result = func(*args, **kwargs)
        operands: list[torch.Tensor] = []
        gather_tensors((*args, *kwargs.values()), operands)
        storages = {operand.untyped_storage().data_ptr() for operand in operands}
        # What lies in unwritten memory is other numbers in every run: to move them, or not, would change
        # the draws of all that follows.
        unwritten = unwritten_outputs(operator_name(func))
        outputs = tensors_in(result)
        pairs = zip(outputs, exact or [None] * len(outputs), strict=False)
        for slot, (tensor, right) in enumerate(pairs):
            # A view shows what another operator rounded; so does an operand that was written to.
            is_view = tensor.untyped_storage().data_ptr() in storages
            if slot not in unwritten and not is_view and self._moves:
                self._move(tensor, right)
        if operator_name(func) in STEPS or _is_cut(func, operands, outputs):
            self._step(outputs[0])
        return result

    def _step(self, tensor: torch.Tensor) -> None:
        number = len(self.steps)
        self.steps.append(tensor.detach().clone())
        given = self._given[number] if number < len(self._given) else None
        if given is not None and (given.shape, given.dtype) == (tensor.shape, tensor.dtype):
            tensor.copy_(given)

    def _move(self, tensor: torch.Tensor, exact: torch.Tensor | None) -> None:
        if tensor.is_complex() and exact is not None and not tensor.is_conj():
            tensor, exact = torch.view_as_real(tensor), torch.view_as_real(exact.resolve_conj())
        if tensor.dtype not in BITS or tensor.device.type != "cpu" or not tensor.numel():
            return
        if exact is None or exact.shape != tensor.shape:
            return
        rounded = (tensor.double() != exact.double()) & tensor.isfinite() & (tensor != 0)
        if bool(rounded.any()):
            integers = BITS[tensor.dtype]
            steps = torch.randint(-1, 2, tensor.shape, generator=self._draws, dtype=integers)
            tensor.view(integers).add_(steps * rounded)


def _is_cut(func: Any, operands: list[torch.Tensor], outputs: list[torch.Tensor]) -> bool:
    """Whether an operator turns floats into integers."""
    are_floats = [it.is_floating_point() for it in (*operands[:1], *outputs)]
    return operator_name(func) == "aten._to_copy.default" and are_floats == [True, False]


def _in_float64(func: Any, args: Any, kwargs: Any) -> list[torch.Tensor] | None:
    """What an operator yields in float64; None where it has no such kernel."""
    # The operands stay as they are, also those that the operator writes to: batch norm in training.
    writes = written_arguments(func) != ((), ())
    convert = _wide_copy if writes else _wide
    try:
        return tensors_in(func(*replaced(args, convert), **replaced(kwargs, convert)))
    except (RuntimeError, NotImplementedError, TypeError):
        return None


def _wide(value: Any) -> Any:
    """A tensor or a dtype of floats in float64, a complex one in complex128; else as it is."""
    if isinstance(value, torch.Tensor):
        if value.is_complex():
            return value.to(torch.complex128)
        if value.is_floating_point():
            return value.double()
    if isinstance(value, torch.dtype):
        if value.is_complex:
            return torch.complex128
        if value.is_floating_point:
            return torch.float64
    return value


def _wide_copy(value: Any) -> Any:
    """The same, and a tensor in memory of its own."""
    wide = _wide(value)
    return wide.clone() if isinstance(wide, torch.Tensor) else wide


ENGINES = {"torch-tape": tape, "torch-graph": graph}


def results(request: CaseRequest) -> ResultNoise:
    """The noise of the answer to one case, leaf by leaf."""
    engine = ENGINES[request.net.engine]
    # First without rounding: Dynamo, which derives a joint graph once, does not end in a mode.
    plain = engine.answer(request)
    if plain.outcome != "ok":
        return result_noise(plain, [])
    moved, has_drawn = moved_runs(engine.answer, request, RandomRounding)
    drawn: tuple[str, ...] = ()
    if has_drawn:
        drawn = drawn_leaves(plain, engine.answer, request)
    noise = result_noise(plain, [moved], drawn)
    return msgspec.structs.replace(noise, outputs=returned_outputs(plain, request.case))


def capture(request: CaseRequest) -> Captured:
    """The graph of one case with the noise of every node."""
    engine = ENGINES[request.net.engine]
    plain: Captured = engine.capture(request)
    if not plain.graphs:
        return plain
    moved, _ = moved_runs(engine.capture, request, RandomRounding)
    return noisy_graphs(plain, [moved])
