"""The claim about what graph style does not take: variable indices, dynamic shapes (row 39)."""

from collections.abc import Iterator, Mapping
from typing import Any

from explorer.model.claim import Observation, Ruling
from explorer.model.measurement import Figures
from explorer.numeric.differences import greatest_difference
from explorer.topics.attempts import raised, said
from explorer.topics.evidence import Evidence, grouped
from explorer.topics.networks.questions import COMPILATIONS, SLICES, TOPIC
from explorer.topics.networks.shared import INDEXING

TOLERANCE = 1e-5
"""Up to this difference graph and tape give the same, in float32."""

SLICING = tuple(function.__name__ for function in INDEXING)
"""The functions that read or write by variable indices."""

GRAPH = "mindspore-graph"

AS_ON_THE_TAPE = "value and gradient as on the tape"
"""What is said of a construct that graph style takes."""

REFUSED_EVERYWHERE = "refused, on the tape too"
"""What is said of a construct that no style takes."""


@TOPIC.claim(
    39,
    "Slicing by variable indices and dynamic shapes are restricted in graph style.",
    heading="networks",
    guides=("001",),
    sections={"001": "Considerations for MindSpore Network Authoring"},
    would=(
        "Graph style refuses to read and write by indices that the tape takes, and vectors whose "
        "length is not declared before."
    ),
    asks=(SLICES, COMPILATIONS),
)
def graph_limits(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when graph style refuses all of it, with changes when a part; else it is outdated.

    Each way to read or write by an index is judged by itself, with its gradient. Loops up to a
    tensor's value stand beside them: the statement is not about these.
    """
    slices = evidence[SLICES]["mindspore"]
    compiled = evidence[COMPILATIONS]["mindspore"]
    outcomes = {}
    for name in slices:
        if name.endswith(".graph"):
            construct = name.removesuffix(".graph")
            outcomes[construct] = _in_graph_style(slices, construct)
    restricted = _restricted(outcomes)
    shapes_are_restricted = raised(compiled["dynamic"]) or compiled["dynamic"] > 1
    shapes = said(compiled["dynamic"]) if raised(compiled["dynamic"]) else compiled["dynamic"]
    seen = (
        *_outcomes_seen(outcomes),
        Observation(
            f"compilations of {compiled['lengths']} lengths of a vector",
            str(compiled["fixed"]),
            (GRAPH,),
        ),
        Observation(
            "compilations with a dynamic dimension declared",
            str(shapes),
            (GRAPH,),
            shapes_are_restricted,
        ),
    )
    advice = " ".join(_advice_on_graphs(outcomes, compiled))
    if not restricted and not shapes_are_restricted:
        return Ruling("outdated", seen, advice)
    if shapes_are_restricted and len(restricted) == len(SLICING):
        return Ruling("holds", seen, advice)
    return Ruling("holds_with_changes", seen, advice)


def _outcomes_seen(outcomes: Mapping[str, str]) -> Iterator[Observation]:
    """What becomes of the constructs in graph style; of loops the statement says nothing."""
    restricted = _restricted(outcomes)
    fates: dict[str, tuple[str, bool | None]] = {}
    for name, outcome in outcomes.items():
        fates[name] = (outcome, name in restricted if name in SLICING else None)
    for names, (outcome, as_stated) in grouped(fates):
        yield Observation(", ".join(names), outcome, (GRAPH,), as_stated)


def _in_graph_style(slices: Figures, construct: str) -> str:
    """What becomes of a construct in graph style: of its value, and of its gradient."""
    graph, tape = slices[f"{construct}.graph"], slices[f"{construct}.tape"]
    for what in ("value", "gradient"):
        if raised(graph[what]) and raised(tape[what]):
            return REFUSED_EVERYWHERE
        if raised(graph[what]):
            return f"the {what} is refused ({said(graph[what])})"
        if not raised(tape[what]) and greatest_difference(graph[what], tape[what]) > TOLERANCE:
            return f"the {what} is another than on the tape"
    return AS_ON_THE_TAPE


def _restricted(outcomes: Mapping[str, str]) -> list[str]:
    """The ways to read or write that graph style alone does not take, or takes for another."""
    unrestricted = (AS_ON_THE_TAPE, REFUSED_EVERYWHERE)
    return [name for name in SLICING if outcomes[name] not in unrestricted]


def _advice_on_graphs(outcomes: Mapping[str, str], compiled: Figures) -> Iterator[str]:
    """What to do in graph style, by what became of each construct there."""
    restricted = _restricted(outcomes)
    if not restricted:
        yield "Read and write by tensors and masks in graph style as on the tape."
    elif len(restricted) < len(SLICING):
        yield f"Run {', '.join(restricted)} on the tape, or index by constants there."
    else:
        yield "Index by constants in graph style, or run that part on the tape."
    if raised(compiled["dynamic"]) or compiled["dynamic"] > 1:
        yield "Pad to one length: each length is compiled anew."
    elif compiled["fixed"] > 1:
        yield "Declare varying dimensions with set_inputs(Tensor(shape=[None])): one compilation."
    if outcomes["loop_to_tensor"] != AS_ON_THE_TAPE:
        with_while = outcomes["while_below_tensor"] == AS_ON_THE_TAPE
        instead = "write a while loop" if with_while else "loop over a number known beforehand"
        yield f"In place of range(tensor) {instead}."
