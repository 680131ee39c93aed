"""Claims about training: the verdicts that the installed versions deserve, and other verdicts for
other figures.
"""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from explorer.model.claim import Ruling
from explorer.model.measurement import Measured
from explorer.topics import training
from explorer.topics.evidence import Evidence
from explorer.topics.topic import Claim
from explorer.topics.training.claims import CLAIMS
from explorer.workers.workers import Workers
from tests.study_runs import studied

Figures = dict[str, Any]
Doctor = Callable[[dict[str, Figures], dict[str, float]], None]
BY_ID = {claim.id: claim for claim in CLAIMS}


@pytest.fixture(scope="module")
def measured(workers: Workers) -> dict[str, Measured]:
    """What the claims measure, taken from one run of the study."""
    return studied("training", workers).measured


def untouched(figures: dict[str, Figures], timings: dict[str, float]) -> None:
    """Leaves the world as it is."""


def judge(claim: Claim, measured: dict[str, Measured], doctor: Doctor = untouched) -> Ruling:
    figures = {each.name: copy.deepcopy(measured[each.name].figures) for each in claim.measurements}
    timings = {"by itself": 0.004, "ms.jit": 0.001, "ms.jit, first call": 0.5}
    doctor(figures, timings)
    timed = {training.SPEED_MINDSPORE.name: timings}
    found = {
        name: Measured(outcome="ok", figures=each, timings=timed.get(name, {}))
        for name, each in figures.items()
    }
    return claim.judge(Evidence(found), claim.expects)


@pytest.mark.parametrize(
    ("number", "verdict", "evidence"),
    [
        (16, "holds", "default clip_norm 1.0: [[0.2308, 0.3077], [0.9231]]"),
        (17, "holds", "(1.7e+00 undivided)"),
        (19, "holds", "over 5 steps"),
        (20, "holds", "repeated without ms.jit, a step takes 4.0 times the processor's time"),
        (
            21,
            "depends_on_style",
            "graph style: 2 graphs (forward and backward, 41 nodes; update, 28 nodes); ms.jit: 1 graph",
        ),
        (52, "holds", "norm.running_var 0.093"),
        (53, "holds", "trainable_params(): list of 6; parameters(): generator of 6"),
        (
            57,
            "holds_with_changes",
            "nn spares norm.gamma, norm.beta; decay by default: experimental AdamW, torch AdamW",
        ),
        (
            58,
            "holds_with_changes",
            "nn: lr, weight_decay; experimental: lr, weight_decay, momentum; torch: lr, weight_decay, momentum",
        ),
        (59, "outdated", "state_dict: nn yes, experimental yes, torch yes"),
        (
            60,
            "not_checkable_here",
            "Unsupported op [NPUGetFloatStatusV2] on CPU (needs an Ascend NPU)",
        ),
    ],
)
def test_verdict_on_the_installed_versions(
    measured: dict[str, Measured], number: int, verdict: str, evidence: str
) -> None:
    ruling = judge(BY_ID[number], measured)
    assert ruling.verdict == verdict
    assert evidence in ruling.evidence
    assert ruling.advice.endswith(".")


def test_repeated_steps_are_faster_under_jit_here(measured: dict[str, Measured]) -> None:
    timings = measured[training.SPEED_MINDSPORE.name].timings
    assert timings["by itself"] > 1.2 * timings["ms.jit"]


def _clipped_to_two(figures: dict[str, Figures], timings: dict[str, float]) -> None:
    ours = figures[training.CLIPPING_MINDSPORE.name]
    ours["default"] = 2.0


def _clipped_otherwise(figures: dict[str, Figures], timings: dict[str, float]) -> None:
    figures[training.CLIPPING_MINDSPORE.name]["by norm"]["5.0"] = [[3.0, 4.0], [5.0]]


def _mean_not_divided(figures: dict[str, Figures], timings: dict[str, float]) -> None:
    for name in (training.ACCUMULATION_MINDSPORE.name, training.ACCUMULATION_TORCH.name):
        figures[name]["mean"]["added"] = figures[name]["mean"]["whole"]


def _sum_is_off(figures: dict[str, Figures], timings: dict[str, float]) -> None:
    figures[training.ACCUMULATION_TORCH.name]["sum"]["added"]["fc.bias"][0] += 1.0


def _moved(measurement: Any, weight: str = "fc.bias") -> Doctor:
    def doctor(figures: dict[str, Figures], timings: dict[str, float]) -> None:
        figures[measurement.name]["states"][-1][weight][0] += 0.01

    return doctor


def _loop_moved(figures: dict[str, Figures], timings: dict[str, float]) -> None:
    _moved(training.LOOP)(figures, timings)


def _jit_is_slow(figures: dict[str, Figures], timings: dict[str, float]) -> None:
    timings["ms.jit"] = timings["by itself"]


def _update_stays_out(figures: dict[str, Figures], timings: dict[str, float]) -> None:
    graphs = figures[training.GRAPHS.name]
    graphs["ms.jit"] = graphs["graph"]


def _three_graphs(figures: dict[str, Figures], timings: dict[str, float]) -> None:
    graphs = figures[training.GRAPHS.name]
    both, update = graphs["graph"]
    graphs["graph"] = [{**both, "backward": 0}, {**both, "forward": 0}, update]


