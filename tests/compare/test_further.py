"""Several places where two graphs part: all are found, and nothing that one of them explains."""

import msgspec
import numpy as np
import pytest

from explorer.compare.align import align
from explorer.model.graph import GradGraph
from explorer.words.divergences import divergences
from tests.support.alignments import said, sources
from tests.support.computed_graphs import ComputedGraph, Function
from tests.support.written_nets import two_nets

W = np.random.default_rng(2).standard_normal((4, 4)) / 4

OPS: dict[str, Function] = {
    "Tanh": np.tanh,
    "Sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "ReLU": lambda x: np.maximum(x, 0),
    "Sin": np.sin,
    "Div": lambda x: x / 2,
    "Mul": lambda x: x * 2,
    "Sub": lambda x: x - 2,
    "Add": lambda x: x + 2,
    "Softmax": lambda x: np.exp(x) / np.exp(x).sum(-1, keepdims=True),
    "aten.unbind.int": lambda x: x[:1],
    "SelectView": lambda x: x[:1],
    "Softmax along rows": lambda x: np.exp(x) / np.exp(x).sum(0, keepdims=True),
}


def layers(engine: str, ops: list[str], bias: bool = False, fused: bool = False) -> GradGraph:
    """Layers in a row: a product with a weight, then an op; each layer a line.

    An empty op is left out. With ``bias``, one is added, ``fused`` into the product.
    """
    graph = ComputedGraph(engine)
    x = graph.leaf("x", np.random.default_rng(1).standard_normal((3, 4)), "input")
    for line, op in enumerate(ops, 1):
        w = graph.leaf(f"w{line}", W * line)
        if bias:
            b = graph.leaf(f"b{line}", np.arange(4.0) / 8)
            if fused:
                x = graph.op("aten.addmm", lambda b, x, w: x @ w + b, b, x, w, line=line)
            else:
                x = graph.op("MatMul", np.matmul, x, w, line=line)
                x = graph.op("BiasAdd", np.add, x, b, line=line)
        else:
            x = graph.op("MatMul", np.matmul, x, w, line=line)
        if op:
            x = graph.op(op, OPS[op], x, line=line)
    graph.result("out", x)
    return graph.record()


def branches(engine: str, ops: list[str]) -> GradGraph:
    """Branches side by side, each an op on a product; their sum is the result."""
    graph = ComputedGraph(engine)
    x = graph.leaf("x", np.random.default_rng(1).standard_normal((3, 4)), "input")
    total = x
    for line, op in enumerate(ops, 1):
        w = graph.leaf(f"w{line}", W * line)
        branch = graph.op(op, OPS[op], graph.op("MatMul", np.matmul, x, w, line=line), line=line)
        total = graph.op("Add", np.add, total, branch)
    graph.result("out", total)
    return graph.record()


def lines(left: GradGraph, right: GradGraph) -> list[set[str]]:
    """The source lines of all divergences, each as the lines of both sides."""
    found = []
    for divergence in align(left, right).divergences:
        lines_of_both = sources(divergence)
        found.append({source.removeprefix("net.py:") for source in lines_of_both if source})
    return found


def test_two_mistakes_of_the_same_kind_of_op_are_both_found() -> None:
    left = branches("a", ["Softmax", "Softmax", "Softmax"])
    right = branches("b", ["Softmax along rows", "Softmax", "Softmax along rows"])
    ops = [msgspec.structs.replace(node, op=node.op.split()[0]) for node in right.nodes]
    assert lines(left, msgspec.structs.replace(right, nodes=tuple(ops))) == [{"1"}, {"3"}]


@pytest.mark.parametrize("fused", [False, True])
def test_an_op_too_many_behind_a_mistake_is_found(fused: bool) -> None:
    left = layers("a", ["Tanh", "ReLU", "Sin", "Tanh"], bias=True)
    right = layers("b", ["Sigmoid", "", "Sin", "Tanh"], bias=True, fused=fused)
    assert lines(left, right) == [{"1"}, {"2"}]


@pytest.mark.parametrize("fused", [False, True])
def test_one_mistake_explains_all_that_follows(fused: bool) -> None:
    left = layers("a", ["Tanh", "ReLU", "Sin", "Tanh"], bias=True)
    right = layers("b", ["Sigmoid", "ReLU", "Sin", "Tanh"], bias=True, fused=fused)
    assert lines(left, right) == [{"1"}]


