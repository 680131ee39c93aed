"""What is told of a training step, where every figure is known."""

from typing import Any

import pytest

from explorer.model.measurement import Figures, Measured
from explorer.topics.evidence import Evidence
from explorer.topics.training.findings_routes import REFERENCE, ROUTES
from explorer.topics.training.inputs import STEPS
from explorer.topics.training.questions import (
    ACCUMULATION,
    ADD_PARAM_GROUP,
    CLIPPING,
    COMPILED,
    DISPATCHES,
    FILTERED,
    FUNCTIONAL,
    GRAPHS,
    GROUPS,
    INDUCTOR,
    LOOP,
    MODEL,
    MOMENTUM,
    OPTIMIZER_STATE,
    SCALED_STEP,
    SPEED,
    STEP_CELL,
    TOPIC,
    WEIGHT_DECAY,
)
from explorer.words.messages import text
from tests.support.tellings import (
    Answers,
    chart_of,
    check_telling,
    column,
    lines_of,
    rows_by_first,
    table_of,
    telling_text,
    told,
)

REFUSED = {"raised": "KeyError", "message": "no such thing."}
GRAPH, TAPE = "mindspore-graph", "mindspore-tape"

# Routes


def left(*differences: float) -> Figures:
    """What a route left of two weights after each step: one lies this far from 1, then stays."""
    far = [*differences, *[differences[-1]] * (STEPS - len(differences))]
    return {"states": [{"norm.weight": [2.0], "fc.bias": [1.0 + apart]} for apart in far]}


ROUTES_LEFT: Answers = {
    (LOOP, "torch"): left(0.0),
    (FUNCTIONAL, "torch"): {**left(0.0), "statistics captured": REFUSED},
    (MODEL, GRAPH): left(0.0, 0.5),
    (MODEL, TAPE): left(0.0, 0.5),
    (STEP_CELL, GRAPH): left(0.25),
    (STEP_CELL, TAPE): REFUSED,
}


def test_routes_are_counted_by_whether_they_leave_the_loop_s_weights() -> None:
    findings = told(TOPIC, ROUTES_LEFT).findings
    assert findings[0].startswith("1 of 4 ways")
    assert f"after each of {STEPS} steps (greatest difference 0.0e+00)" in findings[0]
    parting = [finding for finding in findings if "most of all in fc.bias" in finding]
    assert ["parts by 0.5" in finding for finding in parting] == [True, False, True]
    assert parting[1].startswith("MindSpore's TrainOneStepCell, graph parts by 0.25,")
    refused = [finding for finding in findings if "KeyError: no such thing" in finding]
    assert [finding.partition(" is refused")[0] for finding in refused] == [
        "TrainOneStepCell, tape",
        "torch.func.grad with the running statistics left in the module",
    ]


def test_every_route_is_a_row_with_its_differences_or_why_there_are_none() -> None:
    table = table_of(told(TOPIC, ROUTES_LEFT), "step 1")
    assert table.columns[:2] == ("framework", "route")
    assert table.columns[-1] == "verdict"
    assert len(table.rows) == len(ROUTES)
    rows = {row[1]: row for row in table.rows}
    assert rows["Model.train, graph"][2:] == (0.0, 0.5, 0.5, 0.5, 0.5, "parts: fc.bias")
    assert rows[text(REFERENCE.label)] == ("PyTorch", text(REFERENCE.label), *[0.0] * STEPS, "same")
    assert rows["TrainOneStepCell, tape"][-2:] == (None, "KeyError: no such thing.")
    assert rows["ms.jit step, tape"][2:] == (*[None] * STEPS, "not measured")
    # Without the loop there is nothing to compare with.
    without = {key: figures for key, figures in ROUTES_LEFT.items() if key[0] != LOOP}
    assert set(column(table_of(told(TOPIC, without), "step 1"), "step 2")) == {None}


def test_routes_that_agree_to_the_last_bit_stand_in_one_row() -> None:
    (table,) = (
        table for table in told(TOPIC, ROUTES_LEFT).tables if table.title.startswith("Any two")
    )
    assert table.columns == ("route", "1", "2", "3")
    assert table.rows == (
        ("1: 2 of MindSpore", 0.0, 0.25, 0.5),
        ("2: MindSpore, TrainOneStepCell, graph", 0.25, 0.0, 0.25),
        ("3: 2 of PyTorch", 0.5, 0.25, 0.0),
    )


