"""Claims about the guide's listings: the parameters they choose, the labels they take, momentum.

Rows 60, 68 and 69.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from explorer.model.claim import Observation, Ruling
from explorer.model.measurement import Figures
from explorer.model.message import Text
from explorer.scenario.layouts import RENAMES
from explorer.text.messages import first_clause, first_statement
from explorer.text.numbers import digits
from explorer.topics.attempts import raised, said
from explorer.topics.evidence import Evidence
from explorer.topics.messages import style_name
from explorer.topics.observations import for_each, observed, of_each
from explorer.topics.question import FRAMEWORKS
from explorer.topics.training.differences import (
    FUSED,
    MEANT,
    PRINTED,
    left,
    styles_that_agree,
)
from explorer.topics.training.questions import (
    LISTED_FILTERS,
    LISTED_SHAPES,
    MOMENTUM,
    SCALED_STEP,
    TOPIC,
)
from explorer.topics.training.wording import say, some


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
    printed_by = dict(zip(FRAMEWORKS, printed, strict=True))
    meant_by = dict(zip(FRAMEWORKS, meant, strict=True))
    as_stated = dict.fromkeys(FRAMEWORKS, are_same)
    seen = (
        *observed(say("chosen_as_printed"), printed_by, _chosen, as_stated),
        *observed(say("chosen_as_meant"), meant_by, _chosen),
    )
    if are_same:
        return Ruling("holds", seen)
    if _are_same(_trained(printed[0]), _trained(printed[1])):
        return Ruling("holds_with_changes", seen)
    return Ruling("does_not_hold", seen, "ask names" if _are_same(*meant) else "")


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


def _chosen(names: Any) -> Text:
    return (
        said(names) if raised(names) else say("names", names=some(names, otherwise=say("nothing")))
    )


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
    printed = of_each(both, "as printed")
    seen = (
        *observed(say("shape_as_printed"), printed, _shape, as_listed),
        *_shapes_seen(both),
    )
    if all(as_listed.values()):
        is_made_equal = mindspore["padded as in PyTorch"] == expects["torch"]
        return Ruling("holds", seen, "pad alike" if is_made_equal else "")
    if as_listed["torch"] and mindspore["with PyTorch's label"] == expects["torch"]:
        return Ruling("outdated", seen)
    return Ruling("does_not_hold", seen)


def _shapes_seen(both: Mapping[str, Figures]) -> Iterator[Observation]:
    """The shape of the output after a step with another label or padding, or why it failed."""
    for framework, figures in both.items():
        for way, figure in figures.items():
            if way != "as printed":
                yield Observation(say(f"shape {way}"), _shape(figure), (framework,))


def _shape(figure: Any) -> str:
    if raised(figure):
        return f"{figure['raised']}: {first_clause(figure['message'])}"
    return str(tuple(figure))


# Momentum written by hand, and the step that scales its loss

MISSING_KERNEL = re.compile(r"Unsupported op \[(?P<operator>\w+)\] on (?P<device>\w+)")
"""How MindSpore says that a device has no kernel of an operator (2.10.0)."""


@TOPIC.claim(
    60,
    "A momentum optimizer can be written from small operators, or around the fused ApplyMomentum;"
    " TrainOneStepWithLossScaleCell scales within the step.",
    heading="optimizers",
    guides=("002", "000"),
    sections={"002": "Custom optimizers", "000": "MindSpore Automatic Differentiation"},
    would="both printed optimizers leave the weight where nn.Momentum does, and the scaled step runs",
    asks=(MOMENTUM, SCALED_STEP),
)
def momentum(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when both printed optimizers take nn.Momentum's steps and the scaled step runs.

    It depends on the style when either is so in one style alone. Not checkable where only a kernel
    is missing.
    """
    styles = evidence[MOMENTUM]["mindspore"]
    steps = evidence[SCALED_STEP]["mindspore"]
    refused = {style: figure for style, figure in steps.items() if raised(figure)}
    seen = (*_momentum_seen(styles), *_steps_seen(steps))

    printed = styles_that_agree(styles, PRINTED)
    if not printed:
        is_repaired = len(styles_that_agree(styles, MEANT)) == len(styles)
        return Ruling("does_not_hold", seen, "repair" if is_repaired else "")
    if len(printed) < len(styles):
        advice = say("printed_in_style", style=style_name(printed[0]))
        return Ruling("depends_on_style", seen, advice)

    if not refused:
        return Ruling("holds", seen)
    if len(refused) < len(steps):
        advice = say("scale_by_hand", styles=tuple(map(style_name, refused)))
        return Ruling("depends_on_style", seen, advice)
    if all(MISSING_KERNEL.search(figure["message"]) for figure in refused.values()):
        return Ruling("not_checkable_here", seen)
    return Ruling("does_not_hold", seen)


def _momentum_seen(styles: dict[str, Any]) -> Iterator[Observation]:
    """What each way leaves of the weight."""
    for way in (FUSED, *PRINTED, *MEANT):
        weights = for_each(left, _by_party(of_each(styles, way)))
        as_stated: dict[str, bool] = {}
        if way in PRINTED:
            agreeing = styles_that_agree(styles, (way,))
            as_stated = {f"mindspore-{style}": style in agreeing for style in styles}
        yield from observed(
            say("weight_after_momentum", way=say.named(way)), weights, _left, as_stated
        )


def _left(outcome: Any) -> str:
    return first_statement(said(outcome)) if raised(outcome) else digits(outcome)


def _steps_seen(steps: dict[str, Any]) -> Iterator[Observation]:
    """The loss of the scaled step or what it raised."""
    losses = _by_party(steps)
    runs = for_each(lambda figure: not raised(figure), losses)
    yield from observed(say("scaled_loss"), losses, _loss, runs)


def _by_party(styles: dict[str, Any]) -> dict[str, Any]:
    """Figures of MindSpore by party, which are there by style."""
    return {f"mindspore-{style}": figure for style, figure in styles.items()}


def _loss(figure: Any) -> Text:
    """A loss, or what was raised, with the hardware that it needs where a name tells."""
    if not raised(figure):
        return str(figure)
    outcome = first_statement(said(figure))
    missing = MISSING_KERNEL.search(figure["message"])
    if missing and missing["operator"].startswith("NPU"):
        return say("needs_npu", error=outcome)
    return outcome
