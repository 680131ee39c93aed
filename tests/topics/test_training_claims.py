"""Claims about training: verdicts on the installed versions, and on other figures."""

from collections.abc import Callable

import numpy as np
import pytest

from explorer.model.measurement import Measured
from explorer.topics.question import Question
from explorer.topics.training.findings_routes import TAPE
from explorer.topics.training.questions import (
    ACCUMULATION,
    ACCUMULATION_BATCH_NORM,
    ADD_PARAM_GROUP,
    CLIPPING,
    FILTERED,
    FUNCTIONAL,
    GRAPHS,
    GROUPS,
    JIT,
    LOOP,
    OPTIMIZER_STATE,
    SPEED,
    TOPIC,
    WEIGHT_DECAY,
)
from explorer.workers.workers import Workers
from tests.support.topics import World, judge, studied

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]

Change = Callable[[World], None]


@pytest.fixture(scope="module")
def measured(workers: Workers) -> dict[str, Measured]:
    """What the claims measure, taken from one run of the study."""
    return studied("training", workers).measured


def four_times_as_fast(world: World) -> None:
    """Makes a step under ms.jit take a quarter of the time: a busy machine makes no difference."""
    world.timings(SPEED, "mindspore").update({"by itself": 0.004, "ms.jit": 0.001})


@pytest.mark.parametrize(
    ("row", "verdict", "evidence"),
    [
        (16, "holds", "clipped by default: [[0.2308, 0.3077], [0.9231]]"),
        (17, "holds", "loss a mean, not divided: 1.7e+00"),
        (19, "holds", "over 5 steps"),
        (21, "depends_on_style", "2 graphs (forward and backward, 41 nodes; update, 28 nodes)"),
        (
            52,
            "does_not_hold",
            "statistics between PyTorch's loop and Model.train: 4.5e-08 (MindSpore graph",
        ),
        (
            52,
            "does_not_hold",
            "the guide's step after set_grad(): 0.093",
        ),
        (
            53,
            "holds",
            "type of trainable_params(): list (MindSpore); type of parameters(): generator",
        ),
        (57, "does_not_hold", "decay by default: experimental AdamW, torch AdamW"),
        (
            58,
            "holds_with_changes",
            "lr, weight_decay, momentum (PyTorch and mindspore.experimental.optim)",
        ),
        (
            59,
            "outdated",
            "has a state_dict: yes (PyTorch, mindspore.nn and mindspore.experimental.optim)",
        ),
        (
            60,
            "does_not_hold",
            "small operators, as printed: [1, 1.729, 2.458] (MindSpore graph and tape)",
        ),
        (60, "does_not_hold", "nn.Momentum: [0.439, 1.439, 2.439] (MindSpore graph and tape)"),
        (60, "does_not_hold", "[NPUGetFloatStatusV2] on CPU, an operator of Ascend NPUs"),
        (62, "does_not_hold", "nn.ASGD, experimental.ASGD; in MindSpore, as a function that finds"),
        (93, "holds", "refuse two groups with different rates: FTRL (MindSpore), LBFGS (PyTorch)"),
        (64, "does_not_hold", "no optimizer there leaves the same weights: FTRL"),
        (66, "holds_with_changes", "gradient 4 and loss_scale 4: 0.9 (mindspore.nn)"),
        (67, "holds_with_changes", "lr 0.5 and 0.1, keys params"),
        (
            68,
            "does_not_hold",
            "conv.weight, conv.bias (PyTorch); parameters chosen, as meant: bn.gamma",
        ),
        (69, "holds", "as printed: (1, 64, 64, 32) (MindSpore), (1, 64, 62, 30) (PyTorch)"),
        (83, "holds", "weight under ms.jit: [1.5828, -0.18693]"),
    ],
)
def test_verdict_on_the_installed_versions(
    measured: dict[str, Measured], row: int, verdict: str, evidence: str
) -> None:
    ruling = judge(TOPIC.claims[row], measured)
    assert ruling.verdict == verdict
    assert evidence in ruling.evidence
    assert ruling.advice.endswith(".")


def test_evidence_names_what_each_side_spares_takes_and_compiles(
    measured: dict[str, Measured],
) -> None:
    spared = judge(TOPIC.claims[57], measured).evidence
    assert "not decayed: norm.gamma, norm.beta (mindspore.nn), none (mindspore.exp" in spared
    assert "lr, weight_decay (mindspore.nn)," in judge(TOPIC.claims[58], measured).evidence
    assert "ms.jit: 1 graph (" in judge(TOPIC.claims[21], measured).evidence


def test_a_step_under_jit_is_told_by_the_factor_that_it_must_be_faster_by(
    measured: dict[str, Measured],
) -> None:
    # By no other number: times are never the same twice, and a board is.
    ruling = judge(TOPIC.claims[20], measured, four_times_as_fast)
    assert ruling.verdict == "holds"
    assert "as a multiple of that with it: at least 1.2 (MindSpore tape)" in ruling.evidence


def clipped_to_two(world: World) -> None:
    world[CLIPPING, "mindspore"]["default"] = 2.0


def clipped_otherwise(world: World) -> None:
    world[CLIPPING, "mindspore"]["by norm"]["5.0"] = [[3.0, 4.0], [5.0]]