@pytest.mark.parametrize(
    ("op", "other", "is_found"),
    [
        ("Div", "Mul", False),
        ("Sub", "Add", False),
        ("aten.unbind.int", "SelectView", False),
        ("Mul", "Add", True),
        ("Div", "Sub", True),
    ],
)
def test_ops_of_two_families_do_one_work_behind_a_mistake(
    op: str, other: str, is_found: bool
) -> None:
    left, right = layers("a", ["Tanh", op]), layers("b", ["Sigmoid", other])
    assert lines(left, right) == [{"1"}, {"2"}][: 1 + is_found]
    assert lines(right, left) == [{"1"}, {"2"}][: 1 + is_found]


def test_a_parameter_that_two_layers_lack_is_told_twice() -> None:
    def net(engine: str, bias: bool) -> GradGraph:
        return layers(engine, ["ReLU", "ReLU"], bias=bias)

    alignment = align(net("a", bias=True), net("b", bias=False))
    named = [f"`b{layer}`" in said(part) for layer, part in enumerate(alignment.divergences, 1)]
    assert named == [True, True]


def test_further_divergences_come_in_the_order_of_execution_and_say_that_they_are_further() -> None:
    left = branches("a", ["Tanh"] * 4)
    right = branches("b", ["Tanh", "Sigmoid", "ReLU", "Sin"])
    alignment = align(left, right)
    assert lines(left, right) == [{"2"}, {"3"}, {"4"}]
    assert [sentence.split(" in ")[0] for sentence in list(divergences(alignment))[1:]] == [
        "Further divergence",
        "Further divergence",
    ]


def two_gradients(engine: str, first: str, second: str) -> GradGraph:
    """Two products with ops of backward on each, which need not be the derivatives."""
    graph = ComputedGraph(engine)
    x = graph.leaf("x", np.random.default_rng(1).standard_normal((3, 4)), "input")
    for line, op in enumerate((first, second), 1):
        product = graph.op("MatMul", np.matmul, x, graph.leaf(f"w{line}", W * line), line=line)
        graph.result(f"out{line}", product)
        gradient = graph.back(op, OPS[op], product, line=line, forward=product)
        graph.result(f"dw{line}", gradient, "backward")
    return graph.record()


def test_every_divergence_says_whether_it_is_of_forward_or_of_backward() -> None:
    left, right = branches("a", ["Tanh", "ReLU"]), branches("b", ["Sigmoid", "Sin"])
    assert [part.phase for part in align(left, right).divergences] == ["forward", "forward"]

    left, right = two_gradients("a", "Tanh", "ReLU"), two_gradients("b", "Sigmoid", "Sin")
    assert lines(left, right) == [{"1"}, {"2"}]
    assert [part.phase for part in align(left, right).divergences] == ["backward", "backward"]


def behind_a_mistake(engine: str, mistake: str, more: list[str]) -> GradGraph:
    """An op, some more ops each on its own line, and a product."""
    graph = ComputedGraph(engine)
    x = graph.leaf("x", np.random.default_rng(1).standard_normal((3, 4)), "input")
    x = graph.op(mistake, OPS[mistake], x, line=1)
    for line, op in enumerate(more, 2):
        x = graph.op(op, OPS[op], x, line=line)
    product = graph.op("MatMul", np.matmul, x, graph.leaf("w", W), line=9)
    graph.result("out", product)
    return graph.record()


@pytest.mark.parametrize("engines", ["ab", "ba"])
@pytest.mark.parametrize("more", [["Sin"], ["Sin", "ReLU"]])
def test_ops_too_many_behind_a_mistake_are_all_named_whichever_side_has_them(
    engines: str, more: list[str]
) -> None:
    left = behind_a_mistake(engines[0], "Tanh", more)
    right = behind_a_mistake(engines[1], "Sigmoid", [])
    (_, further) = align(left, right).divergences
    assert further.nodes[0] is not None
    assert further.nodes[1] is None
    assert left.by_id()[further.nodes[0]].op == more[-1]
    for op in more:
        assert op in said(further)
    assert "MatMul" not in said(further)


SCALED_GRADIENTS = """
    z = input: np.cos(x)
    sine = Sin: np.sin(x)
    power = Exp: np.exp(z)
    total = Add: sine + power
    result out = total
    cosine = Cos @1 back: np.cos(x)
    - scaled = Muls @1 back: 2.0 * cosine
    + scaled = Muls @1 back: 3.0 * cosine
    gradient dx = scaled
    dz = ExpGrad @2 back: scaled * np.exp(z)
    gradient dz = dz
"""