def _a_tuple(figures: dict[str, Figures], timings: dict[str, float]) -> None:
    figures[training.FILTERED_MINDSPORE.name]["type"] = "tuple"


def _others_move(figures: dict[str, Figures], timings: dict[str, float]) -> None:
    figures[training.FILTERED_TORCH.name]["moved"].append("conv.weight")


def _decays_all_and_never_by_default(
    figures: dict[str, Figures], timings: dict[str, float]
) -> None:
    for name in (training.DECAY_MINDSPORE.name, training.DECAY_TORCH.name):
        for each in figures[name].values():
            each["default"] = dict.fromkeys(each["default"], 1.0)
            each["0.1"] = dict.fromkeys(each["0.1"], each["0.1"]["fc.weight"])


def _decays_twice(figures: dict[str, Figures], timings: dict[str, float]) -> None:
    figures[training.DECAY_TORCH.name]["torch SGD"]["0.1"]["fc.weight"] = 0.98


def _sgd_decays_by_default(figures: dict[str, Figures], timings: dict[str, float]) -> None:
    figures[training.DECAY_TORCH.name]["torch SGD"]["default"]["fc.weight"] = 0.99


def _nn_takes_momentum(figures: dict[str, Figures], timings: dict[str, float]) -> None:
    groups = figures[training.GROUPS_MINDSPORE.name]
    groups["nn"]["momentum"] = groups["experimental"]["momentum"]


def _experimental_refuses_momentum(figures: dict[str, Figures], timings: dict[str, float]) -> None:
    groups = figures[training.GROUPS_MINDSPORE.name]
    groups["experimental"]["momentum"] = groups["nn"]["momentum"]


def _torch_cannot_grow(figures: dict[str, Figures], timings: dict[str, float]) -> None:
    figures[training.GROWN_TORCH.name] = {"torch": figures[training.GROWN_MINDSPORE.name]["nn"]}


def _centralization_unknown(figures: dict[str, Figures], timings: dict[str, float]) -> None:
    nn = figures[training.GROUPS_MINDSPORE.name]["nn"]
    nn["grad_centralization, rows of 16"] = nn["anything"]


def _no_state_dict(figures: dict[str, Figures], timings: dict[str, float]) -> None:
    figures[training.TOLD_MINDSPORE.name]["nn"]["has"]["state_dict"] = False


def _another_rate(figures: dict[str, Figures], timings: dict[str, float]) -> None:
    figures[training.TOLD_TORCH.name]["scheduler.get_last_lr"] = [0.1]


def _fused_is_off(figures: dict[str, Figures], timings: dict[str, float]) -> None:
    figures[training.MOMENTUM.name]["fused ApplyMomentum, graph"][0][0] += 0.1


def _scaled_step_runs(figures: dict[str, Figures], timings: dict[str, float]) -> None:
    figures[training.SCALED_STEP.name] = {"graph": 0.4, "tape": 0.4}


def _scaled_step_fails(figures: dict[str, Figures], timings: dict[str, float]) -> None:
    figures[training.SCALED_STEP.name]["graph"] = {
        "raised": "TypeError",
        "message": "no such argument",
    }
    figures[training.SCALED_STEP.name]["tape"] = {
        "raised": "TypeError",
        "message": "no such argument",
    }


@pytest.mark.parametrize(
    ("number", "doctor", "verdict"),
    [
        (16, _clipped_to_two, "holds_with_changes"),
        (16, _clipped_otherwise, "does_not_hold"),
        (17, _mean_not_divided, "does_not_hold"),
        (17, _sum_is_off, "does_not_hold"),
        (19, _moved(training.FUNCTIONAL_TAPE), "depends_on_style"),
        (19, _loop_moved, "does_not_hold"),
        (20, _moved(training.JIT_TAPE), "does_not_hold"),
        (20, _jit_is_slow, "does_not_hold"),
        (21, _update_stays_out, "does_not_hold"),
        (21, _three_graphs, "holds"),
        (52, _moved(training.MODEL), "does_not_hold"),
        (52, _moved(training.GRAD_OPERATION_TAPE), "depends_on_style"),
        (52, _moved(training.UNANNOUNCED_TAPE), "depends_on_style"),
        (53, _a_tuple, "holds_with_changes"),
        (53, _others_move, "does_not_hold"),
        (57, _decays_all_and_never_by_default, "holds"),
        (57, _decays_twice, "does_not_hold"),
        (57, _sgd_decays_by_default, "does_not_hold"),
        (58, _nn_takes_momentum, "outdated"),
        (58, _experimental_refuses_momentum, "holds"),
        (58, _torch_cannot_grow, "does_not_hold"),
        (58, _centralization_unknown, "does_not_hold"),
        (59, _no_state_dict, "holds"),
        (59, _another_rate, "does_not_hold"),
        (60, _fused_is_off, "does_not_hold"),
        (60, _scaled_step_runs, "holds"),
        (60, _scaled_step_fails, "does_not_hold"),
    ],
)
def test_a_wrong_world_gives_another_verdict(
    measured: dict[str, Measured], number: int, doctor: Doctor, verdict: str
) -> None:
    assert judge(BY_ID[number], measured, doctor).verdict == verdict
