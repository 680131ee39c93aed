"""What is told of operators, where every figure is known."""

from typing import Any

import numpy as np
import pytest

from explorer.model.measurement import Figures
from explorer.topics.evidence import Evidence
from explorer.topics.operators.findings_defaults import ORDERS, PARTS
from explorer.topics.operators.inputs import MOMENTA, OPERANDS, POINTS, WINDOWS
from explorer.topics.operators.kink_functions import KINKS
from explorer.topics.operators.kinks import Group
from explorer.topics.operators.questions import (
    AXES,
    BATCH_NORM_MOMENTUM,
    CONVOLUTION_DEFAULT,
    CONVOLUTION_SIDES,
    CONVOLUTION_SIDES_OF_A_NUMBER,
    CROSS_ENTROPY,
    DROPOUT_DRAWS,
    DROPOUT_MASK,
    DROPOUT_SETTINGS,
    GELU,
    GRADIENTS_AT_KINKS,
    INFERENCE,
    INITIAL_VALUES,
    MAX_POOL,
    OPERATOR_GRADIENTS,
    SLOPES_AT_KINKS,
    TOPIC,
    VALID_SIZES,
)
from explorer.topics.operators.readings import GLOROT, NORMAL, UNIFORM, gelu_formulas, valid_size
from explorer.topics.question import Question
from explorer.topics.studies import Telling
from tests.support.tellings import (
    Answers,
    chart_of,
    column,
    lines_of,
    rows_by_first,
    table_of,
    telling_text,
    told,
)
from tests.support.topics import written

REFUSED = {"raised": "ValueError", "message": "no such thing"}

# Shapes


def test_transposes_are_told_by_the_shape_that_they_give() -> None:
    def given(*shape: int) -> dict[str, Any]:
        return {"shape": list(shape), "elements": [0.0, 12.0, 4.0, 16.0, 8.0]}

    telling = told(
        TOPIC,
        {
            (AXES, "mindspore"): {"swapaxes": given(4, 1), "transpose(1)": REFUSED},
            (AXES, "torch"): {"transpose": given(4, 1), "permute": given(1, 4)},
        },
    )
    (finding,) = telling.findings
    _, _, listed = finding.partition(" tensor ")
    assert listed.split("; ") == [
        "gives [4, 1]: MindSpore swapaxes, PyTorch transpose",
        "raises ValueError: MindSpore transpose(1)",
        "gives [1, 4]: PyTorch permute.",
    ]
    table = table_of(telling, "first elements")
    assert table.columns[:3] == ("framework", "call", "shape")
    assert table.rows[0] == ("MindSpore", "swapaxes", "[4, 1]", "[0, 12, 4, 16]")
    assert table.rows[1][2:] == ("ValueError: no such thing", "-")


def test_pools_are_told_by_who_agrees() -> None:
    zeros = "zeros top and left, then valid"
    telling = told(
        TOPIC,
        {
            (MAX_POOL, "mindspore-graph"): {"same": [4.0], "valid": [3.0]},
            (MAX_POOL, "torch-tape"): {zeros: [1.0], "valid": [3.0]},
        },
    )
    assert [finding.rpartition("stride 2, ")[2] for finding in telling.findings] == [
        "same: MindSpore graph [4].",
        f"{zeros}: PyTorch tape [1].",
    ]
    table = table_of(telling, "padding")
    assert rows_by_first(table) == {
        "same": ("[4]", "-"),
        "valid": ("[3]", "[3]"),
        zeros: ("-", "[1]"),
    }


