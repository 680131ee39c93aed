"""Divergences at work that only one side does: an op too many, a gradient added in or stopped."""

import numpy as np
import pytest

from explorer.compare.align import align
from explorer.model.alignment import Count
from explorer.model.graph import GradGraph
from explorer.words.divergences import first_divergence
from tests.support.alignments import parting, said
from tests.support.computed_graphs import ComputedGraph, one_input

# An op too many


def with_dropout(engine: str, drops: bool) -> GradGraph:
    """A product, of an input that one op may drop."""
    mask = np.random.default_rng(3).random((4, 4)) > 0.5
    w = np.random.default_rng(4).standard_normal((4, 4))

    def build(graph: ComputedGraph, x: int) -> int:
        if drops:
            x = graph.op("Dropout", lambda x: x * mask * 2, x, line=3, scope="drop")
        return graph.op("MatMul", np.matmul, x, graph.leaf("w", w), line=4)

    return one_input(engine, build)


def with_small_dropout(engine: str) -> GradGraph:
    """As with_dropout, the dropout made of small ops."""
    kept = np.random.default_rng(3).random((4, 4)) > 0.5
    w = np.random.default_rng(4).standard_normal((4, 4))

    def build(graph: ComputedGraph, x: int) -> int:
        empty = graph.op("aten.empty_like", np.zeros_like, x)
        mask = graph.op("aten.bernoulli_.float", lambda e: kept.astype(float), empty, line=3)
        scaled = graph.op("aten.div_.Scalar", lambda mask: mask / 0.5, mask, line=3)
        dropped = graph.op("aten.mul.Tensor", np.multiply, x, scaled, line=3)
        return graph.op("MatMul", np.matmul, dropped, graph.leaf("w", w), line=4)

    return one_input(engine, build)


def test_a_dropout_left_on_has_no_counterpart() -> None:
    on, off = with_dropout("mindspore-tape", True), with_dropout("torch-tape", False)
    left, right, sentence = parting(on, off)
    assert (left, right) == ("Dropout", None)
    assert (
        "torch-tape continues with `MatMul` (net.py:4); its output against its input: " in sentence
    )
    assert parting(off, on)[:2] == (None, "Dropout")


def test_ops_without_a_counterpart_are_counted_as_such() -> None:
    alignment = align(with_dropout("a", True), with_dropout("b", False))
    assert alignment.left_coverage.forward == Count(unpaired=2)
    assert alignment.right_coverage.forward == Count(unpaired=1)


def test_a_dropout_made_of_small_ops_is_named_as_a_whole() -> None:
    off = with_dropout("mindspore-tape", False)
    left, right, sentence = parting(off, with_small_dropout("torch-tape"))
    assert (left, right) == (None, "aten.mul.Tensor")
    assert (
        "only torch-tape has the 4 ops from `aten.empty_like` (net.py:3) to `aten.mul.Tensor`"
        in sentence
    )
    assert "continues with `MatMul`" in sentence


@pytest.mark.parametrize("on_the_left", [True, False])
def test_an_extra_op_is_told_with_its_factor(on_the_left: bool) -> None:
    def net(engine: str, doubles: bool) -> GradGraph:
        def build(graph: ComputedGraph, x: int) -> int:
            read = graph.op("Double", lambda x: 2 * x, x, line=3) if doubles else x
            return graph.op("Exp", np.exp, read, line=4)

        return one_input(engine, build)

    left, right, sentence = parting(net("a", on_the_left), net("b", not on_the_left))
    assert (left, right) == (("Double", None) if on_the_left else (None, "Double"))
    # The sentence begins with the extra op, whichever side has it.
    assert "the first is 2 times the second" in sentence


def test_a_residual_that_is_left_out_is_no_sum_of_gradients() -> None:
    def net(engine: str, adds: bool) -> GradGraph:
        def build(graph: ComputedGraph, x: int) -> int:
            sine = graph.op("Sin", np.sin, x, line=3)
            read = graph.op("Add", np.add, sine, x, line=4) if adds else sine
            return graph.op("Exp", np.exp, read, line=5)

        return one_input(engine, build)

    left, right, sentence = parting(net("a", True), net("b", False))
    assert (left, right) == ("Add", None)
    assert "b leaves it out after `Sin`" in sentence


# A gradient added in


