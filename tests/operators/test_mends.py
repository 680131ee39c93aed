"""What is to be written in both nets for a cause, in the words of each framework."""

import pytest

from explorer.model.causes import Cause, FromNode, FromThere, Mend, Rewire, Source
from explorer.model.graph import Layer, Node
from explorer.operators.mends import mends

ENGINES = "torch-tape", "mindspore-tape"


def mends_of_input(source: Source, *layers: Layer | None) -> tuple[Mend, ...]:
    """What is to be written where a product in a layer reads something else as its second input."""
    node = Node(id="n0", op="aten.mul.Tensor", kind="op", phase="forward", scope="drop")
    cause = Cause(
        side="left",
        node=node.id,
        op=node.op,
        edits=(Rewire(slots=(1,), source=source),),
        proven="computed_again",
        greatest=0.0,
        noise=None,
        layers=(layers[0], layers[1]),
        tried=1,
    )
    return mends(cause, node, ENGINES)


MASK = FromThere("constant (net.py:3)")


@pytest.mark.parametrize("name", ["nn.Dropout", "nn.Dropout2d"])
@pytest.mark.parametrize(
    ("rates", "own", "other"), [((0.25, 0.3), 0.3, 0.25), ((None, 0.3), 0.3, 0.5)]
)
def test_the_mask_of_the_other_side_s_dropout_is_given_by_its_rate(
    name: str, rates: tuple[float | None, float], own: float, other: float
) -> None:
    layers = [Layer(name, {} if rate is None else {"p": rate}) for rate in rates]
    assert mends_of_input(MASK, *layers) == (
        Mend(side="left", call=name, arguments={"p": own}),
        Mend(side="right", call=name, arguments={"p": other}),
    )


QUARTER, THIRTY = (Layer("nn.Dropout", {"p": rate}) for rate in (0.25, 0.3))


@pytest.mark.parametrize(
    ("source", "left", "right"),
    [
        # One rate, no layer there, and another value of the own graph.
        (MASK, QUARTER, QUARTER),
        (MASK, QUARTER, None),
        (MASK, Layer("nn.Linear", {"in_features": 2}), Layer("nn.Dense", {"in_channels": 3})),
        (FromNode("n3"), QUARTER, THIRTY),
    ],
)
def test_another_input_is_no_rate_but_where_two_dropouts_have_other_rates(
    source: Source, left: Layer, right: Layer | None
) -> None:
    assert mends_of_input(source, left, right) == ()
