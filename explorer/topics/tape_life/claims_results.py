"""The claim that graph style keeps no intermediate results (row 70)."""

from typing import Any

from explorer.model.claim import Observation, Ruling
from explorer.text.numbers import counted
from explorer.topics.evidence import Evidence
from explorer.topics.tape_life.questions import GUIDE, LIFETIME, REUSED, TOPIC
from explorer.topics.tape_life.wording import after_forward, close, one_after_the_other

GRAPH = "mindspore-graph"


@TOPIC.claim(
    70,
    "In graph style MindSpore's gradient graph saves no intermediate results, and so can be called"
    " again and again.",
    heading="tape and graph",
    guides=("000", "004"),
    sections={
        "000": "MindSpore Automatic Differentiation",
        "004": "MindSpore Automatic Differentiation",
    },
    would=(
        "nothing but inputs and parameters is kept when the forward part of the graph has ended,"
        " and every call of it is right"
    ),
    asks=(LIFETIME.by(GRAPH).on(GUIDE), REUSED.by(GRAPH)),
)
def no_results_kept(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when the forward part hands nothing of its own to the backward, and calls are right."""
    kept = after_forward(evidence[LIFETIME.by(GRAPH)][GRAPH])
    reused = evidence[REUSED.by(GRAPH)][GRAPH]
    # The net is x³, whose gradient is 3x².
    derivatives = [_tripled_squares(values) for values in reused["inputs"]]
    right = close_all(reused["gradients"], derivatives)
    seen = (
        Observation(
            "kept for the backward when the forward part has ended",
            f"{counted(kept['tensors'], 'tensor')}: {kept['bytes']} bytes of its own and"
            f" {kept['of inputs and parameters']} of inputs and parameters",
            (GRAPH,),
            not kept["bytes"],
        ),
        Observation(
            "calls of one function for the derivative of x³",
            one_after_the_other(reused["gradients"]),
            (GRAPH,),
            right,
        ),
    )
    if not right:
        return Ruling(
            "does_not_hold", seen, "Make the gradient function anew for every call, and compare."
        )
    if kept["bytes"]:
        return Ruling(
            "does_not_hold",
            seen,
            "Count the results that the backward reads into the memory of a step: a graph keeps"
            " them within a call, and nothing from one call to the next.",
        )
    return Ruling("holds", seen, "Expect no memory for results between forward and backward.")


def close_all(gradients: list[Any], derivatives: list[Any]) -> bool:
    """Whether every gradient is near its derivative."""
    pairs = zip(gradients, derivatives, strict=True)
    return all(close(gradient, derivative) for gradient, derivative in pairs)


def _tripled_squares(values: Any) -> Any:
    if isinstance(values, list):
        return [_tripled_squares(value) for value in values]
    return 3 * values * values