@pytest.mark.parametrize("is_left_out", [True, False])
def test_a_gradient_that_is_added_later_is_not_left_out(is_left_out: bool) -> None:
    factors = (2, 3, 4)

    def net(engine: str, order: tuple[int, ...], rounding: float) -> GradGraph:
        graph = ComputedGraph(engine)
        x = graph.leaf("x", np.array([1.0, 2.0, 3.0]), "input")
        uses = [graph.op("Mul", lambda x, k=k: x * k, x, line=k) for k in factors]
        graph.result("loss", graph.op("Sum", lambda *terms: sum(terms), *uses))
        seed = graph.hold("ones", np.array([1.0, 1.5, 0.5]), phase="backward")
        terms = []
        for factor, use in zip(factors, uses, strict=True):
            wrong = factor * rounding if factor == 4 else factor
            terms.append(graph.back("Mul", lambda g, k=wrong: g * k, seed, forward=use))
        total = terms[order[0]]
        for place in order[1:]:
            total = graph.back("Add", np.add, total, terms[place], forward=x)
        graph.result("dx", total, "backward")
        return graph.record()

    order = (2, 1) if is_left_out else (2, 1, 0)
    divergence = align(net("a", (0, 1, 2), 1.0), net("b", order, 1 + 4e-4)).divergence
    assert divergence is not None
    assert ("leaves it out" in said(divergence)) is is_left_out


def test_equal_terms_are_not_left_out_where_a_third_is_added_before_them() -> None:
    # As of a square: both its gradients are equal, and one engine has made one op of them.
    def net(engine: str, is_whole: bool) -> GradGraph:
        graph = ComputedGraph(engine)
        x = graph.leaf("x", np.array([1.0, 2.0, 3.0]), "input")
        square = graph.op("Mul", np.multiply, x, x, line=1)
        sine = graph.op("Sin", np.sin, x, line=2)
        graph.result("loss", graph.op("Sum", np.add, square, sine, line=3))
        seed = graph.hold("ones", np.array([1.0, 1.5, 0.5]), phase="backward")
        half = graph.back("Mul", np.multiply, seed, x, forward=square)
        if is_whole:
            other_half = graph.back("Mul", np.multiply, seed, x, forward=square)
            onwards = graph.back("Cos", lambda g, x: g * np.cos(x), seed, x, forward=sine)
            total = graph.back("Add", np.add, onwards, half, forward=x)
            total = graph.back("Add", np.add, total, other_half, forward=x)
        else:
            total = graph.back("Add", np.add, half, half, forward=x)
        graph.result("dx", total, "backward")
        return graph.record()

    alignment = align(net("a", True), net("b", False))
    assert alignment.divergences
    assert not any("b adds" in said(divergence) for divergence in alignment.divergences)


def test_aliased_inputs_diverge_where_the_tape_sums_into_both() -> None:
    def net(is_tape: bool) -> GradGraph:
        graph = ComputedGraph("torch-tape" if is_tape else "mindspore-graph")
        value = np.array([1.0, 2.0, 3.0])
        a, b = graph.leaf("a", value, "input"), graph.leaf("b", value, "input")
        product = graph.op("Mul", np.multiply, a, b, line=2)
        graph.result("loss", graph.op("Sum", np.sum, product, line=3))
        da = graph.back("Mul", np.copy, b, forward=product)
        db = graph.back("Mul", np.copy, a, forward=product)
        if is_tape:
            da = db = graph.hold(
                "accumulate", value * 2, inputs=(da, db), kind="accumulate", phase="backward"
            )
        graph.result("da", da, "backward")
        graph.result("db", db, "backward")
        return graph.record()

    alignment = align(net(True), net(False))
    assert alignment.differing == ("da", "db")
    assert alignment.divergence is not None
    assert alignment.divergence.phase == "backward"
    sentence = first_divergence(alignment)
    assert "torch-tape adds 2 gradients in `accumulate` (net.py:2), " in sentence
    assert "mindspore-graph does not: 6 against 3" in sentence
    assert align(net(True), net(True)).divergence is None


