"""Claims about the guide's listings of a net: the parameters they choose, the labels they take."""

from collections.abc import Iterator, Mapping
from typing import Any

from explorer.model.claim import Observation, Ruling
from explorer.model.measurement import Figures
from explorer.scenario.layouts import RENAMES
from explorer.text.messages import first_clause
from explorer.topics.attempts import raised, said
from explorer.topics.evidence import Evidence
from explorer.topics.observations import observed
from explorer.topics.question import FRAMEWORKS
from explorer.topics.training.questions import LISTED_FILTERS, LISTED_SHAPES, TOPIC


@TOPIC.claim(
    68,
    "The listings of both frameworks that train all but the convolution choose the same parameters.",
    heading="optimizers",
    guides=("002",),
    would="both optimizers hold the scale and the shift of the batch norm",
    asks=(LISTED_FILTERS,),
    sections={"002": "Arguments of the base class: parameters to train"},
)
def filters(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when both listings choose the same, as they are printed.

    With changes when one of them chooses running statistics beside.
    """
    mindspore, torch = evidence[LISTED_FILTERS]["mindspore"], evidence[LISTED_FILTERS]["torch"]
    printed = (mindspore["as printed"], torch["as printed"])
    meant = (mindspore["as meant"], torch["as meant"])
    are_same = _are_same(*printed)
    seen = (
        *observed(
            "parameters chosen, as printed",
            dict(zip(FRAMEWORKS, printed, strict=True)),
            _chosen,
            dict.fromkeys(FRAMEWORKS, are_same),
        ),
        *observed(
            "parameters chosen, as meant", dict(zip(FRAMEWORKS, meant, strict=True)), _chosen
        ),
    )
    if are_same:
        return Ruling("holds", seen, "Filter by name as the guide does.")
    if _are_same(_trained(printed[0]), _trained(printed[1])):
        return Ruling(
            "holds_with_changes",
            seen,
            "Filter trainable_params(): running statistics are not trained.",
        )
    if _are_same(*meant):
        return Ruling(
            "does_not_hold",
            seen,
            'Ask for `"conv" not in name` in both, of trainable_params() and named_parameters().',
        )
    return Ruling(
        "does_not_hold", seen, "Print the names that you filter before you train some of them."
    )


def _trained(names: Any) -> Any:
    """What was chosen, without running statistics."""
    if raised(names):
        return names
    return [name for name in names if "moving" not in name and "running" not in name]


def _are_same(names: Any, torch_names: Any) -> bool:
    """Whether both chose the same parameters, by PyTorch's names."""
    if raised(names) or raised(torch_names):
        return False
    return {_torch_name(name) for name in names} == set(torch_names)


def _torch_name(name: str) -> str:
    layer, _, last = name.rpartition(".")
    return f"{layer}.{RENAMES.get(last, last)}"


def _chosen(names: Any) -> str:
    return said(names) if raised(names) else ", ".join(names) or "nothing"


@TOPIC.claim(
    69,
    "Conv2d(3, 64, 3) without further settings makes of a (64, 32) picture one of (64, 32) in"
    " MindSpore's listing, and of (62, 30) in PyTorch's.",
    heading="optimizers",
    guides=("002",),
    would="a step of each listing takes the label of its own shape",
    asks=(LISTED_SHAPES,),
    sections={"002": "Basic usage"},
    expects={"mindspore": [1, 64, 64, 32], "torch": [1, 64, 62, 30]},
)
def shapes(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when each listing's step runs, with an output of its label's shape.

    Outdated when MindSpore's runs with PyTorch's label instead: its default pads no more.
    """
    both = evidence[LISTED_SHAPES]
    mindspore, torch = both["mindspore"], both["torch"]
    as_listed = {
        "mindspore": mindspore["as printed"] == expects["mindspore"],
        "torch": torch["as printed"] == expects["torch"],
    }
    seen = (
        *observed(
            "shape of the output, as printed",
            {framework: figures["as printed"] for framework, figures in both.items()},
            _shape,
            as_listed,
        ),
        *_steps_seen(both),
    )
    if all(as_listed.values()):
        if mindspore["padded as in PyTorch"] == expects["torch"]:
            advice = 'Say pad_mode="valid" in MindSpore where PyTorch\'s Conv2d has no padding'
        else:
            advice = "Print the shapes of both nets: no setting that was tried makes them equal"
        return Ruling("holds", seen, f"{advice}.")
    if as_listed["torch"] and mindspore["with PyTorch's label"] == expects["torch"]:
        return Ruling("outdated", seen, "Carry Conv2d over as it is: neither pads by default.")
    return Ruling(
        "does_not_hold", seen, "Print the shape of the output before you make a label for it."
    )


def _steps_seen(both: Mapping[str, Figures]) -> Iterator[Observation]:
    """The shape of the output after a step with another label or padding, or why it failed."""
    for framework, figures in both.items():
        for way, figure in figures.items():
            if way != "as printed":
                yield Observation(f"shape of the output, {way}", _shape(figure), (framework,))


def _shape(figure: Any) -> str:
    if raised(figure):
        return f"{figure['raised']}: {first_clause(figure['message'])}"
    return str(tuple(figure))
