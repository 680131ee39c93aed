"""The claim about operators on Ascend (row 77)."""

from collections.abc import Iterator, Mapping
from typing import Any

from explorer.model.claim import Observation, Ruling
from explorer.topics.attempts import raised
from explorer.topics.evidence import Evidence, grouped
from explorer.topics.operators.questions import ASCEND_OPERATORS, TOPIC


@TOPIC.claim(
    77,
    "On Ascend Conv, Sort and TopK take float16 alone, and strides of Conv and pooling are limited.",
    heading="operators",
    guides=("001",),
    sections={"001": "Considerations for MindSpore Network Authoring"},
    would="On an Ascend NPU the three operators refuse float32, and a great stride is refused.",
    asks=(ASCEND_OPERATORS,),
)
def ascend_limits(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when Ascend refuses float32 to all three and a stride; with changes when a part of it.

    It is outdated when Ascend takes all of it, and can be checked on an Ascend NPU alone.
    """
    figures = evidence[ASCEND_OPERATORS]["mindspore"]
    target, dtypes, strides = figures["target"], figures["dtypes"], figures["strides"]
    seen = (
        Observation("device here", target, ("mindspore",)),
        *_grouped("dtype of the result of", dtypes),
        *_grouped("width of the result by stride of", strides),
    )
    if target != "Ascend":
        return Ruling(
            "not_checkable_here",
            seen,
            "Run this row on an Ascend NPU before you cast Conv, Sort and TopK to float16.",
        )
    in_float32 = {name: figure for name, figure in dtypes.items() if name.endswith("float32")}
    refused, limited = _refused(in_float32), _refused(strides)
    if not refused and not limited:
        return Ruling("outdated", seen, "Leave dtypes and strides as they are.")
    advice = f"Change what is refused: {', '.join([*refused, *limited])}."
    if len(refused) == len(in_float32) and limited:
        return Ruling("holds", seen, f"{advice} Scale the loss where you take float16.")
    return Ruling("holds_with_changes", seen, advice)


def _refused(figures: Mapping[str, Any]) -> list[str]:
    return [name for name, figure in figures.items() if raised(figure)]


def _grouped(what: str, figures: Mapping[str, Any]) -> Iterator[Observation]:
    """What operators gave or raised; those that did the same are one row."""
    for names, text in grouped({name: _shown(figure) for name, figure in figures.items()}):
        yield Observation(f"{what} {', '.join(names)}", text, ("mindspore",))


def _shown(figure: Any) -> str:
    return f"raises {figure['raised']}" if raised(figure) else str(figure)