def test_a_line_is_drawn_for_each_distance_from_the_loop() -> None:
    chart = chart_of(told(TOPIC, ROUTES_LEFT), "training-routes")
    lines = lines_of(chart)
    # On a logarithmic axis a zero has no place.
    assert lines["2 routes of MindSpore"] == {1.0: None, 2.0: 0.5, 3.0: 0.5, 4.0: 0.5, 5.0: 0.5}
    assert lines["MindSpore: TrainOneStepCell, graph"][1.0] == 0.25
    assert len(lines) == 2
    assert chart.log == ("y",)
    assert chart.kind == "line"
    assert chart.note == "No difference at all: PyTorch: torch.func.grad_and_value."


# The step


def clipped(default: float | None, *gradients: float) -> dict[str, Any]:
    """What a framework makes of gradients, by two norms and by value."""
    by_norm = {"1.0": [[gradients[0]]], "5.0": [[gradients[1]]]}
    return {"default": default, "by norm": by_norm, "by value": [[gradients[2]]]}


def test_clipped_gradients_are_told_by_the_greatest_difference() -> None:
    of_torch = clipped(None, 1.0, 5.0, 3.0)
    of_torch["by norm"] = {norm: {"gradients": x} for norm, x in of_torch["by norm"].items()}
    of_mindspore = {**clipped(1.0, 1.0, 5.25, 3.5), "by default": [[7.0]]}
    telling = told(TOPIC, {(CLIPPING, "mindspore"): of_mindspore, (CLIPPING, "torch"): of_torch})
    assert "(default 1.0)" in telling.findings[0]
    assert "(default None)" in telling.findings[0]
    assert "2.5e-01 apart" in telling.findings[0]
    table = table_of(telling, "how")
    assert table.columns[1:] == ("MindSpore", "PyTorch", "difference")
    assert rows_by_first(table) == {
        "by norm, default": ("[[7.0]]", "default: None", None),
        "by norm 1.0": ("[[1.0]]", "[[1.0]]", 0.0),
        "by norm 5.0": ("[[5.25]]", "[[5.0]]", 0.25),
        "by value": ("[[3.5]]", "[[3.0]]", 0.5),
    }


def test_how_far_accumulated_gradients_are_off_is_told_by_reduction() -> None:
    figures = {
        "mean": {"whole": {"w": [1.0]}, "added": {"w": [4.0]}, "divided": {"w": [1.0]}},
        "sum": {"whole": {"w": [4.0]}, "added": {"w": [4.5]}, "divided": {"w": [1.125]}},
    }
    telling = told(TOPIC, {(ACCUMULATION, "torch"): figures})
    (finding,) = telling.findings
    for words in ("are 3 off", "and 0 once divided", "it is a sum, 0.5 (PyTorch"):
        assert words in finding
    table = table_of(telling, "sum divided by 4")
    assert table.columns[:4] == ("net", "framework", "loss", "sum of gradients")
    mode = "batch norm in inference"
    assert mode in finding
    assert table.rows == (
        (mode, "PyTorch", "mean", 3.0, 0.0),
        (mode, "PyTorch", "sum", 0.5, 2.875),
    )


def test_parameters_that_were_chosen_are_told_with_those_that_moved() -> None:
    figures = {"type": "list", "chosen": ["a", "b"], "moved": ["b"]}
    other = {"type": "generator", "chosen": ["a", "b"], "moved": ["a", "c"]}
    (finding,) = told(
        TOPIC, {(FILTERED, "mindspore"): figures, (FILTERED, "torch"): other}
    ).findings
    for words in ("trainable_params() is a list", "parameters() a generator", "given only a, b"):
        assert words in finding
    assert "step moves b and PyTorch's a, c." in finding


@pytest.mark.parametrize(
    ("outcomes", "words"),
    [
        ({"graph": 0.5, "tape": 0.5}, ["runs, with the loss 0.5, in graph and tape style."]),
        (
            {"graph": REFUSED, "tape": 0.5},
            [
                "does not run here (KeyError: no such thing), in graph style.",
                "0.5, in tape style.",
            ],
        ),
    ],
)
def test_whether_a_scaled_step_runs_is_told_by_style(
    outcomes: dict[str, Any], words: list[str]
) -> None:
    findings = told(TOPIC, {(SCALED_STEP, "mindspore"): outcomes}).findings
    assert len(findings) == len(words)
    for finding, ending in zip(findings, words, strict=True):
        assert finding.endswith(ending)