def test_odd_zeros_are_counted_by_side_and_refusals_are_told_once() -> None:
    names = list(WINDOWS)
    zeros: dict[str, Any] = {name: [1, 1] for name in names}
    zeros.update({names[0]: [0, 1], names[1]: [1, 2], names[2]: [2, 1]})
    of_torch = {**zeros, names[3]: REFUSED, names[4]: REFUSED}
    number = {"even": [1, 1], "uneven": [1, 0]}
    telling = told(
        TOPIC,
        {
            (CONVOLUTION_SIDES, "mindspore"): zeros,
            (CONVOLUTION_SIDES, "torch"): of_torch,
            (CONVOLUTION_SIDES_OF_A_NUMBER, "mindspore"): number,
            (CONVOLUTION_SIDES_OF_A_NUMBER, "torch"): {"even": [1, 1]},
        },
    )
    mindspore, torch, uneven = telling.findings
    assert "(right, bottom) in 2 cases" in mindspore
    assert mindspore.endswith("(left, top) in 1.")
    refused = f"refuses 2 of {len(names)} settings (ValueError: no such thing)."
    assert torch.endswith(f"(left, top) in 1; {refused}")
    assert uneven.endswith("MindSpore use: uneven: 1 before, 0 after.")
    table = table_of(telling, "odd, after")
    kinds = ("framework", "padding", "cases", "even", "odd, after", "odd, before", "refused")
    assert table.columns == kinds
    count = len(names)
    assert table.rows == (
        ("MindSpore", '"same"', count, count - 3, 2, 1, 0),
        ("PyTorch", '"same"', count, count - 5, 2, 1, 2),
        ("MindSpore", "padding=1", 2, 1, 0, 1, 0),
        ("PyTorch", "padding=1", 1, 1, 0, 0, 0),
    )
    shown = [name for name in names if WINDOWS[name].size in (5, 6) and WINDOWS[name].kernel > 1]
    (table,) = (table for table in telling.tables if table.title.endswith('that "same" adds'))
    assert column(table, "case") == shown


def test_sizes_without_padding_are_held_against_the_formula() -> None:
    sizes = {name: [valid_size(window)] * 3 for name, window in WINDOWS.items()}
    wrong = dict(sizes)
    first = next(name for name, window in WINDOWS.items() if window.size == 5)
    wrong[first] = [valid_size(WINDOWS[first]), 99, 99]
    telling = told(TOPIC, {(VALID_SIZES, "mindspore"): sizes, (VALID_SIZES, "torch"): wrong})
    (finding,) = telling.findings
    total = 3 * len(WINDOWS)
    assert f"MindSpore {total} of {total}, PyTorch {total - 2} of {total} cases" in finding
    rows = rows_by_first(table_of(telling, "formula"))
    assert {WINDOWS[str(name)].size for name in rows} == {5, 8}
    right = valid_size(WINDOWS[first])
    assert rows[first] == (right, f"[{right}, {right}, {right}]", f"[{right}, 99, 99]")


# Dropout and batch norm


def dropped(kept: float, survivor: float = 2.0) -> dict[str, float]:
    return {"kept": kept, "survivor": survivor}


SETTINGS: Answers = {
    (DROPOUT_SETTINGS, "mindspore"): {
        "parameters": ["keep_prob", "p", "dtype"],
        "notice": "",
        "no argument": dropped(0.5),
        "0.3 alone": dropped(0.3),
        "p=0.3": dropped(0.7),
        "keep_prob=0.7": dropped(0.7),
    },
    (DROPOUT_SETTINGS, "torch"): {
        "no argument": dropped(0.5),
        "0.3 alone": dropped(0.7, 1.4286),
        "p=2": REFUSED,
    },
}


def test_what_a_bare_number_keeps_is_told_by_library() -> None:
    telling = told(TOPIC, SETTINGS)
    bare, names, *others = telling.findings
    assert bare.endswith("keeps: MindSpore 30.0%, PyTorch 70.0%.")
    for words in ("takes keep_prob and p:", "p=0.3 keeps 70.0%", "keep_prob=0.7 keeps 70.0%"):
        assert words in names
    # The default is alike, and so no finding.
    assert len(others) == 1
    assert others[0].endswith("dropout(0.3) keeps: MindSpore 0.30, PyTorch 0.70.")
    rows = rows_by_first(table_of(telling, "asked for"))
    assert rows["0.3 alone"] == ("0.300, 2", "0.700, 1.429")
    assert rows["p=2"] == ("-", "ValueError: no such thing")
    assert "parameters" not in rows
    assert "notice" not in rows
    assert rows_by_first(table_of(telling, "default"))["dropout(0.3) keeps"] == (
        "0.30",
        "0.70",
        "-",
    )


