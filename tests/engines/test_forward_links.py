"""Which forward node a backward node of MindSpore's graph derives from, of several copies."""

from typing import NamedTuple

import pytest

from explorer.engines.capture.builder import GraphBuilder
from explorer.engines.mindspore.forward_links import (
    ForwardIdentities,
    ForwardLinks,
    ForwardReference,
    link_to_leaf,
)
from tests.support.built_graphs import built

Copies = dict[str, str]
"""The forward nodes that inlining has copied, by the backward nodes that name all of them."""


class Identities(ForwardIdentities):
    """The identities of nodes of a text."""

    def __init__(self, copies: Copies, numbers: dict[str, int]) -> None:
        super().__init__()
        self._copies = {}
        for name, copied in copies.items():
            self._copies[numbers[name]] = [numbers[copy] for copy in copied.split()]

    def copies(self, number: int) -> list[int]:
        return self._copies.get(number, [])

    def reference(self, number: int) -> ForwardReference:
        return ForwardReference(str(self._copies.get(number)))


def settled(
    text: str, copies: Copies
) -> tuple[GraphBuilder, dict[str, int], dict[int, frozenset[int]]]:
    """The builder with the links of a text's nodes, their numbers, and what is left open."""
    builder, numbers = built(text)
    left_open = ForwardLinks(builder, Identities(copies, numbers), {}).settle()
    return builder, numbers, left_open


class Linked(NamedTuple):
    """Nodes, the copies that some of them name, and the node that each is linked to."""

    text: str
    copies: Copies
    links: dict[str, str]


OF_LINES = "x input\na Mean @1: x\nb Mean @2: x\nc Mean @3: x\nd Div back @"

LINKED = {
    **{
        f"of copies that read alike the one on line {line} counts": Linked(
            f"{OF_LINES}{line}", {"d": "a b c"}, {"d": copy}
        )
        for line, copy in ((1, "a"), (2, "b"), (3, "c"))
    },
    "a copy without a line comes before one on another line": Linked(
        "a Mean\nb Mean @2\nd Div back @1", {"d": "a b"}, {"d": "a"}
    ),
    "what a node reads counts more than its line": Linked(
        "x input\ny input\na Mul @1: x\nb Mul @2: y\nd Mul back @1: y", {"d": "a b"}, {"d": "b"}
    ),
    # a * b + a / b: both gradients are sums of one of the product and one of the quotient.
    "of two nodes that both feed all addends a sum is of the one its reader derives from": Linked(
        """
x input
a Sin @1: x
b Cos @2: x
product Mul @3: a b
quotient Div @3: a b
a1 Mul back @3: b
a2 Mul back @3: b
da sum: a1 a2
of_a Mul back @1: da
b1 Mul back @3: a
b2 Mul back @3: a
db sum: b1 b2
of_b Mul back @1: db
""",
        {
            "a1": "product",
            "a2": "quotient",
            "of_a": "a",
            "b1": "product",
            "b2": "quotient",
            "of_b": "b",
        },
        {"da": "a", "db": "b"},
    ),
    # y = x + 1: the gradient of y is a further addend of that of x, which is a sum of its own.
    "a sum that no operator reads is of the last node that feeds all its addends": Linked(
        """
x input
y Add @1: x
product Mul @2: x y
quotient Div @2: x y
one Mul back @2: x
other Mul back @2: x
total sum: one other
""",
        {"one": "product", "other": "quotient"},
        {"total": "y"},
    ),
    "a bias is that of the product whose gradient reads the same": Linked(
        """
w parameter
b parameter
x input
p0 MatMul @1: x w
b0 BiasAdd @1: p0 b
y input
p1 MatMul @1: y w
b1 BiasAdd @1: p1 b
z input
p2 MatMul @1: z w
b2 BiasAdd @1: p2 b
g1 constant back
dw1 MatMul back: g1 y
db1 BiasAddGrad back: g1
g0 constant back
dw0 MatMul back: g0 x
db0 BiasAddGrad back: g0
""",
        {**dict.fromkeys(("dw1", "dw0"), "p0 p1 p2"), **dict.fromkeys(("db1", "db0"), "b0 b1 b2")},
        {"db1": "b1", "db0": "b0"},
    ),
    "a sum is of what feeds its addends through what hands its gradient on": Linked(
        """
x input
y input
h Exp @1: x
doubled Muls @2: h
added Add: h y
wave Sin @3: added
seed constant back
one Muls back: seed
other Cos back: seed
total sum: one other
""",
        {"one": "doubled", "other": "wave"},
        {"total": "h"},
    ),
}


@pytest.mark.parametrize("case", LINKED)
def test_a_node_derives_from_one_of_the_copies_that_it_names(case: str) -> None:
    builder, numbers, _ = settled(LINKED[case].text, LINKED[case].copies)
    names = {number: name for name, number in numbers.items()}
    links = {name: builder.nodes[numbers[name]].forward for name in LINKED[case].links}
    assert {name: names.get(link or 0) for name, link in links.items()} == LINKED[case].links


def test_a_sum_of_several_possible_nodes_is_that_of_the_leaf_it_is_returned_for() -> None:
    text = "y input\nz input\np Mul @1: y z\naddend Mul back @1: z\ntotal sum: p addend"
    builder, at, left_open = settled(text, {"addend": "p", "total": "p"})
    assert left_open == {at["total"]: {at["y"], at["z"]}}
    total = builder.nodes[at["total"]]
    link_to_leaf(total, at["y"], left_open[at["total"]])
    assert total.forward == at["y"]
    link_to_leaf(total, at["p"], left_open[at["total"]])
    assert total.forward == at["y"]


@pytest.mark.parametrize(("within", "scope"), [("", ""), ("in fc", "fc")])
def test_a_backward_node_is_in_the_module_of_its_forward_node_or_in_none(
    within: str, scope: str
) -> None:
    text = f"copy Squeeze {within}\nback Reshape back in pool"
    builder, at, _ = settled(text, {"back": "copy"})
    assert builder.nodes[at["back"]].scope == scope


def test_a_step_of_a_recurrent_net_is_known_behind_what_hands_its_gradient_on() -> None:
    lines = ["w parameter", "b parameter", "h parameter"]
    state = "h"
    for step in range(4):
        lines += [f"p{step} MatMul @1: {state} w", f"biased{step} BiasAdd @1: p{step} b"]
        lines += [f"added{step} Add: biased{step}", f"tanh{step} Tanh @2: added{step}"]
        state = f"tanh{step}"
    copies = {}
    lines.append("g3 constant back")
    # The last step's product has no gradient of its operand: counting off the copies is wrong.
    for step in (2, 1, 0):
        lines += [
            f"t{step} TanhGrad back: tanh{step} g{step + 1}",
            f"g{step} MatMul back: t{step} w",
        ]
        copies[f"t{step}"] = "tanh0 tanh1 tanh2 tanh3"
        copies[f"g{step}"] = "p0 p1 p2 p3"
    builder, at, _ = settled("\n".join(lines), copies)
    found = [builder.nodes[at[f"g{step}"]].forward for step in range(3)]
    assert found == [at[f"p{step}"] for step in range(3)]