@pytest.mark.parametrize("is_one_module", [True, False])
def test_a_sum_of_gradients_is_told_with_the_lines_that_use_the_value(is_one_module: bool) -> None:
    def net(is_tape: bool) -> GradGraph:
        graph = ComputedGraph("torch-tape" if is_tape else "mindspore-graph")
        value = np.array([1.0, 2.0, 3.0])
        a, b = graph.leaf("a", value, "input"), graph.leaf("b", value, "input")
        lines = ("net.py:9", "net.py:2"), ("net.py:9" if is_one_module else "net.py:5", "net.py:3")
        sine = graph.hold("Sin", np.sin(value), inputs=(a,), source=lines[0])
        cosine = graph.hold("Cos", np.cos(value), inputs=(b,), source=lines[1])
        total = graph.op("Add", np.add, sine, cosine, line=4)
        graph.result("loss", graph.op("Sum", np.sum, total, line=4))
        da = graph.back("SinGrad", np.cos, a, forward=sine)
        db = graph.back("CosGrad", lambda b: -np.sin(b), b, forward=cosine)
        if is_tape:
            da = db = graph.back("AddN", np.add, da, db)
        graph.result("da", da, "backward")
        graph.result("db", db, "backward")
        return graph.record()

    sentence = parting(net(True), net(False))[2]
    uses = "net.py:2 and net.py:3" if is_one_module else "net.py:9 and net.py:5"
    assert f"adds 2 gradients (of the uses at {uses}) in `AddN` (net.py:9), " in sentence
    assert "mindspore-graph does not" in sentence


def test_a_sum_of_gradients_of_equal_calls_is_told_with_the_line_that_makes_the_value() -> None:
    def net(is_tape: bool) -> GradGraph:
        graph = ComputedGraph("torch-tape" if is_tape else "mindspore-graph")
        value = np.array([1.0, 2.0, 3.0])
        a = graph.leaf("a", value, "input")
        made = graph.hold("Tanh", np.tanh(value), inputs=(a,), source=("net.py:9", "net.py:2"))
        graph.result("loss", graph.op("Sum", np.sum, made, line=4))
        ones = graph.back("Fill", np.ones_like, made)
        first = graph.back("MatMul", lambda ones: 2 * ones, ones, forward=made)
        dx = graph.back("MatMul", lambda ones: 3 * ones, ones, forward=made)
        if is_tape:
            dx = graph.back("AddN", lambda x, y: x + y, first, dx, forward=made)
        slope = graph.back("TanhGrad", lambda g: g * (1 - np.tanh(value) ** 2), dx, forward=made)
        graph.result("da", slope, "backward")
        return graph.record()

    sentence = parting(net(True), net(False))[2]
    assert "adds 2 gradients (of the value made at net.py:2) in `AddN` (net.py:9), " in sentence


def branch(engine: str, is_detached: bool) -> GradGraph:
    """y = sum(3x · sin x), with or without the gradient through the second factor."""
    graph = ComputedGraph(engine)
    x = graph.leaf("x", np.linspace(0.5, 2, 5), "input")
    a = graph.op("Muls", lambda x: 3 * x, x, line=2)
    b = graph.op("Sin", np.sin, x, line=3)
    product = graph.op("Mul", np.multiply, a, b, line=4)
    graph.result("loss", graph.op("Sum", np.sum, product, line=5))
    dx = graph.back("Mul", lambda b: 3 * b, b, forward=a)
    if not is_detached:
        through_sine = graph.back(
            "SinBackward0", lambda a, x: a * np.cos(x), a, x, forward=b, line=3
        )
        dx = graph.back("AddN", np.add, dx, through_sine)
    graph.result("dx", dx, "backward")
    return graph.record()


def test_a_detached_branch_diverges_at_the_gradient_that_only_one_side_has() -> None:
    whole, detached = branch("torch-tape", False), branch("mindspore-graph", True)
    left, right, sentence = parting(whole, detached)
    assert (left, right) == ("SinBackward0", None)
    assert sentence.startswith(
        "First divergence in backward: only torch-tape has `SinBackward0` (net.py:3)"
    )
    assert parting(detached, whole)[:2] == (None, "SinBackward0")


def recurrent(engine: str, is_stopped: bool) -> GradGraph:
    """h = sin x, then y = sin(x + h), with or without the gradient through h."""
    graph = ComputedGraph(engine)
    x = graph.leaf("x", np.linspace(0.5, 2, 5), "input")
    h = graph.op("Sin", np.sin, x, line=2)
    handed_on = graph.op("detach", lambda h: h, h, line=3) if is_stopped else h
    total = graph.op("Add", np.add, x, handed_on, line=4)
    y = graph.op("Sin", np.sin, total, line=5)
    graph.result("out", graph.op("Sum", np.sum, y, line=6))
    dx = graph.back("SinGrad", np.cos, total, forward=y, line=5)
    if not is_stopped:
        through = graph.back("SinGrad", lambda g, x: g * np.cos(x), dx, x, forward=h, line=2)
        dx = graph.back("Add", np.add, dx, through)
    graph.result("dx", dx, "backward")
    return graph.record()


