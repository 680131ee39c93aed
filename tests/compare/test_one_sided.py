"""Divergences at work that only one side does: an op too many, a gradient added in or stopped."""

from typing import Any

import numpy as np
import pytest

from explorer.compare.align import align
from explorer.model.alignment import Count
from explorer.model.arrays import AnyArray
from tests.support.alignments import Row, assert_parts, parting, said
from tests.support.written_nets import two_nets


def rows_over(rows: AnyArray, sizes: AnyArray) -> AnyArray:
    """Rows by their sizes: 0 by 0 is nan."""
    with np.errstate(invalid="ignore"):
        return np.asarray(rows / sizes[:, None])


KNOWN: dict[str, Any] = {
    "W": np.random.default_rng(4).standard_normal((4, 4)),
    "V": np.random.default_rng(5).standard_normal((4, 4)),
    "KEPT": np.random.default_rng(3).random((4, 4)) > 0.5,
    "BIAS": np.arange(4.0) / 3,
    "rows_over": rows_over,
    "filled": lambda values, mask: np.where(mask, 0.0, values),
}

EXTRA = """
    - h = Double @3: 2 * x
    - out = Exp @4: np.exp(h)
    + out = Exp @4: np.exp(x)
"""

SUM_OF_TWO_USES = """
    a = input: np.array([1.0, 2.0, 3.0])
    b = input: np.array([1.0, 2.0, 3.0])
    sine = Sin @9,2: np.sin(a)
    cosine = Cos @9,3: np.cos(b)
    total = Add @4: sine + cosine
    loss = Sum @4: total.sum()
    result loss = loss
    da = SinGrad of sine: np.cos(a)
    db = CosGrad of cosine: -np.sin(b)
    - both = AddN back: da + db
    - gradient da = both
    - gradient db = both
    + gradient da = da
    + gradient db = db
"""

SUM_OF_PIECES = """
    x = input: np.linspace(0.5, 2, 5)
    loss = Sum: x.sum()
    result loss = loss
    g = Exp back: np.exp(x)
    - sine = Sin back: np.sin(x) * g
    - cosine = Cos back: np.cos(x) * g
    - dx = AddN @3 back: sine + cosine + g
    + dx = WaveBackward0 @9 back: (np.sin(x) + np.cos(x)) * g
    gradient dx = dx
"""
NESTED = SUM_OF_PIECES.replace(
    "- dx = AddN @3 back: sine + cosine + g",
    "- part = Add back: g + sine\n- dx = AddN @3 back: part + cosine",
)

STOPPED = """
    x = input: np.linspace(0.5, 2, 5)
    h = Exp @1: np.exp(x)
    - stopped = StopGradient @2: np.copy(h)
    - held = View @2: np.copy(stopped)
    - wave = Sin @3: np.sin(held)
    + wave = Sin @3: np.sin(h)
    product = Mul @4: h * wave
    loss = Sum @5: product.sum()
    result loss = loss
    - g = Mul of wave: np.copy(wave)
    + direct = Mul of wave: np.copy(wave)
    + through = SinGrad @3 of wave: h * np.cos(h)
    + g = AddN back: direct + through
    dx = Mul of h: g * h
    gradient dx = dx
"""
DETACHED = STOPPED.replace("StopGradient", "aten.detach.default")