def test_seeds_and_masks_of_dropout_are_told() -> None:
    draws = {
        "draws": 100,
        "ratio": [1.01, 0.99, 1.0],
        "same_layer_repeats_after_seed": False,
        "new_layer_repeats_after_seed": True,
    }
    masks = {"output": [2.0, 0.0], "gradient": [2.0, 0.0]}
    other = {**masks, "gradient": [0.0, 2.0]}
    answers: Answers = {
        (DROPOUT_DRAWS, "mindspore"): draws,
        (DROPOUT_DRAWS, "torch"): {**draws, "same_layer_repeats_after_seed": True},
        (DROPOUT_MASK, "mindspore-graph"): masks,
        (DROPOUT_MASK, "mindspore-tape"): masks,
        (DROPOUT_MASK, "torch-tape"): other,
    }
    telling = told(TOPIC, answers)
    mindspore, torch, mask = telling.findings
    assert "MindSpore: the mean of 100 dropouts is 0.990 to 1.010" in mindspore
    assert "exists does not repeat its mask, and a new one repeats" in mindspore
    assert "that exists repeats its mask" in torch
    assert mask.endswith("in MindSpore, not in PyTorch tape.")
    table = table_of(telling, "draws")
    assert table.columns[0] == "framework"
    assert column(table, "greatest") == [1.01, 1.01]
    assert column(table, "least mean / input") == [0.99, 0.99]
    assert column(table, "same layer repeats after seed") == [False, True]
    assert column(table, "new layer repeats") == [True, True]
    none = told(TOPIC, {(DROPOUT_MASK, "torch-tape"): other}).findings
    assert none[0].endswith("in no engine, not in PyTorch tape.")
    assert (
        told(TOPIC, {(DROPOUT_MASK, "torch-tape"): masks}).findings[0].endswith("in PyTorch tape.")
    )


def test_running_means_stand_under_the_momentum_that_was_given() -> None:
    def statistics(shift: float) -> dict[str, Any]:
        means = {str(m): [[m + shift, 2 * m + shift], [1.0, 1.0]] for m in MOMENTA}
        return {**means, "default": [[shift, shift], [1.0, 1.0]]}

    one_minus, same = statistics(0.5), statistics(0.25)
    of_torch = {"one_minus": one_minus, "same": same, "default": one_minus["default"]}
    evidence = Evidence(
        written(
            {
                (BATCH_NORM_MOMENTUM, "mindspore"): statistics(0.0),
                (BATCH_NORM_MOMENTUM, "torch"): of_torch,
            }
        )
    )
    telling = telling_text(TOPIC, evidence)
    table = table_of(telling, "PyTorch, 1 - m")
    assert table.columns == ("m", "MindSpore", "PyTorch, 1 - m", "PyTorch, m")
    rows = rows_by_first(table)
    assert len(rows) == len(MOMENTA) + 1
    first = MOMENTA[0]
    means = [[first + shift, 2 * first + shift] for shift in (0.0, 0.5, 0.25)]
    shown = tuple(f"[{one:.4g}, {other:.4g}]" for one, other in means)
    assert rows[f"momentum {first}"] == shown
    assert rows["momentum default"] == ("[0, 0]", "[0.5, 0.5]", "[0.5, 0.5]")
    lines = lines_of(chart_of(telling, "momentum"))
    # The second channel, each framework given the same momentum.
    assert lines["MindSpore"] == {m: 2 * m for m in MOMENTA}
    assert lines["PyTorch"] == {m: 2 * m + 0.25 for m in MOMENTA}


# Defaults and formulas

CANDIDATES = {"uniform": UNIFORM, "glorot": GLOROT, "normal": NORMAL}


def test_a_default_that_differs_is_a_finding_and_one_that_does_not_is_none() -> None:
    of_mindspore = {"shape": [1, 1, 5, 5], "has_bias": False}
    of_torch = {"shape": [1, 1, 3, 3], "has_bias": False}
    telling = told(
        TOPIC,
        {
            (CONVOLUTION_DEFAULT, "mindspore"): of_mindspore,
            (CONVOLUTION_DEFAULT, "torch"): of_torch,
        },
    )
    (finding,) = telling.findings
    assert finding.endswith("MindSpore [1, 1, 5, 5], PyTorch [1, 1, 3, 3].")
    rows = rows_by_first(table_of(telling, "default"))
    assert rows["a convolution has a bias"] == ("no", "no", "-")


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


def test_the_formula_of_gelu_is_told_by_who_takes_which() -> None:
    curves = {name: formula.tolist() for name, formula in gelu_formulas().items()}
    slopes = np.linspace(0, 1, len(POINTS)).tolist()
    exact = {"value": curves["exact"], "slope": slopes}
    tanh = {"value": curves["tanh"], "slope": slopes}
    telling = told(
        TOPIC,
        {
            (GELU, "mindspore-graph"): {"nn.GELU()": tanh, "ops.gelu": exact},
            (GELU, "mindspore-tape"): {"nn.GELU()": tanh, "ops.gelu": tanh},
            (GELU, "torch-tape"): {"nn.GELU()": {"value": curves["exact"]}},
            (GELU, "keras"): {"gelu": REFUSED},
        },
    )
    (finding,) = telling.findings
    apart = np.abs(np.array(curves["exact"]) - np.array(curves["tanh"])).max()
    assert f"up to {apart:.1e} apart" in finding
    assert finding.endswith(
        "MindSpore nn.GELU() is the tanh one; PyTorch tape nn.GELU() is the exact one."
    )
    table = table_of(telling, "formula")
    assert table.columns[:2] == ("framework", "call")
    at_minus_two = f"{slopes[POINTS.tolist().index(-2)]:.4g}"
    assert table.rows == (
        ("MindSpore", "nn.GELU()", "tanh", at_minus_two),
        ("MindSpore", "ops.gelu", "exact; tanh", at_minus_two),
        ("PyTorch", "nn.GELU()", "exact", "-"),
        ("TensorFlow (Keras)", "gelu", "ValueError: no such thing", "-"),
    )


