"""The way back by whole layers: where one side has modules, and the other one functions of many lines."""

from typing import Any

import numpy as np
import pytest

from explorer.compare.align import align
from explorer.model.divergence import Divergence, LoneLeaf, OtherValue
from explorer.model.graph import GradGraph
from tests.support.written_nets import net

RANDOM = np.random.default_rng(3)
X = RANDOM.standard_normal((5, 4))
FUTURE = np.triu(np.ones((5, 5), bool), 1)


def masked(scores: Any, future: Any) -> Any:
    return np.where(future, -1e9, scores)


def softmax(scores: Any) -> Any:
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def layer_norm(x: Any, scale: Any, shift: Any) -> Any:
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * scale + shift


LEAVES = """
    x = input: X
    weight = parameter: WEIGHT
    bias = parameter: BIAS
    scale = parameter: SCALE
    shift = parameter: SHIFT
"""

# Attention whose mask is made of a range, and a norm in a function of two lines.
IN_FUNCTIONS = f"""{LEAVES}
    scores = dot_general @1: x @ x.T
    scores = mul @1: scores * FACTOR
    rows = iota @2: np.repeat(np.arange(5), 5).reshape(5, 5)
    later = gt @2: rows < rows.T
    scores = select_n @3: masked(scores, later)
    powers = exp @3: np.exp(scores - scores.max(-1, keepdims=True))
    total = reduce_sum @3: powers.sum(-1, keepdims=True)
    weights = div @3: powers / total
    mixed = dot_general @4: weights @ x
    dense = dot_general @5,9: mixed @ weight
    dense = add @5,9: dense + bias
    h = add @10: x + dense
    centred = sub @7,11: h - h.mean(-1, keepdims=True)
    spread = rsqrt @7,11: (h.var(-1, keepdims=True) + 1e-5) ** -0.5
    normal = mul @7,11: centred * spread
    normal = mul @8,11: normal * scale
    out = add @8,11: normal + shift
"""

# The same with a mask that is kept, and in one op for a layer.
IN_MODULES = f"""{LEAVES}
    future = parameter: FUTURE
    scores = aten.mm @21 in attention: x @ x.T
    scores = aten.mul @21 in attention: scores * FACTOR
    scores = aten.masked_fill @22 in attention: masked(scores, future)
    weights = aten._softmax @23 in attention: softmax(scores)
    mixed = aten.mm @24 in attention: weights @ x
    dense = aten.addmm @25 in dense: bias + mixed @ weight
    h = aten.add.Tensor @26: x + dense
    out = aten.native_layer_norm @27 in ln: layer_norm(h, scale, shift)
"""

KNOWN: dict[str, Any] = {
    "X": X,
    "WEIGHT": RANDOM.standard_normal((4, 4)),
    "BIAS": RANDOM.standard_normal(4),
    "SCALE": RANDOM.standard_normal(4),
    "SHIFT": RANDOM.standard_normal(4),
    "masked": masked,
    "softmax": softmax,
    "layer_norm": layer_norm,
}


def attention(engine: str, text: str, factor: float, future: Any = FUTURE) -> GradGraph:
    """A net whose scores are multiplied by a factor, where that is not 1."""
    lines = [line for line in text.splitlines() if factor != 1 or "* FACTOR" not in line]
    return net(engine, "\n".join(lines), FACTOR=factor, FUTURE=future, **KNOWN)


def lines_of(divergence: Divergence | None) -> set[str]:
    assert isinstance(divergence, OtherValue)
    return {row.first.source for row in divergence.rows}


@pytest.mark.parametrize("is_swapped", [False, True])
def test_a_scale_that_modules_alone_have_is_in_their_row(is_swapped: bool) -> None:
    pair = attention("jax-tape", IN_FUNCTIONS, 1.0), attention("torch-tape", IN_MODULES, 0.5)
    divergence = align(*(pair[::-1] if is_swapped else pair)).divergence
    assert lines_of(divergence) == {"net.py:3", "net.py:21"}
    assert isinstance(divergence, OtherValue)
    rows = sorted((row.first.label, row.last) for row in divergence.rows)
    assert rows == [("aten.mul", "aten._softmax"), ("select_n", "div")]


def test_another_mask_is_named_by_the_side_that_keeps_it() -> None:
    future = np.triu(np.ones((5, 5), bool), 2)
    pair = (
        attention("jax-tape", IN_FUNCTIONS, 0.5),
        attention("torch-tape", IN_MODULES, 0.5, future),
    )
    divergence = align(*pair).divergence
    assert isinstance(divergence, LoneLeaf)
    assert (divergence.name, divergence.user.source if divergence.user else "") == (
        "future",
        "net.py:22",
    )


def test_nets_that_do_the_same_do_not_diverge() -> None:
    assert (
        align(attention("a", IN_FUNCTIONS, 0.5), attention("b", IN_MODULES, 0.5)).divergence is None
    )