def mean_not_divided(world: World) -> None:
    """The gradients of a mean add up to the whole batch's, and make a fourth of it once divided."""
    for framework in ("mindspore", "torch"):
        gradients = world[ACCUMULATION, framework]["mean"]
        gradients["added"] = gradients["whole"]
        fourth = {}
        for name, gradient in gradients["whole"].items():
            fourth[name] = (np.asarray(gradient) / 4).tolist()
        gradients["divided"] = fourth


def no_batch_norm(world: World) -> None:
    """Batch norm in training does as it does in inference."""
    for framework in ("mindspore", "torch"):
        world[ACCUMULATION_BATCH_NORM, framework] = world[ACCUMULATION, framework]


def sum_is_off(world: World) -> None:
    world[ACCUMULATION, "torch"]["sum"]["added"]["fc.bias"][0] += 1.0


def moved(question: Question, party: str) -> Change:
    """Moves a weight that one route left after the last step."""

    def change(world: World) -> None:
        world[question, party]["states"][-1]["fc.bias"][0] += 0.01

    return change


def jitted_step_moved(world: World) -> None:
    four_times_as_fast(world)
    moved(JIT, TAPE)(world)


def jit_is_slow(world: World) -> None:
    world.timings(SPEED, "mindspore").update({"by itself": 0.004, "ms.jit": 0.004})


def update_stays_out(world: World) -> None:
    graphs = world[GRAPHS, "mindspore"]
    graphs["ms.jit"] = graphs["graph"]


def three_graphs(world: World) -> None:
    graphs = world[GRAPHS, "mindspore"]
    both, update = graphs["graph"]
    graphs["graph"] = [{**both, "backward": 0}, {**both, "forward": 0}, update]


def handed_as_a_tuple(world: World) -> None:
    world[FILTERED, "mindspore"]["type"] = "tuple"


def others_move(world: World) -> None:
    world[FILTERED, "torch"]["moved"].append("conv.weight")


def decays_all_and_never_by_default(world: World) -> None:
    for framework in ("mindspore", "torch"):
        for weights in world[WEIGHT_DECAY, framework].values():
            weights["default"] = dict.fromkeys(weights["default"], 1.0)
            weights["0.1"] = dict.fromkeys(weights["0.1"], weights["0.1"]["fc.weight"])


def decays_twice(world: World) -> None:
    world[WEIGHT_DECAY, "torch"]["torch SGD"]["0.1"]["fc.weight"] = 0.98


def sgd_decays_by_default(world: World) -> None:
    world[WEIGHT_DECAY, "torch"]["torch SGD"]["default"]["fc.weight"] = 0.99


def nn_takes_momentum(world: World) -> None:
    groups = world[GROUPS, "mindspore"]
    groups["nn"]["momentum"] = groups["experimental"]["momentum"]


def experimental_refuses_momentum(world: World) -> None:
    groups = world[GROUPS, "mindspore"]
    groups["experimental"]["momentum"] = groups["nn"]["momentum"]


def torch_cannot_grow(world: World) -> None:
    world[ADD_PARAM_GROUP, "torch"] = {"torch": world[ADD_PARAM_GROUP, "mindspore"]["nn"]}


def centralization_unknown(world: World) -> None:
    settings = world[GROUPS, "mindspore"]["nn"]
    settings["grad_centralization, rows of 16"] = settings["anything"]


def no_state_dict(world: World) -> None:
    world[OPTIMIZER_STATE, "mindspore"]["nn"]["has"]["state_dict"] = False


def another_rate(world: World) -> None:
    world[OPTIMIZER_STATE, "torch"]["scheduler.get_last_lr"] = [0.1]


@pytest.mark.parametrize(
    ("row", "change", "verdict"),
    [
        (16, clipped_to_two, "holds_with_changes"),
        (16, clipped_otherwise, "does_not_hold"),
        (17, mean_not_divided, "does_not_hold"),
        (17, sum_is_off, "does_not_hold"),
        (19, moved(FUNCTIONAL, TAPE), "depends_on_style"),
        (19, moved(LOOP, "torch"), "does_not_hold"),
        (20, four_times_as_fast, "holds"),
        (20, jitted_step_moved, "does_not_hold"),
        (20, jit_is_slow, "does_not_hold"),
        (21, update_stays_out, "does_not_hold"),
        (21, three_graphs, "holds"),
        (53, handed_as_a_tuple, "holds_with_changes"),
        (53, others_move, "does_not_hold"),
        (57, decays_all_and_never_by_default, "holds"),
        (57, decays_twice, "does_not_hold"),
        (57, sgd_decays_by_default, "does_not_hold"),
        (58, nn_takes_momentum, "outdated"),
        (58, experimental_refuses_momentum, "holds"),
        (58, torch_cannot_grow, "does_not_hold"),
        (58, centralization_unknown, "does_not_hold"),
        (59, no_state_dict, "holds"),
        (59, another_rate, "does_not_hold"),
    ],
)
def test_a_wrong_world_gives_another_verdict(
    measured: dict[str, Measured], row: int, change: Change, verdict: str
) -> None:
    assert judge(TOPIC.claims[row], measured, change).verdict == verdict


def test_the_advice_on_micro_batches_follows_what_adds_up(measured: dict[str, Measured]) -> None:
    assert "batch norm in training sees each" in judge(TOPIC.claims[17], measured).advice
    assert "batch norm" not in judge(TOPIC.claims[17], measured, no_batch_norm).advice
    for change in (mean_not_divided, sum_is_off):
        assert judge(TOPIC.claims[17], measured, change).verdict == "does_not_hold"