def test_a_gradient_that_a_sum_would_hand_on_is_stopped_at_the_line_that_does() -> None:
    whole, stopped = recurrent("torch-tape", False), recurrent("mindspore-graph", True)
    sentence = parting(whole, stopped).sentence
    assert "mindspore-graph stops the gradient in `detach` (net.py:3)" in sentence
    assert "torch-tape passes it on in `SinGrad` (net.py:2)" in sentence
    assert parting(stopped, whole)[:2] == ("detach", "SinGrad")


@pytest.mark.parametrize("nested", [False, True])
def test_a_detached_branch_is_seen_within_a_sum_of_decomposed_gradients(nested: bool) -> None:
    def net(in_pieces: bool) -> GradGraph:
        graph = ComputedGraph("mindspore-graph" if in_pieces else "torch-tape")
        x = graph.leaf("x", np.linspace(0.5, 2, 5), "input")
        graph.result("loss", graph.op("Sum", np.sum, x))
        g = graph.back("Exp", np.exp, x)
        if in_pieces:
            sine = graph.back("Sin", lambda x, g: g * np.sin(x), x, g)
            cosine = graph.back("Cos", lambda x, g: g * np.cos(x), x, g)
            terms = [sine, cosine, g]
            if nested:
                terms = [graph.back("Add", np.add, g, sine), cosine]
            dx = graph.back("AddN", lambda *terms: sum(terms), *terms, line=3)
        else:
            dx = graph.back("WaveBackward0", lambda x, g: g * (np.sin(x) + np.cos(x)), x, g, line=9)
        graph.result("dx", dx, "backward")
        return graph.record()

    left, right, sentence = parting(net(True), net(False))
    assert (left, right) == ("AddN", None)
    assert "adds the gradient from `Exp`" in sentence
    assert "torch-tape leaves it out after `WaveBackward0` (net.py:9)" in sentence


# A gradient stopped


def gate(engine: str, stop: str) -> GradGraph:
    """y = sum(x · sin x), with or without an op that stops the gradient before the sine."""
    graph = ComputedGraph(engine)
    x = graph.leaf("x", np.linspace(0.5, 2, 5), "input")
    h = graph.op("Exp", np.exp, x, line=1)
    held = h
    if stop:
        held = graph.op("View", np.copy, graph.op(stop, np.copy, h, line=2), line=2)
    wave = graph.op("Sin", np.sin, held, line=3)
    product = graph.op("Mul", np.multiply, h, wave, line=4)
    graph.result("loss", graph.op("Sum", np.sum, product, line=5))
    g = graph.back("Mul", np.copy, wave, forward=wave)
    if not stop:
        through_sine = graph.back("SinGrad", lambda h: h * np.cos(h), h, forward=wave, line=3)
        g = graph.back("AddN", np.add, g, through_sine)
    graph.result("dx", graph.back("Mul", np.multiply, g, h, forward=h), "backward")
    return graph.record()


@pytest.mark.parametrize("stop", ["aten.detach.default", "StopGradient"])
def test_an_op_that_stops_a_gradient_is_named_where_the_other_side_passes_it_on(stop: str) -> None:
    left, right, sentence = parting(gate("stops", stop), gate("passes", ""))
    assert (left, right) == (stop, "SinGrad")
    assert f"stops stops the gradient in `{stop}` (net.py:2)" in sentence
    assert "passes passes it on in `SinGrad` (net.py:3)" in sentence
    assert parting(gate("passes", ""), gate("stops", stop))[:2] == ("SinGrad", stop)
    divergence = align(gate("stops", stop), gate("passes", "")).divergence
    assert divergence is not None
    assert divergence.phase == "backward"


def test_two_ops_that_stop_the_same_gradient_are_no_divergence() -> None:
    assert align(gate("a", "StopGradient"), gate("b", "aten.detach.default")).divergence is None


