"""Stages of a gradient graph as they are recorded: passes against what is known of the nets, and verdicts."""

import pytest

from explorer.model.measurement import Figures
from explorer.topics.question import Question
from explorer.topics.stages.questions import (
    BRANCH,
    GRADIENT_PASSES,
    GRAPH,
    LENGTHS,
    LOOPS,
    OTHER_VALUES,
    TOPIC,
    TRAINING_PASSES,
)
from tests.support.topics import Change, World, copied, judge, put, recorded_study

CLAIMS = TOPIC.claims


def figures_of(question: Question, party: str) -> Figures:
    """What a party answered to a question."""
    return recorded_study("stages")[question.measurement_name(party)].figures


def test_the_derivative_appears_in_one_pass_and_shrinks_in_the_next_ones() -> None:
    passes = {step["pass"]: step for step in figures_of(GRADIENT_PASSES, GRAPH)["passes"]}
    order = list(passes)
    assert (order[0], order[-1]) == ("bootstrap", "validate")

    expansion = order.index("opt_a_r1_j0_34_meta_fg_expand")
    assert all(passes[name]["backward"] == 0 for name in order[:expansion])
    expanded, last = passes[order[expansion]], passes["validate"]
    assert expanded["backward"] > last["backward"] > 0
    assert expanded["vanished"]["J"] == 1
    assert expanded["graphs"] > last["graphs"] == 1


def test_the_optimizer_joins_the_graph_of_a_training_step() -> None:
    gradient = figures_of(GRADIENT_PASSES, GRAPH)
    _, *steps = figures_of(TRAINING_PASSES, GRAPH)["passes"]
    assert all(step["update"] == 0 for step in gradient["passes"])
    assert all(step["update"] == 2 for step in steps), "the momentum update and the count of steps"
    assert len(gradient["written"]) == 4, "dense layer, squeeze, loss, and its truth"


def test_the_graph_of_a_branch_holds_both_sides() -> None:
    operators = figures_of(BRANCH, GRAPH)["inputs times 1"]["operators"]
    assert operators["Exp"] == 1
    assert operators["Mul"] > 3


def test_a_loop_on_a_value_is_compiled_once_and_unrolled_on_the_tape() -> None:
    by_length = figures_of(LOOPS, GRAPH)["while"]
    compiled = [figures["compiled"] for figures in by_length.values()]
    assert compiled == [True, *[False] * (len(LENGTHS) - 1)]
    for length, figures in by_length.items():
        n = int(length)
        assert figures["gradient"][0] == pytest.approx([0.5**n, 2.0**n])
        assert figures["gradient"][1] == pytest.approx([n * 0.5 ** (n - 1), 2 * n * 2.0 ** (n - 1)])
        for party in ("torch", "mindspore-tape"):
            assert len(figures_of(LOOPS, party)["while"][length]) == n + 1


def test_a_loop_on_a_constant_is_unrolled_by_compilers_too() -> None:
    assert figures_of(LOOPS, GRAPH)["for"]["graphs"] == 1
    torch = figures_of(LOOPS, "torch")
    assert torch["joint while"]["raised"] == "Unsupported"
    assert torch["joint for"]["forward"].count("aten.mul.Tensor") == 4


def calls_written(times: int) -> Change:
    """The author wrote so many times as many calls."""

    def change(world: World) -> None:
        world[GRADIENT_PASSES, GRAPH]["written"] *= times

    return change


ONE, OTHER = "inputs times 1", "inputs times -1"


@pytest.mark.parametrize(
    ("row", "change", "verdict"),
    [
        (27, copied(BRANCH, ["mindspore-tape"], OTHER, of=ONE), "holds"),
        (27, put(BRANCH, [GRAPH], OTHER, "fingerprint", value="0" * 12), "does_not_hold"),
        (27, put(OTHER_VALUES, [GRAPH], ONE, "compiled again", value=True), "does_not_hold"),
        (28, put(TRAINING_PASSES, [GRAPH], "passes", -1, "update", value=0), "does_not_hold"),
        (28, calls_written(2), "holds_with_changes"),
        (28, calls_written(4), "does_not_hold"),
    ],
)
def test_another_world_gets_another_verdict(row: int, change: Change, verdict: str) -> None:
    assert judge(CLAIMS[row], change).verdict == verdict
    assert judge(CLAIMS[row]).verdict != verdict
