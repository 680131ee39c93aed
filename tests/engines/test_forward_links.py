"""Which forward node a backward node of MindSpore's graph derives from, of several copies."""

import pytest

from explorer.engines.capture.builder import GraphBuilder
from explorer.engines.mindspore.forward_links import (
    ForwardIdentities,
    ForwardLinks,
    ForwardReference,
    link_to_leaf,
)
from explorer.model.graph import Output, Phase

SCALAR = (Output((), "float32"),)


class OneIdentity(ForwardIdentities):
    """Forward nodes that inlining has copied, so that backward nodes name all of them."""

    def __init__(self, copies: list[int]) -> None:
        super().__init__()
        self._copies = copies

    def copies(self, number: int) -> list[int]:
        return self._copies

    def reference(self, number: int) -> ForwardReference:
        return ForwardReference("1")


def node(builder: GraphBuilder, op: str, phase: Phase, line: str, *inputs: int) -> int:
    slots = tuple((number, 0) for number in inputs)
    source = (line,) if line else ()
    return builder.add(op, "op", phase, slots, source=source, outputs=SCALAR)


def links(builder: GraphBuilder, copies: list[int]) -> None:
    ForwardLinks(builder, OneIdentity(copies), {}).settle()


@pytest.mark.parametrize(("line", "chosen"), [("net.py:1", 1), ("net.py:2", 2), ("net.py:3", 3)])
def test_of_copies_that_read_alike_the_one_on_the_line_counts(line: str, chosen: int) -> None:
    builder = GraphBuilder()
    leaf = builder.add("input", "input", "forward", outputs=SCALAR)
    copies = [node(builder, "Mean", "forward", f"net.py:{place}", leaf) for place in (1, 2, 3)]
    assert copies == [1, 2, 3]
    backward = node(builder, "Div", "backward", line)
    links(builder, copies)
    assert builder.nodes[backward].forward == chosen


def test_a_copy_without_a_line_comes_before_one_on_another_line() -> None:
    builder = GraphBuilder()
    copies = [node(builder, "Mean", "forward", line) for line in ("", "net.py:2")]
    backward = node(builder, "Div", "backward", "net.py:1")
    links(builder, copies)
    assert builder.nodes[backward].forward == copies[0]


def test_what_a_node_reads_counts_more_than_its_line() -> None:
    builder = GraphBuilder()
    first, second = (builder.add("input", "input", "forward", outputs=SCALAR) for _ in range(2))
    copies = [
        node(builder, "Mul", "forward", "net.py:1", first),
        node(builder, "Mul", "forward", "net.py:2", second),
    ]
    backward = node(builder, "Mul", "backward", "net.py:1", second)
    links(builder, copies)
    assert builder.nodes[backward].forward == copies[1]


def test_a_sum_of_several_possible_nodes_is_that_of_the_leaf_it_is_returned_for() -> None:
    builder = GraphBuilder()
    y, z = (builder.add("input", "input", "forward", outputs=SCALAR) for _ in range(2))
    product = node(builder, "Mul", "forward", "net.py:1", y, z)
    addend = node(builder, "Mul", "backward", "net.py:1", z)
    slots = ((product, 0), (addend, 0))
    number = builder.add("AddN", "accumulate", "backward", slots, outputs=SCALAR)
    alternatives = ForwardLinks(builder, OneIdentity([product]), {}).settle()
    assert alternatives == {number: {y, z}}
    total = builder.nodes[number]
    link_to_leaf(total, y, alternatives[number])
    assert total.forward == y
    link_to_leaf(total, product, alternatives[number])
    assert total.forward == y


@pytest.mark.parametrize("scope", ["", "fc"])
def test_a_backward_node_is_in_the_module_of_its_forward_node_or_in_none(scope: str) -> None:
    builder = GraphBuilder()
    copy = builder.add("Squeeze", "op", "forward", outputs=SCALAR, scope=scope)
    backward = builder.add("Reshape", "op", "backward", outputs=SCALAR, scope="pool")
    links(builder, [copy])
    assert builder.nodes[backward].scope == scope


def test_of_two_nodes_that_both_feed_all_addends_a_sum_is_of_the_one_its_reader_derives_from() -> (
    None
):
    # a * b + a / b: both gradients are sums of one of the product and one of the quotient.
    builder = GraphBuilder()
    x = builder.add("input", "input", "forward", outputs=SCALAR)
    a, b = node(builder, "Sin", "forward", "1", x), node(builder, "Cos", "forward", "2", x)
    product, quotient = (node(builder, op, "forward", "3", a, b) for op in ("Mul", "Div"))
    derived = {a: [a], b: [b], product: [product], quotient: [quotient]}
    named: dict[int, list[int]] = {}
    sums: dict[int, int] = {}
    for leaf in (a, b):
        addends = []
        for origin in (product, quotient):
            addends.append(node(builder, "Mul", "backward", "3", b if leaf == a else a))
            named[addends[-1]] = derived[origin]
        slots = tuple((addend, 0) for addend in addends)
        sums[leaf] = builder.add("AddN", "accumulate", "backward", slots, outputs=SCALAR)
        reader = node(builder, "Mul", "backward", "1", sums[leaf])
        named[reader] = derived[leaf]

    class Named(OneIdentity):
        def copies(self, number: int) -> list[int]:
            return named.get(number, [])

    ForwardLinks(builder, Named([]), {}).settle()
    assert {leaf: builder.nodes[total].forward for leaf, total in sums.items()} == {a: a, b: b}