def parts(**counts: int) -> dict[str, int]:
    return {"forward": 0, "backward": 0, "update": 0, "plumbing": 2, **counts}


STEP: Answers = {
    (DISPATCHES, "mindspore"): {
        "forward": ["Mul", "Add", "Mul"],
        "backward": ["Mul"],
        "update": [],
    },
    (DISPATCHES, "torch"): {"forward": ["aten.mul", "aten.mul"]},
    (GRAPHS, "mindspore"): {
        "graph": [parts(forward=3, backward=4), parts(update=5)],
        "ms.jit": [parts(forward=1, backward=1, update=1)],
    },
    (COMPILED, "torch"): {"graphs": 1, "breaks": {"backward": 2, "print": 1}},
    (INDUCTOR, "torch"): {"graphs": 2, "breaks": {}},
}


def test_operators_and_graphs_of_a_step_are_counted() -> None:
    findings = told(TOPIC, STEP).findings
    for words in (
        "on MindSpore's tape dispatches 4 operators (forward 3, backward 1, update 0).",
        "on PyTorch's tape dispatches 2 operators (forward 2).",
        "compiles 2 graphs (graph): forward + backward in 9 nodes; update in 7 nodes.",
        "compiles 1 graph (ms.jit): forward + backward + update in 5 nodes.",
        "aot_eager, breaks a step 3 times and makes 1 graph of it.",
        "inductor, breaks a step 0 times and makes 2 graphs of it.",
    ):
        assert sum(words in finding for finding in findings) == 1, words


def test_a_step_is_listed_by_what_carries_it_out() -> None:
    table = table_of(told(TOPIC, STEP), "which")
    assert table.columns[:3] == ("where", "what", "count")
    assert table.rows == (
        ("MindSpore, tape", "operators of forward", 3, "Mul, Add"),
        ("MindSpore, tape", "operators of backward", 1, "Mul"),
        ("MindSpore, tape", "operators of update", 0, "none"),
        ("PyTorch, tape", "operators of forward", 2, "mul"),
        ("MindSpore, graph", "nodes of graph 1 of 2", 9, "3 forward, 4 backward, 2 plumbing"),
        ("MindSpore, graph", "nodes of graph 2 of 2", 7, "5 update, 2 plumbing"),
        (
            "MindSpore, ms.jit",
            "nodes of graph 1 of 1",
            5,
            "1 forward, 1 backward, 1 update, 2 plumbing",
        ),
        ("torch.compile, aot_eager", "graphs", 1, "breaks: 2 × backward; 1 × print"),
        ("torch.compile, inductor", "graphs", 2, "breaks: none"),
    )


def test_times_are_milliseconds_and_first_calls_are_not_drawn() -> None:
    seconds = {"by itself, first call": 0.5, "by itself": 0.0123456, "ms.jit": 0.002}
    name = SPEED.measurement_name("mindspore")
    telling = telling_text(TOPIC, Evidence({name: Measured(outcome="ok", timings=seconds)}))
    check_telling(telling)
    table = table_of(telling, "milliseconds")
    assert table.columns[:2] == ("where", "way")
    assert table.timing
    assert table.rows == (
        ("MindSpore, tape", "by itself, first call", 500.0),
        ("MindSpore, tape", "by itself", 12.346),
        ("MindSpore, tape", "ms.jit", 2.0),
    )
    chart = chart_of(telling, "training-times")
    assert chart.timing
    assert chart.kind == "points"
    assert chart.log == ("y",)
    (bars,) = lines_of(chart).values()
    assert bars == {"MindSpore, tape, by itself": 12.3456, "MindSpore, tape, ms.jit": 2.0}


# Optimizers


def test_ways_to_write_momentum_are_told_by_style() -> None:
    ways = {"by hand": [[1.0], [0.5]], "printed": REFUSED}
    findings = told(TOPIC, {(MOMENTUM, "mindspore"): {"graph": ways, "tape": ways}}).findings
    for style, finding in zip(("graph", "tape"), findings, strict=True):
        assert f"({style} style) leaves of one weight: by hand: [0.5]; " in finding
        assert "printed: KeyError: no such thing" in finding


