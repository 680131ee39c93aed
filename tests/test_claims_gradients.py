"""Claims about gradient calls and nesting: the verdicts that the installed versions deserve, and
others for other figures.
"""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from explorer.model.claim import Ruling
from explorer.model.measurement import Measured
from explorer.topics.evidence import Evidence
from explorer.topics.gradients.claims import CLAIMS
from explorer.topics.higher_order import nodes, operators
from explorer.topics.topic import Claim
from explorer.workers.workers import Workers
from tests.measured_once import once

Doctor = Callable[[dict[str, Any]], None]
BY_ID = {claim.id: claim for claim in CLAIMS}
GRAPH, TAPE = ".mindspore-graph", ".mindspore-tape"
BOTH = ("mindspore-graph", "mindspore-tape")


@pytest.fixture(scope="module")
def measured(workers: Workers) -> dict[str, Measured]:
    return once(workers, (each for claim in CLAIMS for each in claim.measurements))


def judge(
    claim: Claim, measured: dict[str, Measured], doctor: Doctor = lambda figures: None
) -> Ruling:
    figures = {each.name: copy.deepcopy(measured[each.name].figures) for each in claim.measurements}
    doctor(figures)
    return claim.judge(
        Evidence({name: Measured(outcome="ok", figures=each) for name, each in figures.items()}),
        claim.expects,
    )


@pytest.mark.parametrize(
    ("row", "evidence"),
    [
        (1, "graph, tape, PyTorch: (dx, (logits,)) = [[[4, 6, 8]], 20]"),
        (2, "graph, tape, PyTorch: (dy, (logits,)) = [-2, 20]"),
        (3, "graph, tape, PyTorch: ((dx, dy), (logits,)) = [[[4, 6, 8]], -2, 20]"),
        (4, "graph, tape, PyTorch: ((dfc.weight,), (logits,)) = [[[2, 4, 6]], 20]"),
        (
            5,
            "graph, tape, PyTorch: ((dx, (dfc.weight,)), (logits,)) = [[[4, 6, 8]], [[2, 4, 6]], 20]",
        ),
        (
            6,
            "graph, tape, PyTorch: (((dx, dy), (dfc.weight,)), (logits,)) = [[[4, 6, 8]], -2, [[2, 4, 6]], 20]",
        ),
        (7, "graph, tape, PyTorch: dx = [[[6, 9, 12]]]"),
        (8, "A net that returns loss + logits: graph, tape, PyTorch: dx = [[[6, 9, 12]]]"),
        (
            9,
            "graph, tape: ValueError: `grad_position` and `weight` can not be None at the same time.",
        ),
        (10, "14 of 14 calls as expected"),
        (11, "equal numbers in 8 of 8 pairs"),
    ],
)
def test_the_guides_structures_hold(measured: dict[str, Measured], row: int, evidence: str) -> None:
    ruling = judge(BY_ID[row], measured)
    assert ruling.verdict == "holds"
    assert evidence in ruling.evidence
    assert ruling.advice.endswith(".")


def test_nesting_holds_in_graph_style_and_loses_terms_on_mindspores_tape(
    measured: dict[str, Measured],
) -> None:
    ruling = judge(BY_ID[26], measured)
    assert ruling.verdict == "depends_on_style"
    assert "torch-tape 9, 24, 56, 125" in ruling.evidence
    assert "4 of 4 engines match the closed form" in ruling.evidence
    assert (
        "mindspore-tape gives wrong second derivatives, without a message, of cube of sum"
        in ruling.evidence
    )
    assert "graph style" in ruling.advice


def edit(
    ending: str | tuple[str, ...], change: Callable[[dict[str, Any]], None], within: str = ""
) -> Doctor:
    """Changes the figures of every measurement whose name ends so and holds ``within``."""

    def doctor(figures: dict[str, Any]) -> None:
        for name, each in figures.items():
            if name.endswith(ending) and within in name:
                change(each)

    return doctor


def other_number(each: dict[str, Any]) -> None:
    each["values"][0] = [[1, 1, 1]]


def other_nesting(each: dict[str, Any]) -> None:
    each["structure"] = f"({each['structure']},)"


def accepted(each: dict[str, Any]) -> None:
    each.clear()
    each.update(structure="()", values=[])


def reworded(each: dict[str, Any]) -> None:
    each["message"] = "give something to differentiate by"


def gone(each: dict[str, Any]) -> None:
    each.clear()
    each.update(
        raised="AttributeError", message="module 'mindspore.ops' has no attribute 'GradOperation'"
    )


STRUCTURES = [
    (row, doctor, verdict)
    for row in range(1, 8)
    for doctor, verdict in (
        (edit(TAPE, other_number), "depends_on_style"),
        (edit((GRAPH, TAPE), other_number), "does_not_hold"),
        (edit((GRAPH, TAPE), other_nesting), "holds_with_changes"),
    )
]


@pytest.mark.parametrize(
    ("row", "doctor", "verdict"),
    [
        *STRUCTURES,
        (8, edit(GRAPH, other_number, "loss + logits"), "depends_on_style"),
        (8, edit((GRAPH, TAPE), other_number, "has_aux=False"), "does_not_hold"),
        (9, edit(TAPE, accepted), "depends_on_style"),
        (9, edit((GRAPH, TAPE), accepted), "does_not_hold"),
        (9, edit((GRAPH, TAPE), reworded), "holds_with_changes"),
        (10, edit(TAPE, other_nesting, "grad_position=1"), "depends_on_style"),
        (10, edit((GRAPH, TAPE), other_number, "grad_position=1"), "does_not_hold"),
        (11, edit(GRAPH, other_number, "GradOperation"), "depends_on_style"),
        (11, edit((GRAPH, TAPE), other_number, "GradOperation"), "does_not_hold"),
        (11, edit((GRAPH, TAPE), gone, "GradOperation"), "outdated"),
    ],
)
def test_other_figures_give_another_verdict(
    measured: dict[str, Measured], row: int, doctor: Doctor, verdict: str
) -> None:
    assert judge(BY_ID[row], measured, doctor).verdict == verdict


def repaired(figures: dict[str, Any]) -> None:
    """Every second derivative is how the first changes."""
    for engine in BOTH:
        for each in figures[operators("by shape", engine).name].values():
            each["second"] = each["change of first"]


def broken(figures: dict[str, Any]) -> None:
    """The compiler loses the same terms as the tape."""
    names = [operators("by shape", engine).name for engine in BOTH]
    figures[names[0]] = figures[names[1]]


def shrinking(engines: tuple[str, ...]) -> Doctor:
    def doctor(figures: dict[str, Any]) -> None:
        for engine in engines:
            for stage in figures[nodes(engine).name]["by order"]["4"]:
                figures[nodes(engine).name]["by order"]["4"][stage] = 1

    return doctor


def wrong_value(figures: dict[str, Any]) -> None:
    for engine in BOTH:
        figures[nodes(engine).name]["values"]["3"]["elements"] = [0.0]


@pytest.mark.parametrize(
    ("doctor", "verdict"),
    [
        (repaired, "holds"),
        (broken, "does_not_hold"),
        (shrinking(("mindspore-graph",)), "depends_on_style"),
        (shrinking(BOTH), "does_not_hold"),
        (wrong_value, "does_not_hold"),
    ],
)
def test_nesting_is_judged_by_values_growth_and_second_derivatives(
    measured: dict[str, Measured], doctor: Doctor, verdict: str
) -> None:
    assert judge(BY_ID[26], measured, doctor).verdict == verdict


def test_every_row_has_its_claim() -> None:
    assert sorted(BY_ID) == [*range(1, 12), 26]