def test_losses_that_agree_stand_in_one_row() -> None:
    loss = {"value": [0.25], "gradient": [0.5]}
    telling = told(
        TOPIC,
        {
            (CROSS_ENTROPY, "mindspore-graph"): {"loss": loss, "other": REFUSED},
            (CROSS_ENTROPY, "mindspore-tape"): {"loss": loss, "other": {"value": [0.5]}},
        },
    )
    table = table_of(telling, "gradient")
    assert table.columns[:3] == ("engine", "call", "value")
    assert table.rows == (
        ("MindSpore", "loss", "[0.25]", "[0.5]"),
        ("MindSpore graph", "other", "ValueError: no such thing", "-"),
        ("MindSpore tape", "other", "[0.5]", "-"),
    )


# Kinks


def at_kinks(**gradients: Any) -> Telling:
    """What is told where every engine has 0 at every kink, but for relu and what it is given.

    ``gradients`` are of relu, by engine with an underscore; the slopes there are 0 and 1.
    """
    answers: dict[tuple[Question, str], Figures] = {}
    (group,) = (group for group, kinks in by_group().items() if "relu" in kinks)
    names = by_group()[group]
    for party in GRADIENTS_AT_KINKS[group].asks:
        found: dict[str, Any] = {"value": 0.0, "gradient": [[0.0]]}
        own = gradients.get(party.replace("-", "_"), [[0.0]])
        figures = {name: {"found": found, "written": f"{party} {name}"} for name in names}
        of_relu = own if isinstance(own, dict) else {"value": 0.0, "gradient": own}
        figures["relu"] = {"found": of_relu, "written": f"{party} relu"}
        answers[GRADIENTS_AT_KINKS[group], party] = figures
    for party in SLOPES_AT_KINKS[group].asks:
        answers[SLOPES_AT_KINKS[group], party] = {name: [[[0.0]], [[1.0]]] for name in names}
    return telling_text(TOPIC, Evidence(written(answers)))


def by_group() -> dict[Group, list[str]]:
    """The names of the kinks of each group."""
    groups: dict[Group, list[str]] = {}
    for kink in KINKS.values():
        groups.setdefault(kink.group, []).append(kink.name)
    return groups


def test_where_engines_agree_at_every_kink_nothing_else_is_told() -> None:
    telling = at_kinks()
    assert telling.findings[0].startswith("At 0 of ")
    assert any("MindSpore's graph and tape agree at all" in text for text in telling.findings)
    assert not any("the gradient is" in finding for finding in telling.findings)
    assert set(column(table_of(telling, "alike"), "alike")) == {"yes"}
    assert telling.charts == ()


@pytest.mark.parametrize(
    ("gradient", "outside"), [(1.0, "nobody"), (1.0005, "nobody"), (1.002, "PyTorch tape")]
)
def test_a_gradient_beyond_the_slopes_is_outside_them_up_to_rounding(
    gradient: float, outside: str
) -> None:
    telling = at_kinks(torch_tape=[[gradient]])
    table = table_of(telling, "outside the slopes")
    assert table.columns[1:2] == ("in MindSpore",)
    ((where, in_mindspore, *cells, left, right, beyond),) = table.rows
    assert (left, right, beyond) == ("0", "1", outside)
    assert sorted(map(str, cells)) == sorted(["0", "0", "0", f"{gradient:.4g}"])
    assert str(in_mindspore).startswith("mindspore-")
    alike = rows_by_first(table_of(telling, "alike"))
    assert alike[where][-1] == "NO"
    assert telling.findings[0].startswith("At 1 of ")
    assert any("PyTorch's graph and tape differ at 1 of" in text for text in telling.findings)
    lines = lines_of(chart_of(telling, "kinks"))
    assert [list(line.values()) for line in lines.values()] == [[0.0], [1.0], [0.0], [gradient]]
    assert list(lines) == ["slope left", "slope right", "MindSpore", "PyTorch"]