def test_a_group_that_is_added_moves_both_weights_or_says_why_not() -> None:
    figures = {"SGD": {"first": [1.0], "second": [2.0]}, "Adam": REFUSED}
    telling = told(TOPIC, {(ADD_PARAM_GROUP, "torch"): {"torch": figures}})
    findings = telling.findings
    assert [finding.partition("add_param_group of ")[2] for finding in findings] == [
        "torch.SGD: both weights move.",
        "torch.Adam: KeyError: no such thing.",
    ]
    same = {"nn": {"SGD": REFUSED}, "torch": {"SGD": REFUSED}}
    (together,) = told(TOPIC, {(ADD_PARAM_GROUP, "torch"): same}).findings
    assert together.endswith("add_param_group of nn.SGD, torch.SGD: KeyError: no such thing.")
    assert rows_by_first(table_of(telling, "setting")) == {
        "add_param_group, SGD": ("[1] beside [2]",),
        "add_param_group, Adam": ("KeyError: no such thing.",),
    }


def test_settings_of_groups_are_told_by_what_comes_of_them() -> None:
    alike = {"first": [1.0], "second": [1.0]}
    settings = {"lr": {"first": [0.0], "second": [1.0]}, "anything": alike, "momentum": REFUSED}
    telling = told(TOPIC, {(GROUPS, "torch"): {"torch": settings, "nn": {"lr": alike}}})
    finding, of_nn = telling.findings
    assert of_nn.endswith("nn refuses: none; that it takes without effect: lr.")
    rows = rows_by_first(table_of(telling, "setting"))
    assert rows["lr"] == ("[0] beside [1]", "[1] beside [1]: no effect")
    assert rows["momentum"] == ("KeyError: no such thing.", "-")
    assert finding.endswith("torch refuses: momentum; that it takes without effect: anything.")
    (finding,) = told(TOPIC, {(GROUPS, "torch"): {"torch": {"lr": settings["lr"]}}}).findings
    assert finding.endswith("torch refuses: none; that it takes without effect: none.")


def test_spared_weights_and_decay_by_default_are_told() -> None:
    def weights(weight: float, gamma: float) -> dict[str, float]:
        return {"fc.weight": weight, "norm.gamma": gamma, "norm.beta": 0.9}

    figures = {
        "torch SGD": {"default": {"fc.weight": 1.0}, "0.1": weights(0.9, 1.0)},
        "torch AdamW": {"default": weights(0.8, 0.9), "0.1": weights(0.7, 0.9)},
        "torch Odd": {"default": {"fc.weight": 1.0}, "0.1": REFUSED},
        "torch Odder": {"default": REFUSED, "0.1": weights(0.9, 0.9)},
    }
    telling = told(TOPIC, {(WEIGHT_DECAY, "torch"): figures})
    findings = telling.findings
    assert findings == (
        "weight_decay=0.1 spares norm.gamma in torch SGD.",
        "weight_decay=0.1 spares nothing in torch AdamW, torch Odder.",
        "Optimizers that decay by default: torch AdamW.",
    )
    table = table_of(telling, "weight by default")
    assert table.columns[0] == "optimizer"
    assert table.columns[-1] == "refused"
    refused = (None, None, None, None, "KeyError: no such thing.")
    assert rows_by_first(table) == {
        "torch SGD": (1.0, 0.9, 1.0, 0.9, ""),
        "torch AdamW": (0.8, 0.7, 0.9, 0.9, ""),
        "torch Odd": refused,
        "torch Odder": refused,
    }


def test_what_an_optimizer_tells_of_itself_is_a_column_each() -> None:
    answers: Answers = {
        (OPTIMIZER_STATE, "mindspore"): {
            "nn": {"has": {"state_dict": True, "get_lr": True}, "state_dict": REFUSED},
            "scheduler.get_last_lr": [0.09],
        },
        (OPTIMIZER_STATE, "torch"): {
            "torch": {"has": {"state_dict": True}, "state_dict": ["state", "param_groups"]}
        },
    }
    table = table_of(told(TOPIC, answers), "nn")
    assert table.columns == ("", "nn", "torch")
    assert rows_by_first(table) == {
        "state_dict": ("yes", "yes"),
        "get_lr": ("yes", "no"),
        "names in state_dict": ("KeyError: no such thing.", "state, param_groups"),
    }
