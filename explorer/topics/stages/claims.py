"""Claims about what a gradient depends on and what its graph holds (rows 27 and 28)."""

from typing import Any

from explorer.model.claim import Observation, Ruling
from explorer.topics.evidence import Evidence
from explorer.topics.stages.questions import (
    BRANCH,
    GRADIENT_PASSES,
    GRAPH,
    OTHER_VALUES,
    TOPIC,
    TRAINING_PASSES,
)
from explorer.topics.stages.readings import computing, for_both_signs, total

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
        one, other = for_both_signs(evidence[question][GRAPH])
        same = same and one["fingerprint"] == other["fingerprint"]
        again += one["compiled again"] + other["compiled again"]

    one_tape_for_all = True
    tapes: list[Observation] = []
    for party in ("torch", "mindspore-tape"):  # PyTorch's is cited beside it, not judged
        one, other = for_both_signs(evidence[BRANCH][party])
        for which, figures in (("first", one), ("second", other)):
            what = f"tape of a branch on a value, {which} input"
            as_stated = one["tape"] == other["tape"] if party != "torch" else None
            tapes.append(Observation(what, " + ".join(figures["tape"]), (party,), as_stated))
        if party == "mindspore-tape":
            one_tape_for_all = one["tape"] == other["tape"]

    branch, _ = for_both_signs(evidence[BRANCH][GRAPH])
    of_both = f"{computing(branch)} operators in {branch['graphs']} graphs, with both sides"
    seen = (
        Observation(
            "graph for two inputs, also of a branch on a value",
            "the same" if same else "not the same",
            (GRAPH,),
            same,
        ),
        Observation("graph of the branch", of_both, (GRAPH,)),
        Observation(
            "calls with other values that compile again", f"{again} of 4", (GRAPH,), not again
        ),
        *tapes,
    )
    if not same or again:
        return Ruling(
            "does_not_hold", seen, "Look at the graph of each input; it depends on the values."
        )
    if not one_tape_for_all:
        return Ruling(
            "depends_on_style",
            seen,
            "Rely on one graph for all values in GRAPH_MODE alone; a tape is made anew per call.",
        )
    return Ruling("holds", seen, "Look at the graph once: it serves all values.")


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
    gradient, training = evidence[GRADIENT_PASSES][GRAPH], evidence[TRAINING_PASSES][GRAPH]
    last, step = gradient["passes"][-1], training["passes"][-1]
    calls = len(gradient["written"])
    times = computing(last) / calls if calls else 0.0
    largest = max(total(counts) for counts in gradient["passes"])
    seen = tuple(
        Observation(what, value, (GRAPH,), as_stated)
        for what, value, as_stated in (
            ("calls that the author wrote", str(calls), None),
            (
                "operators in the final graph",
                f"{computing(last)}: {last['forward']} forward, {last['backward']} backward",
                times >= expects["times"],
            ),
            ("nodes in the largest pass", str(largest), None),
            (
                "operators in the final graph of a training step",
                f"{step['forward']} forward, {step['backward']} backward, {step['update']} update",
                bool(step["update"]),
            ),
            ("kernels that the training step runs as", str(training["kernels"]), None),
        )
    )
    # No more operators than were written is the contrary; fewer times as many is only less.
    if not step["update"] or times <= 1:
        return Ruling(
            "does_not_hold",
            seen,
            "Count the operators of your own graph: study stages shows them pass by pass.",
        )
    if times < expects["times"]:
        return Ruling(
            "holds_with_changes",
            seen,
            "Expect more operators in the final graph than you wrote, though not many more.",
        )
    return Ruling(
        "holds",
        seen,
        "Read a dumped graph from its last pass, and look for the optimizer's operators in it too.",
    )