def test_an_engine_that_raised_at_a_kink_says_so() -> None:
    telling = at_kinks(torch_graph=REFUSED)
    (finding,) = (text for text in telling.findings if "the gradient is" in text)
    assert "none, ValueError: no such thing (PyTorch graph)" in finding
    assert "value" not in finding.partition("the gradient is")[2].replace("ValueError", "")
    cells = table_of(telling, "outside the slopes").rows[0]
    assert "raises ValueError" in cells


def test_values_that_differ_are_told_beside_the_gradients() -> None:
    telling = at_kinks(torch_tape={"value": 2.0, "gradient": [[0.0]]})
    (finding,) = (text for text in telling.findings if "the gradient is" in text)
    assert "the value is 0 (MindSpore and PyTorch graph), 2 (PyTorch tape)" in finding
    cells = table_of(telling, "outside the slopes").rows[0]
    assert "value 2; 0" in cells


# One net


def test_what_repeats_is_told_by_engine() -> None:
    def outputs(inference: float, *training: float) -> dict[str, Any]:
        return {"inference": [[inference]] * 2, "training": [[value] for value in training]}

    telling = told(
        TOPIC,
        {
            (INFERENCE, "torch-tape"): outputs(1.0, 1.0, 2.0),
            (INFERENCE, "mindspore-tape"): {**outputs(1.5, 4.0, 4.0), "inference": [[1.0], [1.5]]},
        },
    )
    table = table_of(telling, "inference repeats")
    assert dict(zip(column(table, "engine"), column(table, "inference repeats"), strict=True)) == {
        "PyTorch tape": True,
        "MindSpore tape": False,
    }
    assert column(table, "training repeats").count(True) == 1
    assert column(table, "inference from PyTorch tape") == [0.0, 0.0]
    assert column(table, "training from PyTorch tape") == [0.75, 0.0]
    ours, theirs = sorted(telling.findings)
    assert "gives different outputs at every call in inference, 0 from" in ours
    assert "and the same ones in training (MindSpore tape)" in ours
    assert "gives the same outputs at every call in inference, 0 from" in theirs
    assert "and different ones in training (PyTorch tape)" in theirs


def test_gradients_with_equal_settings_are_held_against_the_reference() -> None:
    first, second, third, *others = OPERANDS

    def in_both(gradient: Any) -> dict[str, Any]:
        return dict.fromkeys(ORDERS, gradient)

    def gradients(value: float, **named: Any) -> dict[str, Any]:
        same = {name: in_both([[value]]) for name in others}
        return {**same, first: in_both([[1.0]]), **named}

    reference = gradients(1.0, **{second: in_both([[4.0]]), third: in_both(REFUSED)})
    own = gradients(
        1.0,
        **{
            second: {ORDERS[0]: [[2.0]], ORDERS[1]: REFUSED},
            third: in_both([[1.0]]),
        },
    )
    telling = told(
        TOPIC,
        {
            (OPERATOR_GRADIENTS, "torch-tape"): reference,
            (OPERATOR_GRADIENTS, "mindspore-tape"): own,
        },
    )
    of_first, of_second = telling.findings
    count = len(OPERANDS)
    assert f"{count - 2} of {count - 1} {ORDERS[0]} derivatives" in of_first
    assert f"but not those of {second} (MindSpore tape)" in of_first
    assert of_first.endswith(f"there are none of {third} (PyTorch tape).")
    assert f"{count - 2} of {count - 2} {ORDERS[1]} derivatives" in of_second
    assert f"there are none of {second} (MindSpore tape); {third} (PyTorch tape)" in of_second or (
        f"there are none of {third} (PyTorch tape); {second} (MindSpore tape)" in of_second
    )
    table = table_of(telling, "operator")
    rows = {row[:2]: dict(zip(table.columns[2:], row[2:], strict=True)) for row in table.rows}
    assert len(rows) == count * len(ORDERS)
    assert rows[first, ORDERS[0]] == {
        "MindSpore graph": "-",
        "MindSpore tape": "0",
        "PyTorch graph": "-",
        "PyTorch tape": "0",
    }
    assert rows[second, ORDERS[0]]["MindSpore tape"] == "1.0e+00"
    assert rows[second, ORDERS[1]]["MindSpore tape"] == "ValueError: no such thing"
    assert rows[third, ORDERS[0]]["MindSpore tape"] == "-"
