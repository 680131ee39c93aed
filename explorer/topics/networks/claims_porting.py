"""Claims about writing a net: lists of Parameters, precision, inference first (rows 74, 76, 78)."""

from collections.abc import Iterator, Mapping
from typing import Any

from explorer.model.claim import Observation, Ruling
from explorer.model.measurement import Figures
from explorer.numeric.differences import greatest_difference
from explorer.text.messages import first_clause
from explorer.topics.attempts import raised
from explorer.topics.evidence import Evidence
from explorer.topics.networks.batches import SAMPLES
from explorer.topics.networks.questions import AMP_LEVEL, BATCHES, PARAMETERS, TOPIC
from explorer.topics.observations import observed
from explorer.topics.question import MINDSPORE_STYLES
from explorer.topics.styles import by_style

HEADING = "networks"

TOLERANCE = 1e-5
"""Up to this difference outputs are the same: batch norm divides by a root in float32."""

AUTHORING = "Considerations for MindSpore Network Authoring"
"""The section of the guide on building networks that lists what goes wrong."""


@TOPIC.claim(
    74,
    "A list of Parameters registers none of them; a ParameterTuple registers all.",
    heading=HEADING,
    guides=("001",),
    sections={"001": AUTHORING},
    would="A net with a list of two Parameters has none to train, one with a ParameterTuple two.",
    asks=(PARAMETERS,),
    expects={"list": 0, "container": 2},
)
def lists_of_parameters(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when MindSpore's list registers nothing and its ParameterTuple both Parameters."""
    answers = evidence[PARAMETERS]
    mindspore, torch = answers["mindspore"], answers["torch"]
    seen = (
        *_registered("mindspore", mindspore, expects),
        *_registered("torch", torch, {}),
    )
    if len(mindspore["ParameterTuple"]["registered"]) != expects["container"]:
        return Ruling(
            "does_not_hold", seen, "Keep each Parameter under a name of its own in the Cell."
        )
    if len(mindspore["list"]["registered"]) != expects["list"]:
        return Ruling(
            "outdated", seen, "Keep Parameters in a list or a ParameterTuple: both register now."
        )
    return Ruling(
        "holds",
        seen,
        "Write ParameterTuple where PyTorch has ParameterList: a net with a list gives outputs, and"
        " is not trained.",
    )


def _registered(
    framework: str, containers: Figures, expects: Mapping[str, int]
) -> Iterator[Observation]:
    """How many Parameters each container registers; what is said of ParameterTuple is expected."""
    said_of = {"list": "list", "ParameterTuple": "container"}
    for name, figures in containers.items():
        count, expected = len(figures["registered"]), expects.get(said_of.get(name, ""))
        value = (
            f"{count} registered, {len(figures['gradients'])} gradients,"
            f" output {figures['value']:g}"
        )
        as_stated = None if expected is None else count == expected
        yield Observation(f"a {name} of two Parameters", value, (framework,), as_stated)


@TOPIC.claim(
    76,
    "Mixed precision of one's own, by to_float, conflicts with amp_level of Model.",
    heading=HEADING,
    guides=("001",),
    sections={"001": AUTHORING},
    would="Layers compute in another precision than their own once Model is given a level.",
    asks=(AMP_LEVEL,),
)
def own_precision(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when a level changes the dtypes of the layers' outputs, or raises, in both styles."""
    answers = evidence[AMP_LEVEL]
    conflicts: dict[str, bool] = {}
    silent: dict[str, None] = {}  # an ordered set
    for style, levels in answers.items():
        own = levels["O0"]
        conflicts[style] = any(dtypes != own for dtypes in levels.values())
        for level, dtypes in levels.items():
            if dtypes != own and not raised(dtypes):
                silent[level] = None
    seen = tuple(_dtypes_seen(answers))
    verdict = by_style(conflicts)
    if verdict == "does_not_hold":
        return Ruling(verdict, seen, "Give amp_level too where you like: your precision is kept.")
    how = f"{' and '.join(silent)} change it without a word" if silent else "the level raises"
    where = "" if verdict == "holds" else " in one style"
    return Ruling(verdict, seen, f"Leave amp_level out where you call to_float: {how}{where}.")


def _dtypes_seen(answers: Mapping[str, Figures]) -> Iterator[Observation]:
    """The dtypes by level; a conflict is one that O0, which leaves the layers alone, has not."""
    for level in answers[MINDSPORE_STYLES[0]]:
        dtypes = {style: levels[level] for style, levels in answers.items()}
        as_stated: dict[str, bool] = {}
        if level != "O0":
            as_stated = {style: dtypes[style] != answers[style]["O0"] for style in answers}
        what = f"dtypes of dense, batch norm, dense with amp_level {level}"
        yield from observed(what, dtypes, _dtypes, as_stated)


def _dtypes(figure: Any) -> str:
    if raised(figure):
        return f"{figure['raised']}: {first_clause(figure['message'])}"
    return ", ".join(figure)


@TOPIC.claim(
    78,
    "Check inference before training: with the same weights the outputs are the same; take batches"
    " of one, or drop_remainder=False.",
    heading=HEADING,
    guides=("001",),
    sections={"001": "Principles of Network Inference"},
    would=(
        "Inference gives both frameworks' outputs for every sample, whatever the batch size, unless"
        " the rest is dropped."
    ),
    asks=(BATCHES,),
)
def inference_first(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when MindSpore's outputs are PyTorch's for all samples, one by one and in batches.

    It is judged by style. It holds with changes where dropping the rest loses nothing.
    """
    answers = evidence[BATCHES]
    reference = answers["torch"]["one by one"]
    right: dict[str, bool] = {}
    loses: dict[str, bool] = {}
    for style in MINDSPORE_STYLES:
        figures = answers[style]
        same = [
            _same(figures["one by one"], reference),
            _same(figures["keeping the rest"], reference),
            figures["again"] == figures["by default"],
        ]
        right[style] = all(same)
        loses[style] = len(figures["dropping the rest"]) < len(SAMPLES)
    seen = tuple(_batches_seen(answers, reference))

    verdict = by_style(right)
    if verdict == "depends_on_style":
        return Ruling(verdict, seen, "Infer in the style whose outputs are PyTorch's.")
    if verdict == "does_not_hold":
        return Ruling(
            verdict, seen, "Compare layer by layer: equal weights do not give equal outputs."
        )
    if not all(loses.values()):
        return Ruling(
            "holds_with_changes", seen, "Batch as you like: drop_remainder drops nothing any more."
        )
    keeps = all(len(answers[style]["by default"]) == len(SAMPLES) for style in MINDSPORE_STYLES)
    default = "keep the default, which drops nothing" if keeps else "write drop_remainder=False"
    return Ruling(
        "holds",
        seen,
        f"Compare inference first; in batches, {default}, or the score lacks samples.",
    )


def _same(outputs: Any, reference: Any) -> bool:
    return greatest_difference(outputs, reference) <= TOLERANCE


def _batches_seen(answers: Mapping[str, Figures], reference: Any) -> Iterator[Observation]:
    """How far outputs are from PyTorch's, and how many samples each way to batch leaves."""
    differences: dict[str, float] = {}
    for style in MINDSPORE_STYLES:
        differences[style] = greatest_difference(answers[style]["one by one"], reference)
    near = {style: difference <= TOLERANCE for style, difference in differences.items()}
    what = "greatest difference from PyTorch's outputs, one by one"
    yield from observed(what, differences, "{:.2g}".format, near)
    for way, is_whole in (
        ("by default", None),
        ("keeping the rest", True),
        ("dropping the rest", False),
    ):
        counts = {party: len(figures[way]) for party, figures in answers.items()}
        as_stated: dict[str, bool] = {}
        if is_whole is not None:
            as_stated = {
                party: (count == len(SAMPLES)) == is_whole for party, count in counts.items()
            }
        yield from observed(f"outputs of {len(SAMPLES)} samples, {way}", counts, str, as_stated)
