"""What is told of operators, where every figure is known."""

from collections.abc import Sequence

import pytest

from explorer.model.measurement import Figures
from explorer.topics.operators.findings_defaults import ORDERS, PARTS
from explorer.topics.operators.inputs import OPERANDS, POINTS, WINDOWS
from explorer.topics.operators.questions import (
    CONVOLUTION_SIDES_OF_A_NUMBER,
    CROSS_ENTROPY,
    DROPOUT_MASK,
    FOUR_ENGINES,
    GELU,
    GRADIENTS_AT_KINKS,
    INFERENCE,
    INITIAL_VALUES,
    OPERATOR_GRADIENTS,
    TOPIC,
    VALID_SIZES,
)
from explorer.topics.operators.readings import GLOROT, NORMAL, UNIFORM, gelu_formulas
from tests.support.tellings import (
    Answers,
    chart_of,
    column,
    lines_of,
    rows_by_first,
    table_of,
    told,
    told_after,
)
from tests.support.topics import copied, put

REFUSED = {"raised": "ValueError", "message": "no such thing"}

# Recorded figures after a change


def test_sizes_without_padding_are_held_against_the_formula() -> None:
    window = "size 5, kernel 2, stride 2"
    telling = told_after("operators", put(VALID_SIZES, ["torch"], window, 1, value=99))
    count = 3 * len(WINDOWS)
    said = f"MindSpore {count} of {count}, PyTorch {count - 1} of {count}, TensorFlow"
    assert any(said in finding for finding in telling.findings)
    (table,) = (table for table in telling.tables if table.title.startswith("Output size"))
    rows = rows_by_first(table)
    assert {WINDOWS[str(name)].size for name in rows} == {5, 8}
    assert rows[window] == (2, "[2, 2, 2]", "[2, 99, 2]", "[2, 2, 2]")


@pytest.mark.parametrize(
    ("engines", "said"),
    [
        (["torch-tape"], "in MindSpore and PyTorch graph, not in PyTorch tape."),
        (FOUR_ENGINES, "in no engine, not in MindSpore and PyTorch."),
    ],
)
def test_a_backward_without_its_forward_s_mask_is_told(engines: Sequence[str], said: str) -> None:
    telling = told_after("operators", put(DROPOUT_MASK, engines, "gradient", 0, value=9.0))
    assert any(finding.endswith(said) for finding in telling.findings)


@pytest.mark.parametrize(
    ("gradient", "outside"), [(1.0, "nobody"), (1.0005, "nobody"), (1.002, "PyTorch tape")]
)
def test_a_gradient_beyond_the_slopes_is_outside_them_up_to_rounding(
    gradient: float, outside: str
) -> None:
    found = {"value": 0.0, "gradient": [[gradient]]}
    at_relu = put(GRADIENTS_AT_KINKS["corners"], ["torch-tape"], "relu", "found", value=found)
    telling = told_after("operators", at_relu)
    (written, *cells) = rows_by_first(table_of(telling, "outside the slopes"))["relu at 0"]
    assert written == "ops.relu(x)"
    assert cells == ["0", "0", "0", f"{gradient:.4g}", "0", "1", outside]
    assert any("PyTorch's graph and tape differ at 2 of" in text for text in telling.findings)


def test_what_repeats_is_told_by_engine() -> None:
    changes = (
        put(INFERENCE, ["mindspore-tape"], "inference", 1, 0, 0, value=7.0),
        copied(INFERENCE, ["torch-tape"], "training", of="inference"),
    )
    telling = told_after("operators", *changes)
    table = table_of(telling, "inference repeats")
    engines = column(table, "engine")
    assert dict(zip(engines, column(table, "inference repeats"), strict=True)) == {
        **dict.fromkeys(engines, True),
        "MindSpore tape": False,
    }
    assert dict(zip(engines, column(table, "training repeats"), strict=True)) == {
        **dict.fromkeys(engines, False),
        "PyTorch tape": True,
    }
    said = " ".join(telling.findings)
    assert (
        "gives different outputs at every call in inference, 2e-07 from PyTorch tape, and" in said
    )
    assert "and the same ones in training (PyTorch tape)" in said