def test_a_sum_that_no_operator_reads_is_of_the_last_node_that_feeds_all_its_addends() -> None:
    # y = x + 1: the gradient of y is a further addend of that of x, which is a sum of its own.
    builder = GraphBuilder()
    x = builder.add("input", "input", "forward", outputs=SCALAR)
    y = node(builder, "Add", "forward", "1", x)
    product, quotient = (node(builder, op, "forward", "2", x, y) for op in ("Mul", "Div"))
    addends = [node(builder, "Mul", "backward", "2", x) for _ in range(2)]
    slots = tuple((addend, 0) for addend in addends)
    total = builder.add("AddN", "accumulate", "backward", slots, outputs=SCALAR)
    named = {addends[0]: [product], addends[1]: [quotient]}

    class Named(OneIdentity):
        def copies(self, number: int) -> list[int]:
            return named.get(number, [])

    ForwardLinks(builder, Named([]), {}).settle()
    assert builder.nodes[total].forward == y


class Identities(ForwardIdentities):
    """Forward nodes that inlining has copied, by the backward nodes that name all of them."""

    def __init__(self, copies: dict[int, list[int]]) -> None:
        super().__init__()
        self._copies = copies

    def copies(self, number: int) -> list[int]:
        return self._copies[number]

    def reference(self, number: int) -> ForwardReference:
        return ForwardReference(str(self._copies.get(number)))


def test_a_step_of_a_recurrent_net_is_known_behind_what_hands_its_gradient_on() -> None:
    builder = GraphBuilder()
    w, b, h = (builder.add("parameter", "parameter", "forward", outputs=SCALAR) for _ in range(3))
    products, tanhs = [], []
    for _ in range(4):
        product = node(builder, "MatMul", "forward", "net.py:1", h, w)
        biased = node(builder, "BiasAdd", "forward", "net.py:1", product, b)
        h = node(
            builder, "Tanh", "forward", "net.py:2", node(builder, "Add", "forward", "", biased)
        )
        products.append(product)
        tanhs.append(h)

    copies = {}
    gradient = builder.add("constant", "constant", "backward", outputs=SCALAR)
    gradients = []
    # The last step's product has no gradient of its operand: counting off the copies is wrong.
    for tanh in reversed(tanhs[:-1]):
        through_tanh = node(builder, "TanhGrad", "backward", "", tanh, gradient)
        gradient = node(builder, "MatMul", "backward", "", through_tanh, w)
        copies[through_tanh], copies[gradient] = tanhs, products
        gradients.append(gradient)
    ForwardLinks(builder, Identities(copies), {}).settle()
    found = [builder.nodes[gradient].forward for gradient in gradients]
    assert found == list(reversed(products[:-1]))


def test_a_bias_is_that_of_the_product_whose_gradient_reads_the_same() -> None:
    builder = GraphBuilder()
    w, b = (builder.add("parameter", "parameter", "forward", outputs=SCALAR) for _ in range(2))
    inputs, products, biased = [], [], []
    for _ in range(3):
        inputs.append(builder.add("input", "input", "forward", outputs=SCALAR))
        products.append(node(builder, "MatMul", "forward", "net.py:1", inputs[-1], w))
        biased.append(node(builder, "BiasAdd", "forward", "net.py:1", products[-1], b))
    copies, gradients = {}, []
    for step in (1, 0):
        gradient = builder.add("constant", "constant", "backward", outputs=SCALAR)
        of_weight = node(builder, "MatMul", "backward", "", gradient, inputs[step])
        of_bias = node(builder, "BiasAddGrad", "backward", "", gradient)
        copies[of_weight], copies[of_bias] = products, biased
        gradients.append(of_bias)
    ForwardLinks(builder, Identities(copies), {}).settle()
    assert [builder.nodes[it].forward for it in gradients] == [biased[1], biased[0]]


def test_a_sum_is_of_what_feeds_its_addends_through_what_hands_its_gradient_on() -> None:
    builder = GraphBuilder()
    x, y = (builder.add("input", "input", "forward", outputs=SCALAR) for _ in range(2))
    h = node(builder, "Exp", "forward", "net.py:1", x)
    doubled = node(builder, "Muls", "forward", "net.py:2", h)
    wave = node(builder, "Sin", "forward", "net.py:3", node(builder, "Add", "forward", "", h, y))
    seed = builder.add("constant", "constant", "backward", outputs=SCALAR)
    addends = [node(builder, op, "backward", "", seed) for op in ("Muls", "Cos")]
    slots = tuple((number, 0) for number in addends)
    total = builder.add("AddN", "accumulate", "backward", slots, outputs=SCALAR)
    copies = {addends[0]: [doubled], addends[1]: [wave], total: []}
    ForwardLinks(builder, Identities(copies), {}).settle()
    assert builder.nodes[total].forward == h
