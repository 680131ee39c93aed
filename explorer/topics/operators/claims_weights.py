"""Claims about layers' weights: what evaluation learns, and where they start (rows 71 and 72)."""

from collections.abc import Iterator, Mapping
from typing import Any

from explorer.model.claim import Observation, Ruling
from explorer.model.measurement import Figures
from explorer.topics.attempts import raised
from explorer.topics.evidence import Evidence, flat_numbers
from explorer.topics.observations import observed
from explorer.topics.operators.questions import (
    BATCH_NORM_STATES,
    EVALUATED_BATCH_NORM,
    IMPLICIT_WEIGHTS,
    TOPIC,
)
from explorer.topics.operators.readings import close
from explorer.topics.operators.wording import SHORT, short

STATE = "track_running_stats=False, inference"
"""The state of PyTorch's batch norm that the guide says learns nothing."""

STYLES = ("torch-tape", "torch-graph")

SAMPLED = 1.1
"""Standard deviations within this ratio may be of one distribution.

Of a thousand draws, the fewest here, it is within 3 percent.
"""


@TOPIC.claim(
    71,
    "In evaluation with track_running_stats=False, PyTorch's batch norm does what it does in"
    " training, and does not learn weight and bias.",
    heading="operators",
    guides=("000",),
    sections={"000": "nn.BatchNorm2d"},
    would="Outputs are those of training mode; weight and bias have no gradient, or one of zeros.",
    asks=(EVALUATED_BATCH_NORM, BATCH_NORM_STATES.by(*STYLES)),
)
def evaluation_learns_nothing(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when neither style has a gradient of weight or bias, and a step leaves both alone."""
    steps = evidence[EVALUATED_BATCH_NORM]["torch"]
    evaluation, training = steps["evaluation"], steps["training"]
    states = evidence[BATCH_NORM_STATES]
    learns: dict[str, bool] = {}
    gradients: dict[str, Any] = {}
    for style in STYLES:
        state = states[style][STATE]
        learns[style] = not raised(state) and any(flat_numbers(state["gradients"][1:]))
        gradients[style] = state if raised(state) else state["gradients"][1:]
    moved = evaluation["after"] != evaluation["before"]
    alike = close(evaluation["output"], training["output"])
    seen = (
        *observed(
            "gradients of weight and bias in evaluation",
            gradients,
            short,
            {style: not learns[style] for style in STYLES},
        ),
        Observation("weight and bias", short(evaluation["before"]), ("torch",)),
        Observation(
            "weight and bias after a step of SGD in evaluation",
            short(evaluation["after"]),
            ("torch",),
            not moved,
        ),
        Observation(
            "output in evaluation is that of training mode", SHORT[alike], ("torch",), alike
        ),
        Observation("running mean", short(evaluation["running mean"]), ("torch",)),
    )
    if learns["torch-tape"] != learns["torch-graph"]:
        return Ruling(
            "depends_on_style", seen, "Freeze weight and bias with requires_grad_(False)."
        )
    if moved or all(learns.values()):
        return Ruling(
            "does_not_hold",
            seen,
            "Freeze weight and bias with requires_grad_(False): eval() stops no gradient.",
        )
    if not alike:
        return Ruling(
            "does_not_hold", seen, "Compare the outputs of both modes before you rely on either."
        )
    return Ruling("holds", seen, "Expect no update of weight and bias from such a layer.")


LAYERS = ("conv", "dense", "embedding", "lstm")
"""The layers of which the guide says that they declare weights; it says more of the first two."""

NORMS = ("batch norm", "layer norm", "group norm")


@TOPIC.claim(
    72,
    "Conv, Dense, Embedding and LSTM start from other weights than PyTorch's, Conv and Dense most"
    " of all.",
    heading="operators",
    guides=("000",),
    sections={"000": "Different Default Weight Initialization"},
    would=(
        "The standard deviations of all four differ between the frameworks, and those of Conv and"
        " Dense by the greatest factors."
    ),
    asks=(IMPLICIT_WEIGHTS,),
)
def weights_start_elsewhere(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when the four layers differ, Conv and Dense most; outdated when those two agree.

    It holds with changes when they differ, and others more, or not all do.
    """
    answers = evidence[IMPLICIT_WEIGHTS]
    mindspore, torch = answers["mindspore"], answers["torch"]
    factors = {layer: _factor(mindspore, torch, layer) for layer in (*LAYERS, *NORMS)}
    differing = [layer for layer in LAYERS if factors[layer] > SAMPLED]
    norms_apart = [norm for norm in NORMS if factors[norm] > SAMPLED]
    seen = (
        *_starts(answers),
        *(
            Observation(
                f"ratio of the standard deviations of MindSpore and PyTorch, {layer}",
                f"{factors[layer]:.3g}",
                expected=factors[layer] > SAMPLED,
            )
            for layer in LAYERS
        ),
        Observation("normalisations that start differently", ", ".join(norms_apart) or "none"),
    )

    to_set = ", ".join([*differing, *norms_apart]) or "nothing"
    if not {"conv", "dense"} & set(differing):
        return Ruling(
            "outdated",
            seen,
            f"Leave Conv and Dense as they are, and set by hand: {to_set}.",
        )
    least = min(factors["conv"], factors["dense"])
    most_elsewhere = max(factors["embedding"], factors["lstm"])
    advice = f"Set the initial values by hand of: {to_set}."
    if len(differing) == len(LAYERS) and least >= most_elsewhere:
        return Ruling("holds", seen, advice)
    return Ruling("holds_with_changes", seen, advice)


def _factor(mindspore: Figures, torch: Figures, layer: str) -> float:
    """By what factor the deviations of a layer's values differ, of the one that differs most.

    Constants differ by an infinite factor, or by 1 where they are the same.
    """
    greatest = 1.0
    for name, values in mindspore.items():
        if not name.startswith(f"{layer} "):
            continue
        other = torch[name]
        least, most = sorted((values["std"], other["std"]))
        if least:
            factor = most / least
        else:
            factor = 1.0 if most == 0 and values["mean"] == other["mean"] else float("inf")
        greatest = max(greatest, factor)
    return greatest


def _starts(answers: Mapping[str, Figures]) -> Iterator[Observation]:
    """Where each layer's weights start, by library."""
    names = {layer: f"{layer} weight" for layer in LAYERS}
    names |= {"lstm": "lstm input weight", "lstm bias": "lstm bias"}
    for name in names.values():
        values = {library: figures[name] for library, figures in answers.items()}
        yield from observed(f"initial values of {name}", values, _start)


def _start(values: Figures) -> str:
    return f"in [{values['minimum']:.3g}, {values['maximum']:.3g}], std {values['std']:.3g}"
