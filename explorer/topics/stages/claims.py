"""Claims about what a gradient depends on and what its graph holds (rows 27 and 28)."""

from typing import Any

from explorer.model.claim import Observation, Ruling
from explorer.model.message import Text, message
from explorer.topics.evidence import Evidence
from explorer.topics.stages.findings import (
    TAPES,
    compiled_for_both_signs,
    for_both_signs,
    passes_of,
)
from explorer.topics.stages.questions import (
    BRANCH,
    GRADIENT_PASSES,
    GRAPH,
    OTHER_VALUES,
    TOPIC,
    TRAINING_PASSES,
)

GUIDE = "dense_mse"
"""The scenario with the figures of the migration guides."""


@TOPIC.claim(
    27,
    "The backward of a program depends on its structure, not on the values that it is called with.",
    heading="tape and graph",
    guides=("000",),
    sections={"000": "MindSpore Automatic Differentiation"},
    would=(
        "two inputs give the same graph and the same tape, also where the program branches on a"
        " value"
    ),
    asks=(OTHER_VALUES.by(GRAPH).on(GUIDE), BRANCH.by(GRAPH, "mindspore-tape", "torch")),
)
def structure(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when neither graph nor tape of MindSpore changes with the values.

    Also where the program branches on one.
    """
    same = True
    again = 0
    for question in (OTHER_VALUES, BRANCH):
        graph, negated = compiled_for_both_signs(evidence[question][GRAPH])
        same = same and graph.fingerprint == negated.fingerprint
        again += graph.compiled_again + negated.compiled_again

    one_tape_for_all = True
    tapes: list[Observation] = []
    for party in TAPES:  # PyTorch's is cited beside it, not judged
        one, other = for_both_signs(evidence[BRANCH][party])
        is_same = one["tape"] == other["tape"]
        as_stated = is_same if party != "torch" else None
        for name, figures in (("first_tape", one), ("second_tape", other)):
            what = message(f"stages.{name}")
            tapes.append(Observation(what, " + ".join(figures["tape"]), (party,), as_stated))
        if party == "mindspore-tape":
            one_tape_for_all = is_same

    branch, _ = compiled_for_both_signs(evidence[BRANCH][GRAPH])
    of_both = message("stages.both_sides", operators=branch.computing, graphs=branch.graphs)
    sameness = message("stages.the_same" if same else "stages.not_the_same")
    count = message("stages.of_four", again=again)
    seen = (
        Observation(message("stages.graph_for_two"), sameness, (GRAPH,), same),
        Observation(message("stages.graph_of_branch"), of_both, (GRAPH,)),
        Observation(message("stages.compile_again"), count, (GRAPH,), not again),
        *tapes,
    )
    if not same or again:
        return Ruling("does_not_hold", seen)
    if not one_tape_for_all:
        return Ruling("depends_on_style", seen)
    return Ruling("holds", seen)


@TOPIC.claim(
    28,
    "The final graph has far more operators than its author wrote, and the optimizer's are among"
    " them.",
    heading="tape and graph",
    guides=("000",),
    sections={"000": "MindSpore Automatic Differentiation"},
    would=(
        "at least twice as many operators as calls are left after the last pass, and a training"
        " step's include an update"
    ),
    asks=(GRADIENT_PASSES.on(GUIDE), TRAINING_PASSES.on(GUIDE)),
    expects={"times": 2.0},
)
def far_more(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when the final graph has several times the calls that its author wrote.

    The optimizer's operators must be in it too.
    """
    gradient = passes_of(evidence[GRADIENT_PASSES][GRAPH])
    training = passes_of(evidence[TRAINING_PASSES][GRAPH])
    last, step = gradient.last, training.last
    calls = len(gradient.written)
    times = last.computing / calls if calls else 0.0
    of_gradient = message(
        "stages.final_operators",
        operators=last.computing,
        forward=last.forward,
        backward=last.backward,
    )
    of_step = message(
        "stages.step_operators",
        forward=step.forward,
        backward=step.backward,
        update=step.update,
    )
    rows: tuple[tuple[str, Text, bool | None], ...] = (
        ("calls_written", str(calls), None),
        ("in_final_graph", of_gradient, times >= expects["times"]),
        ("in_largest_pass", str(gradient.largest.total), None),
        ("in_training_step", of_step, bool(step.update)),
        ("kernels_of_step", str(training.kernels), None),
    )
    seen: list[Observation] = []
    for name, value, as_stated in rows:
        seen.append(Observation(message(f"stages.{name}"), value, (GRAPH,), as_stated))
    # No more operators than were written is the contrary; fewer times as many is only less.
    if not step.update or times <= 1:
        return Ruling("does_not_hold", tuple(seen))
    if times < expects["times"]:
        return Ruling("holds_with_changes", tuple(seen))
    return Ruling("holds", tuple(seen))