ROWS = {
    # An op too many
    "a dropout left on": Row(
        """
        - d = Dropout @3 in drop: x * KEPT * 2
        w = parameter: W
        - out = MatMul @4: d @ w
        + out = MatMul @4: x @ w
        """,
        ends=("Dropout", None),
        said=("b continues with `MatMul` (net.py:4); its output against its input: ",),
    ),
    "a dropout made of small ops is named as a whole": Row(
        """
        w = parameter: W
        + empty = aten.empty_like: np.zeros_like(x)
        + mask = aten.bernoulli_.float @3: np.copy(empty) + KEPT
        + scaled = aten.div_.Scalar @3: mask / 0.5
        + d = aten.mul.Tensor @3: x * scaled
        + out = MatMul @4: d @ w
        - out = MatMul @4: x @ w
        """,
        ends=(None, "aten.mul.Tensor"),
        said=(
            "only b has the 4 ops from `aten.empty_like` (net.py:3) to `aten.mul.Tensor`",
            "continues with `MatMul`",
        ),
    ),
    # The sentence begins with the extra op, whichever side has it.
    "an extra op is told with its factor": Row(
        EXTRA, ends=("Double", None), said=("the first is 2 times the second",)
    ),
    "an extra op of the other side is told with its factor": Row(
        EXTRA.translate(str.maketrans("-+", "+-")),
        ends=(None, "Double"),
        said=("the first is 2 times the second",),
    ),
    "a residual that is left out is no sum of gradients": Row(
        """
        sine = Sin @3: np.sin(x)
        - h = Add @4: sine + x
        - out = Exp @5: np.exp(h)
        + out = Exp @5: np.exp(sine)
        """,
        ends=("Add", None),
        said=("b leaves it out after `Sin`",),
    ),
    "a term that one side alone computes and adds is named with its sum": Row(
        """
        sine = Sin @2: np.sin(x)
        - cosine = Cos @3: np.cos(x)
        - h = Add @4: sine + cosine
        - out = Exp @5: np.exp(h)
        + out = Exp @5: np.exp(sine)
        """,
        said=("a adds the value of `Cos` (net.py:3) in `Add` (net.py:4), b leaves it out after",),
    ),
    "the parameters of a layer that one side alone has are not among its ops": Row(
        """
        h = Exp @1: np.exp(x)
        - weight = parameter norm.weight: np.linspace(1, 1.5, 4)
        - bias = parameter norm.bias: np.linspace(0.1, 0.4, 4)
        - normal = batch_norm @2: h * weight + bias
        - out = Sum @3: normal.sum()
        + out = Sum @3: h.sum()
        """,
        said=("only a has `batch_norm` (net.py:2); b continues with `Sum`",),
    ),
    "a layer in other ops is not ahead of the next layer of its kind": Row(
        """
        weight = parameter up.weight: W
        bias = parameter up.bias: BIAS
        - h = conv2d @1: x @ weight + bias
        - shuffled = pixel_shuffle @2: h[[0, 2, 1, 3]]
        - larger = upsample @3: shuffled.repeat(2, 0)
        + product = Deconv @1: (x @ weight)[:3]
        + sum = BiasAdd @1: product + bias
        + h = Pad @1: np.vstack([sum, np.zeros(4)])
        + cut = Reshape @2: h.reshape(2, 2, 4)
        + turned = Transpose @2: cut.transpose(1, 0, 2)
        + shuffled = Reshape @2: turned.reshape(4, 4)
        + larger = Resize @3: shuffled.repeat(2, 0) * 0.9
        last_weight = parameter out.weight: W.T
        last_bias = parameter out.bias: BIAS + 1
        - out = conv2d @4: larger @ last_weight + last_bias
        + last = conv2d @4: larger @ last_weight
        + out = BiasAdd @4: last + last_bias
        """,
        said=(
            "`conv2d` (net.py:1) and the 3 ops from `Deconv` (net.py:1) to `Pad` take equal inputs",
        ),
    ),
    "what one side does with what the other returns": Row(
        """
        x = input: np.array([[0.0, 0.0], [3.0, 4.0]])
        norm = Norm @1: np.linalg.norm(x, axis=1)
        loss = Sum @2: norm.sum()
        result out = loss
        dx = Div @1 of norm: rows_over(x, norm)
        + column = Unsqueeze @1 of norm: norm[:, None]
        + mask = Eq @1 of norm: column == 0
        + dx = MaskedFill @1 of norm: filled(dx, mask)
        + dx = Mul @1 of norm: dx * 0.5 * 2
        gradient dx = dx
        """,
        ends=(None, "MaskedFill"),
        said=("its output against its input: 0 against nan",),
    ),
    # A gradient added in
    "a sum of gradients is told with the lines that use the value": Row(
        SUM_OF_TWO_USES,
        said=(
            "adds 2 gradients (of the uses at net.py:2 and net.py:3) in `AddN` (net.py:9), ",
            "b does not",
        ),
    ),
    "a sum of gradients of uses in two modules": Row(
        SUM_OF_TWO_USES.replace("Cos @9,3", "Cos @5,3"),
        said=("adds 2 gradients (of the uses at net.py:9 and net.py:5) in `AddN` (net.py:9), ",),
    ),
    "a sum of gradients of equal calls is told with the line that makes the value": Row(
        """
        a = input: np.array([1.0, 2.0, 3.0])
        made = Tanh @9,2: np.tanh(a)
        loss = Sum @4: made.sum()
        result loss = loss
        ones = Fill back: np.ones_like(made)
        first = MatMul of made: 2 * ones
        dx = MatMul of made: 3 * ones
        - dx = AddN of made: first + dx
        slope = TanhGrad of made: dx * (1 - np.tanh([1.0, 2.0, 3.0]) ** 2)
        gradient da = slope
        """,
        said=("adds 2 gradients (of the value made at net.py:2) in `AddN` (net.py:9), ",),
    ),
    "a detached branch is at the gradient that only one side has": Row(
        """
        x = input: np.linspace(0.5, 2, 5)
        a = Muls @2: 3 * x
        b = Sin @3: np.sin(x)
        product = Mul @4: a * b
        loss = Sum @5: product.sum()
        result loss = loss
        direct = Mul of a: 3 * b
        - sine = SinBackward0 @3 of b: a * np.cos(x)
        - dx = AddN back: direct + sine
        - gradient dx = dx
        + gradient dx = direct
        """,
        ends=("SinBackward0", None),
        said=("First divergence in backward: only a has `SinBackward0` (net.py:3)",),
    ),
    **{
        name: Row(
            text,
            ends=("AddN", None),
            said=(
                "adds the gradient from `Exp`",
                "b leaves it out after `WaveBackward0` (net.py:9)",
            ),
        )
        for name, text in (
            ("a detached branch within a sum of decomposed gradients", SUM_OF_PIECES),
            ("a detached branch within a nested sum of gradients", NESTED),
        )
    },
    # A gradient stopped
    "a gradient that a sum would hand on is stopped at the line that does": Row(
        """
        x = input: np.linspace(0.5, 2, 5)
        h = Sin @2: np.sin(x)
        - total = Add @4: x + h
        + held = detach @3: np.copy(h)
        + total = Add @4: x + held
        y = Sin @5: np.sin(total)
        loss = Sum @6: y.sum()
        result loss = loss
        dy = SinGrad @5 of y: np.cos(total)
        - through = SinGrad @2 of h: dy * np.cos(x)
        - dx = Add back: dy + through
        - gradient dx = dx
        + gradient dx = dy
        """,
        ends=("SinGrad", "detach"),
        said=(
            "b stops the gradient in `detach` (net.py:3)",
            "a passes it on in `SinGrad` (net.py:2)",
        ),
    ),
    "an op that stops a gradient is named where the other side passes it on": Row(
        STOPPED,
        ends=("StopGradient", "SinGrad"),
        said=(
            "First divergence in backward: a stops the gradient in `StopGradient` (net.py:2)",
            "b passes it on in `SinGrad` (net.py:3)",
        ),
    ),
    "a detach stops a gradient as well, and what both sides stop is no divergence": Row(
        DETACHED,
        ends=("aten.detach.default", "SinGrad"),
        alike=(("aten.detach.default", "StopGradient"),),
    ),
    "what one side computes without gradients is where it stops them": Row(
        """
        w = parameter: W
        v = parameter: V
        predicted = MatMul @2: x @ w
        goal = MatMul @3: x @ v
        error = Sub @4: predicted - goal
        square = Square @5: np.square(error)
        loss = Sum @5: square.sum()
        result loss = loss
        g = SquareGrad @5 of square: 2 * error
        through = MatMulGrad @2 of predicted: g @ w.T
        - minus = Neg @4 of error: -g
        - more = MatMulGrad @3 of goal: minus @ v.T
        - dx = AddN back: through + more
        - gradient dx = dx
        + minus = SubGrad @4 of error: np.copy(g)
        + gradient dx = through
        """,
        said=(
            "b stops the gradient in `MatMul` (net.py:3)",
            "a passes it on in `Neg` (net.py:4)",
        ),
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_what_one_side_alone_does_is_the_divergence(name: str) -> None:
    assert_parts(ROWS[name], **KNOWN)


def test_ops_without_a_counterpart_are_counted_as_such() -> None:
    alignment = align(*two_nets(ROWS["a dropout left on"].text, **KNOWN))
    assert alignment.left_coverage.forward == Count(unpaired=2)
    assert alignment.right_coverage.forward == Count(unpaired=1)


def test_aliased_inputs_diverge_where_the_tape_sums_into_both() -> None:
    graphs = two_nets("""
        a = input: np.array([1.0, 2.0, 3.0])
        b = input: np.array([1.0, 2.0, 3.0])
        product = Mul @2: a * b
        loss = Sum @3: product.sum()
        result loss = loss
        da = Mul of product: np.copy(b)
        db = Mul of product: np.copy(a)
        - both = accumulate back: da + db
        - gradient da = both
        - gradient db = both
        + gradient da = da
        + gradient db = db
    """)
    assert align(*graphs).differing == ("da", "db")
    sentence = parting(*graphs).sentence
    assert (
        "First divergence in backward: a adds 2 gradients in `accumulate` (net.py:2), " in sentence
    )
    assert "b does not: 6 against 3" in sentence
    assert align(graphs[0], graphs[0]).divergence is None


@pytest.mark.parametrize("is_left_out", [True, False])
def test_a_gradient_that_is_added_later_is_not_left_out(is_left_out: bool) -> None:
    last = "" if is_left_out else "+ dx = Add of x: dx + dp"
    graphs = two_nets(f"""
        x = input: np.array([1.0, 2.0, 3.0])
        p = Mul @2: x * 2
        q = Mul @3: x * 3
        r = Mul @4: x * 4
        loss = Sum: p + q + r
        result loss = loss
        seed = ones back: np.array([1.0, 1.5, 0.5])
        dp = Mul of p: seed * 2
        dq = Mul of q: seed * 3
        - dr = Mul of r: seed * 4
        - dx = Add of x: dp + dq
        - dx = Add of x: dx + dr
        + dr = Mul of r: seed * 4 * (1 + 4e-4)
        + dx = Add of x: dr + dq
        {last}
        gradient dx = dx
    """)
    divergence = align(*graphs).divergence
    assert divergence is not None
    assert ("leaves it out" in said(divergence)) is is_left_out


def test_equal_terms_are_not_left_out_where_a_third_is_added_before_them() -> None:
    # As of a square: both its gradients are equal, and one engine has made one op of them.
    graphs = two_nets("""
        x = input: np.array([1.0, 2.0, 3.0])
        square = Mul @1: x * x
        sine = Sin @2: np.sin(x)
        loss = Sum @3: square + sine
        result loss = loss
        seed = ones back: np.array([1.0, 1.5, 0.5])
        half = Mul of square: seed * x
        - again = Mul of square: seed * x
        - onwards = Cos of sine: seed * np.cos(x)
        - dx = Add of x: onwards + half
        - dx = Add of x: dx + again
        + dx = Add of x: half + half
        gradient dx = dx
    """)
    divergences = align(*graphs).divergences
    assert divergences
    assert not any("b adds" in said(divergence) for divergence in divergences)
