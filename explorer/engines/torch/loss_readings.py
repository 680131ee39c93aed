"""What the operators between a net and its loss have read beside the net's outputs, as the tape holds it."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from typing import Any, NamedTuple

import torch

SAVED = "_saved_"
"""How the names of what a node of the tape keeps for backward begin (2.13)."""

TARGETS = ("target", "targets")
"""What PyTorch's functions of losses call the labels that they keep for backward (2.13)."""

LAST = 16
"""Among so many of the last operators of a forward are its losses."""

MOST = 256
"""Of a loss with more operators not all are looked at."""

VIEWS = ("Squeeze", "Unsqueeze", "View", "UnsafeView", "ReshapeAlias")
"""How the nodes begin that give the elements of their input in its order."""

FAR_GREATER = 32.0
"""So many times as great as a summand a sum may be for it to be known from that."""

OF_NUMBERS = ("Add", "Sub", "Mul", "Div", "Neg", "Rsub")
"""Nodes whose result is one number where their inputs are."""

SUMS = {"SubBackward0": -1, "AddBackward0": 1}
"""Nodes of which the tape holds no input, and the sign of the second one."""


class Readings(NamedTuple):
    """Tensors by the operators that have read them; ``is_whole`` if there are no others."""

    tensors: dict[str, torch.Tensor]
    is_whole: bool


def targets(heads: Iterable[Any], returned: Iterable[Any]) -> Iterator[tuple[str, torch.Tensor]]:
    """What functions behind the modules have kept as their targets, which no module is called with."""
    for node in islice(_behind(heads, returned), LAST):
        for name, tensor in _saved(node):
            if name in TARGETS and not tensor.requires_grad:
                yield name, tensor


def readings(heads: Iterable[Any], returned: Mapping[Any, torch.Tensor]) -> Readings:
    """What was read between the outputs of modules and the ``heads`` of a pass.

    ``returned`` are these outputs by their nodes. What was added to an output, or taken from it, is not on
    the tape; it follows from the sum, up to rounding.
    """
    found: dict[str, torch.Tensor] = {}
    made: dict[Any, torch.Tensor] = {}
    numbers = {head.grad_fn for head in heads if isinstance(head, torch.Tensor) and not head.dim()}
    is_whole = True
    for count, node in enumerate(_behind(heads, returned)):
        if count == MOST:
            return Readings(found, False)
        inputs = [following for following, _number in node.next_functions]
        saved = list(_saved(node))
        for name, tensor in saved:
            if name in ("self", "other") and tensor.requires_grad:
                made.setdefault(inputs[name == "other"] if len(inputs) > 1 else inputs[0], tensor)
        plain = [
            tensor for name, tensor in saved if not tensor.requires_grad and name not in TARGETS
        ]
        kind = type(node).__name__.partition("Backward")[0]
        if node in numbers and kind in OF_NUMBERS:
            numbers.update(inputs)
        elif None in inputs and not saved:
            summand = _summand(node, inputs, made, returned)
            is_whole &= summand is not None
            plain += [] if summand is None or _is_number(summand) else [summand]
        kind = kind.lower()
        for tensor in plain:
            if tensor.dim():
                found[kind if kind not in found else f"{kind} {len(found) + 1}"] = tensor
    return Readings(found, is_whole)


def _summand(
    node: Any,
    inputs: list[Any],
    made: Mapping[Any, torch.Tensor],
    returned: Mapping[Any, torch.Tensor],
) -> torch.Tensor | None:
    """What was added to an output of a module, or taken from it; None where that is not known."""
    sign, total = SUMS.get(type(node).__name__), made.get(node)
    if sign is None or total is None:
        return None
    factor = sign * node._saved_alpha
    output = inputs[0] if inputs[0] is not None else inputs[1]
    while output not in returned and type(output).__name__.startswith(VIEWS):
        output = output.next_functions[0][0]
    known = returned.get(output)
    if known is None:
        return None
    if known.numel() == total.numel():
        known = known.reshape(total.shape)
    total = total.detach()
    try:
        found = (total - known) / factor if inputs[0] is not None else total - factor * known
    except RuntimeError:  # of shapes that do not fit
        return None
    return found if _is_exact(found, total) else None


def _is_exact(summand: torch.Tensor, total: torch.Tensor) -> bool:
    """Whether rounding of a sum takes next to nothing from what is said of a summand."""
    if summand.dtype not in (torch.float32, torch.float64) or not summand.numel():
        return False
    return bool(total.abs().max() <= FAR_GREATER * summand.abs().max())


def _is_number(tensor: torch.Tensor) -> bool:
    """Whether all elements are one number, up to rounding."""
    return bool(tensor.max() - tensor.min() <= 1e-5 * tensor.abs().max())


def _saved(node: Any) -> Iterator[tuple[str, torch.Tensor]]:
    """The tensors that a node keeps for backward, by their names."""
    for name in dir(node):
        if not name.startswith(SAVED):
            continue
        value = None
        with suppress(RuntimeError):  # an earlier pass has freed it
            value = getattr(node, name)
        for tensor in value if isinstance(value, (tuple, list)) else (value,):
            if isinstance(tensor, torch.Tensor):
                yield name.removeprefix(SAVED), tensor


def _behind(heads: Iterable[Any], ends: Iterable[Any]) -> Iterator[Any]:
    """The nodes that heads were made by, and those that these read, the nearest first, up to some ends."""
    waiting = deque(head.grad_fn for head in heads if isinstance(head, torch.Tensor))
    seen = set[Any](ends)
    while waiting:
        node = waiting.popleft()
        if node is not None and node not in seen:
            seen.add(node)
            yield node
            waiting.extend(following for following, _number in node.next_functions)