def test_gradients_with_equal_settings_are_held_against_the_reference() -> None:
    changes = (
        put(OPERATOR_GRADIENTS, ["mindspore-tape"], "dense", "first", 0, 0, 0, value=9.0),
        put(OPERATOR_GRADIENTS, ["torch-tape"], "transpose", "first", value=REFUSED),
    )
    telling = told_after("operators", *changes)
    (finding,) = (text for text in telling.findings if " first derivatives" in text)
    assert "44 of 45 first derivatives agree" in finding
    assert "but not those of dense (MindSpore tape)" in finding
    assert finding.endswith("there are none of transpose (PyTorch tape).")
    table = table_of(telling, "operator")
    rows = {row[:2]: row[2:] for row in table.rows}
    assert len(rows) == len(OPERANDS) * len(ORDERS)
    assert rows["dense", "first"][1] != "0"
    assert rows["transpose", "first"] == ("-", "-", "-", "ValueError: no such thing")


def test_a_window_of_another_version_is_called_as_it_is() -> None:
    uneven = put(CONVOLUTION_SIDES_OF_A_NUMBER, ["mindspore", "torch"], "uneven", value=[1, 0])
    telling = told_after("operators", uneven)
    assert any(text.endswith("uneven: 1 before, 0 after.") for text in telling.findings)


# Defaults and formulas

CANDIDATES = {"uniform": UNIFORM, "glorot": GLOROT, "normal": NORMAL}


def initial_values(**p_values: float) -> Figures:
    """Initial values of one library, the same for each parameter; candidates by their p-value."""
    candidates = {name: {"p": p_values.get(key, 0.0)} for key, name in CANDIDATES.items()}
    values = {"count": 8, "bound": 0.5, "minimum": -0.5, "maximum": 0.25, "std": 0.3, "zeros": 0}
    density = {"from": [-1.0, 0.0, 1.0], "of": [0.25, 0.75, 0.0]}
    of_each = {**values, "ks": candidates, "density": density}
    return {**dict.fromkeys(PARTS, of_each), "embedding std": 1.0}


def test_initial_values_are_told_by_the_distributions_that_they_may_come_from() -> None:
    answers = {"mindspore": initial_values(uniform=0.5, glorot=0.25), "torch": initial_values()}
    telling = told(TOPIC, {(INITIAL_VALUES, party): given for party, given in answers.items()})
    defaults = rows_by_first(table_of(telling, "default"))
    of_dense_biases = defaults["dense biases may be"]
    assert of_dense_biases == (f"{UNIFORM} or {GLOROT}", "none of the candidates", "-")
    lines = lines_of(chart_of(telling, "initial_values"))
    steps = {-1.0: 0.25, 0.0: 0.75, 1.0: 0.0}
    assert lines == {"MindSpore": steps, "PyTorch": steps}


def test_calls_are_told_by_style_only_where_the_styles_part() -> None:
    exact, tanh = (formula.tolist() for formula in gelu_formulas().values())
    loss = {"value": [0.25], "gradient": [0.5]}
    answers: Answers = {
        (GELU, "mindspore-graph"): {"ops.gelu": {"value": exact, "slope": exact}},
        (GELU, "mindspore-tape"): {"ops.gelu": {"value": tanh, "slope": exact}},
        (GELU, "keras"): {"gelu": REFUSED},
        (CROSS_ENTROPY, "mindspore-graph"): {"loss": loss, "other": REFUSED},
        (CROSS_ENTROPY, "mindspore-tape"): {"loss": loss, "other": {"value": [0.5]}},
    }
    telling = told(TOPIC, answers)
    at_minus_two = f"{exact[POINTS.tolist().index(-2)]:.4g}"
    assert table_of(telling, "formula").rows == (
        ("MindSpore", "ops.gelu", "exact; tanh", at_minus_two),
        ("TensorFlow (Keras)", "gelu", "ValueError: no such thing", "-"),
    )
    assert table_of(telling, "gradient").rows == (
        ("MindSpore", "loss", "[0.25]", "[0.5]"),
        ("MindSpore graph", "other", "ValueError: no such thing", "-"),
        ("MindSpore tape", "other", "[0.5]", "-"),
    )
