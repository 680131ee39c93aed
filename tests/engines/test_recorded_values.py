"""Which operators of a recorded graph may be computed again: a file may come from anybody."""

import msgspec
import numpy as np
import pytest

from explorer.engines.capture.recorded_values import RecordedValues
from explorer.model.arrays import AnyArray, pack
from explorer.model.graph import Absence
from explorer.numeric.summaries import keeping
from tests.support.handmade_graph import of_operator

FLOATS = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)
LABELS = np.array([0, 2])


@pytest.mark.parametrize(
    ("op", "arrays", "reason"),
    [
        ("aten.gelu.default", (FLOATS,), ""),
        ("aten.tanh_backward.default", (FLOATS, FLOATS), ""),
        ("LayerNormGrad", (FLOATS, FLOATS), ""),
        ("aten.where.self", (FLOATS > 0, FLOATS, FLOATS), ""),
        ("aten.from_file.default", (FLOATS,), "operator"),
        ("PyExecute", (FLOATS,), "operator"),
        ("TensorDump", (FLOATS,), "operator"),
        ("aten.nll_loss_forward.default", (FLOATS, LABELS), ""),
        ("aten.nll_loss_forward.default", (FLOATS, LABELS + 1), "operator"),
        ("aten.nll_loss_forward.default", (FLOATS, LABELS - 1), "operator"),
        ("aten.embedding.default", (FLOATS, LABELS), "operator"),
    ],
)
def test_an_operator_is_one_of_the_tables_and_its_integers_are_labels(
    op: str, arrays: tuple[AnyArray, ...], reason: str
) -> None:
    assert RecordedValues(of_operator(op, *arrays), {}).why_not("op") == reason


def test_values_that_are_not_whole_may_be_those_of_a_leaf() -> None:
    with keeping(0):
        recorded = of_operator("aten.gelu.default", FLOATS)
    assert RecordedValues(recorded, {}).why_not("op") == "values"
    values = RecordedValues(recorded, {"n0": pack(FLOATS)})
    assert values.why_not("op") == ""
    assert values.operator("op").op == "aten.gelu.default"
    assert values.read_by("op") == [pack(FLOATS)]


def test_a_node_that_is_no_operator_or_lacks_arguments_is_not_computed() -> None:
    recorded = of_operator("aten.gelu.default", FLOATS)
    assert RecordedValues(recorded, {}).why_not("n0") == "operator"
    lacking = msgspec.structs.replace(
        recorded.nodes[-1], missing={"arguments": Absence("unnamed_arguments")}
    )
    changed = msgspec.structs.replace(recorded, nodes=(recorded.nodes[0], lacking))
    values = RecordedValues(changed, {})
    assert values.why_not("op") == "operator"
    with pytest.raises(KeyError):
        values.operator("op")