def test_the_parameters_of_a_layer_that_one_side_alone_has_are_not_among_its_ops() -> None:
    def net(has_norm: bool) -> GradGraph:
        graph = ComputedGraph("torch-tape" if has_norm else "mindspore-graph")
        x = graph.leaf("x", np.linspace(0.5, 2, 5), "input")
        h = graph.op("Exp", np.exp, x, line=1)
        if has_norm:
            weight = graph.leaf("norm.weight", np.linspace(1, 1.5, 5))
            bias = graph.leaf("norm.bias", np.linspace(0.1, 0.4, 5))
            h = graph.op("batch_norm", lambda h, w, b: h * w + b, h, weight, bias, line=2)
        graph.result("out", graph.op("Sum", np.sum, h, line=3))
        return graph.record()

    sentence = parting(net(True), net(False)).sentence
    assert (
        "only torch-tape has `batch_norm` (net.py:2); mindspore-graph continues with `Sum`"
        in sentence
    )


def test_a_layer_in_other_ops_is_not_ahead_of_the_next_layer_of_its_kind() -> None:
    w, b = np.random.default_rng(4).standard_normal((4, 4)), np.arange(4.0) / 3

    def net(engine: str, is_padded: bool) -> GradGraph:
        def build(graph: ComputedGraph, x: int) -> int:
            weight, bias = graph.leaf("up.weight", w), graph.leaf("up.bias", b)
            if is_padded:
                h = graph.op("Deconv", lambda x, w: (x @ w)[:3], x, weight, line=1)
                h = graph.op("BiasAdd", np.add, h, bias, line=1)
                h = graph.op("Pad", lambda h: np.vstack([h, np.zeros(4)]), h, line=1)
                h = graph.op("Reshape", lambda h: h.reshape(2, 2, 4), h, line=2)
                h = graph.op("Transpose", lambda h: h.transpose(1, 0, 2), h, line=2)
                h = graph.op("Reshape", lambda h: h.reshape(4, 4), h, line=2)
                h = graph.op("Resize", lambda h: h.repeat(2, 0) * 0.9, h, line=3)
            else:
                h = graph.op("conv2d", lambda x, w, b: x @ w + b, x, weight, bias, line=1)
                h = graph.op("pixel_shuffle", lambda h: h[[0, 2, 1, 3]], h, line=2)
                h = graph.op("upsample", lambda h: h.repeat(2, 0), h, line=3)
            weight, bias = graph.leaf("out.weight", w.T), graph.leaf("out.bias", b + 1)
            if is_padded:
                h = graph.op("conv2d", np.matmul, h, weight, line=4)
                return graph.op("BiasAdd", np.add, h, bias, line=4)
            return graph.op("conv2d", lambda x, w, b: x @ w + b, h, weight, bias, line=4)

        return one_input(engine, build)

    sentence = parting(net("torch-tape", False), net("mindspore-graph", True)).sentence
    assert (
        "`conv2d` (net.py:1) and the 3 ops from `Deconv` (net.py:1) to `Pad` take equal inputs"
        in sentence
    )


def target(engine: str, is_differentiated: bool) -> GradGraph:
    """The square of a prediction less a goal, whose weights get gradients or do not."""
    random = np.random.default_rng(3)
    graph = ComputedGraph(engine)
    x = graph.leaf("x", random.standard_normal((3, 4)), "input")
    w, v = (graph.leaf(name, random.standard_normal((4, 4))) for name in ("w", "v"))
    predicted = graph.op("MatMul", np.matmul, x, w, line=2)
    goal = graph.op("MatMul", np.matmul, x, v, line=3)
    error = graph.op("Sub", np.subtract, predicted, goal, line=4)
    square = graph.op("Square", np.square, error, line=5)
    graph.result("loss", graph.op("Sum", np.sum, square, line=5))
    g = graph.back("SquareGrad", lambda e: 2 * e, error, forward=square, line=5)
    dx = graph.back("MatMulGrad", lambda g, w: g @ w.T, g, w, forward=predicted, line=2)
    if is_differentiated:
        minus = graph.back("Neg", np.negative, g, forward=error, line=4)
        more = graph.back("MatMulGrad", lambda g, v: g @ v.T, minus, v, forward=goal, line=3)
        dx = graph.back("AddN", np.add, dx, more)
    else:
        graph.back("SubGrad", np.copy, g, forward=error, line=4)
    graph.result("dx", dx, "backward")
    return graph.record()


def test_what_one_side_computes_without_gradients_is_where_it_stops_them() -> None:
    sentence = parting(target("passes", True), target("stops", False)).sentence
    assert "stops stops the gradient in `MatMul` (net.py:3)" in sentence
    assert "passes passes it on in `Neg` (net.py:4)" in sentence
    assert align(target("a", False), target("b", False)).divergence is None