def test_a_gradient_that_no_other_divergence_explains_is_one_by_itself() -> None:
    cut = "- dz = ExpGrad @2 back: scaled * np.exp(z)\n+ dz = constant back: np.zeros((4, 4))"
    text = SCALED_GRADIENTS.replace("dz = ExpGrad @2 back: scaled * np.exp(z)", cut)
    found = [said(divergence) for divergence in align(*two_nets(text)).divergences]
    assert sum("`Muls`" in sentence for sentence in found) == 1
    assert sum("`dz`" in sentence for sentence in found) == 1
    assert len(found) == 2


def test_two_statistics_of_one_op_are_one_divergence() -> None:
    alignment = align(
        *two_nets("""
        - norm = BatchNorm @1: (x - x.mean(0), 0.1 * x.mean(0), 0.1 * x.var(0))
        + norm = BatchNorm @1: (x - x.mean(0), 0.9 * x.mean(0), 0.9 * x.var(0))
        result mean = norm[1]
        result variance = norm[2]
        """)
    )
    assert alignment.differing == ("mean", "variance")
    assert len(alignment.divergences) == 1


def test_a_gradient_that_a_divergence_leads_to_is_none_by_itself() -> None:
    alignment = align(*two_nets(SCALED_GRADIENTS))
    assert alignment.divergence is not None
    assert len(alignment.divergences) == 1


def test_a_gradient_of_numbers_in_another_order_is_none_by_itself() -> None:
    text = """
        e = Exp @3: np.exp(x)
        t = Tanh @4: np.tanh(x)
        - both = Concat @5: np.concatenate((e, t))
        + both = Concat @5: np.concatenate((t, e))
        weight = parameter: np.arange(32.0).reshape(8, 4)
        given = input: np.arange(32.0).reshape(8, 4) ** 2
        out = Mul @6: both * weight
        - turned = Gather @5 of both: given[::-1]
        + turned = Gather @5 of both: given
        result out = out
        gradient dweight = turned
    """
    assert lines(*two_nets(text)) == [{"5"}]


# relu6 at its bound and the infinity norm of a tie, with gradients of few plain numbers
TIES = """
    x = input: np.array([6.0, 1.0])
    d = input: np.array([1.0, -1.0])
    relu = ReLU6 @1: np.clip(x, 0, 6)
    norm = Norm @2: np.abs(d).max()
    sum = Sum @1: relu.sum()
    total = Add: sum + norm
    result out = total
    absolute = Abs @2 back: np.abs(d)
    - share = Equal @2 back: (absolute == norm) * 1.5
    + share = Scatter @2 back: 3.0 * (absolute.argmax() == np.arange(2))
    third = Sign @2 back: np.sign(d) / 3
    dd = Mul @2 back: share * third
    - bound = ReLU6Grad @1 back: np.where(x < 6, 1.0, 0.0)
    + bound = ReLU6Grad @1 back: np.where(x < 6, 1.0, SLOPE)
    gradient dx = bound
    gradient dd = dd
"""


@pytest.mark.parametrize("slope", [0.0, 1.0])
def test_a_gradient_that_equals_another_by_chance_is_explained_by_its_own_divergence(
    slope: float,
) -> None:
    # dd = [1, 0] of the one side holds the numbers of dx = [0, 1] of the other.
    left, right = two_nets(TIES, SLOPE=slope)
    expected = [{"1"}, {"2"}] if slope else [{"2"}]
    assert sorted(lines(left, right), key=sorted) == expected
    assert sorted(lines(right, left), key=sorted) == expected


def test_behind_values_that_agree_again_a_second_divergence_is_one() -> None:
    # tanh and sin have the same signs here.
    text = """
        x = input: np.random.default_rng(1).standard_normal((3, 4))
        - line = Tanh @1: np.tanh(x)
        + line = Sin @1: np.sin(x)
        w = parameter: W
        aside = MatMul @1: line @ w
        result aside = aside
        signs = Sign @2: np.sign(line) * np.arange(1.0, 5.0)
        - last = Tanh @3: np.tanh(signs)
        + last = Sigmoid @3: 1 / (1 + np.exp(-signs))
        result out = last
    """
    left, right = two_nets(text, W=W)
    assert lines(left, right) == [{"1"}, {"3"}]
    assert lines(right, left) == [{"1"}, {"3"}]
    same = text.replace("Sigmoid @3: 1 / (1 + np.exp(-signs))", "Tanh @3: np.tanh(signs)")
    assert lines(*two_nets(same, W=W)) == [{"1"}]
