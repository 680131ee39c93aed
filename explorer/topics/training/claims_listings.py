"""Claims about what the guide lists: parameters, labels, momentum, optimizers without counterpart."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from explorer.model.claim import Observation, Ruling
from explorer.model.measurement import Figures
from explorer.model.message import Message, Text
from explorer.numeric.differences import greatest_difference
from explorer.scenario.layouts import RENAMES
from explorer.text.messages import first_clause, first_statement
from explorer.text.numbers import digits
from explorer.topics.attempts import raised, said
from explorer.topics.evidence import Evidence
from explorer.topics.messages import style_name
from explorer.topics.observations import for_each, holds_or, observed, of_each
from explorer.topics.question import FRAMEWORKS
from explorer.topics.training.figures import listed, say, some
from explorer.topics.training.inputs import MINIMUM, NEAR_MINIMUM
from explorer.topics.training.questions import (
    EXPORTED_OPTIMIZERS,
    LISTED_FILTERS,
    LISTED_SHAPES,
    LOOKED_UP,
    MINIMIZED,
    MOMENTUM,
    SCALED_STEP,
    THOR,
    TOPIC,
    UNMATCHED_IN_MINDSPORE,
    UNMATCHED_IN_TORCH,
    UNMATCHED_UPDATES,
)
from explorer.topics.training.update_rules import (
    FUSED,
    MEANT,
    MINDSPORE_PLACES,
    NEAR,
    PRINTED,
    left,
    styles_that_agree,
)


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


@TOPIC.claim(
    62,
    "PyTorch's ASGD and LBFGS have no counterpart in MindSpore.",
    heading="optimizers",
    guides=("002",),
    would="neither mindspore.nn nor mindspore.experimental.optim exports an optimizer of either name,"
    " nor does mindspore.scipy.optimize.minimize take one as its method",
    asks=(
        EXPORTED_OPTIMIZERS.by("mindspore"),
        LOOKED_UP.by("torch"),
        UNMATCHED_UPDATES,
        MINIMIZED,
    ),
    expects={"unmatched": UNMATCHED_IN_MINDSPORE},
    sections={"002": "API mapping"},
)
def optimizers_of_torch(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when MindSpore exports none of the names.

    It does not hold when each has one that leaves PyTorch's weights, or that finds the minimum as
    a method of minimize; it is outdated when one of them has, and holds with changes when those that
    it has leave others.
    """
    exported = evidence[EXPORTED_OPTIMIZERS]["mindspore"]
    updates = evidence[UNMATCHED_UPDATES]
    missing, matching, parting, methods = [], [], [], []
    for name in expects["unmatched"]:
        places = [place for place in MINDSPORE_PLACES if _is_among(name, exported[place])]
        minimized = evidence[MINIMIZED]["mindspore"].get(name)
        if not places and minimized is not None and _is_at_minimum(minimized):
            methods.append(f'scipy.optimize.minimize(method="{name}")')
        elif not places:
            missing.append(name)
        for place in places:
            if _leaves(updates[place].get(name), updates["torch"].get(name)):
                matching.append(f"{place}.{name}")
            else:
                parting.append(f"{place}.{name}")

    gone = [name for name, figure in evidence[LOOKED_UP]["torch"].items() if raised(figure)]
    seen = _groups_seen(
        {
            "in_mindspore": (matching, False),
            "in_mindspore_other": (parting, False),
            "method_in_mindspore": (methods, False),
            "not_in_mindspore": (missing, True),
            "not_in_torch_either": (gone, None),
        }
    )
    there = [*matching, *methods]
    if there and missing:
        advice = say("use_matching_write_missing", optimizers=there, missing=missing)
        return Ruling("outdated", seen, advice)
    if methods and not parting:
        advice = say("use_matching_or_method", optimizers=matching, methods=methods)
        return Ruling("does_not_hold", seen, advice)
    if matching:
        return Ruling("does_not_hold", seen, say("use_matching", optimizers=matching))
    if parting:
        advice = say("compare_before_use", optimizers=parting)
        return Ruling("holds_with_changes", seen, advice)
    return Ruling("holds", seen)


def _is_at_minimum(figure: Any) -> bool:
    """Whether what was minimized ended at its minimum."""
    if raised(figure):
        return False
    return greatest_difference(figure, list(MINIMUM)) <= NEAR_MINIMUM


@TOPIC.claim(
    64,
    "MindSpore's ProximalAdagrad, AdamOffload, FTRL, Lamb and thor have no counterpart in PyTorch.",
    heading="optimizers",
    guides=("002",),
    would="torch.optim has none of the names, and no optimizer that leaves the same weights",
    asks=(LOOKED_UP.by("mindspore"), EXPORTED_OPTIMIZERS.by("torch"), UNMATCHED_UPDATES, THOR),
    expects={"meant": {"ProximalAadagrad": "ProximalAdagrad"}},
    sections={"002": "API mapping"},
)
def optimizers_of_mindspore(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when PyTorch has neither the names nor an optimizer that leaves the same weights.

    Outdated when it has one of the names, or MindSpore none any more; does not hold when one of its
    own leaves the same weights. Where none takes a step here, it is not checkable.
    """
    looked_up = evidence[LOOKED_UP]["mindspore"]
    exported = evidence[EXPORTED_OPTIMIZERS]["torch"]["torch"]
    updates = evidence[UNMATCHED_UPDATES]
    by_name, alone, uncompared = [], [], []
    by_weights: list[Text] = []
    for printed in UNMATCHED_IN_TORCH:
        name = expects["meant"].get(printed, printed)
        weights = updates["nn"].get(name)
        equals = _same_weights(weights, updates["torch"])
        if _is_among(name, exported):
            by_name.append(name)
        elif equals:
            by_weights.append(say("optimizer_and", optimizer=name, others=equals))
        elif weights is None or raised(weights):
            uncompared.append(name)
        else:
            alone.append(name)

    misprints = [said(figure) for figure in looked_up.values() if raised(figure)]
    refused = {**updates["nn"], "thor": evidence[THOR]["mindspore"]["step"]}
    seen = _groups_seen(
        {
            "misprint": (misprints, None),
            "in_torch": (by_name, False),
            "in_torch_by_weights": (
                by_weights,
                False,
            ),
            "not_in_torch": (alone, True),
            "weights_not_compared": (uncompared, None),
            "no_step_here": (_refusals(refused), None),
        }
    )
    if by_name:
        return Ruling("outdated", seen, say("use_torch_name", optimizers=by_name))
    if len(misprints) == len(looked_up):
        return Ruling("outdated", seen)
    if by_weights and alone:
        advice = say("use_other_name_write_rest", optimizers=by_weights, others=alone)
        return Ruling("does_not_hold", seen, advice)
    if by_weights:
        return Ruling("does_not_hold", seen, say("use_other_name", optimizers=by_weights))
    return holds_or("not_checkable_here", seen, bool(alone))


def _is_among(name: str, exported: Iterable[str]) -> bool:
    # MindSpore's AdaMax is PyTorch's Adamax.
    return name.lower() in {other.lower() for other in exported}


def _leaves(path: Any, reference: Any) -> bool:
    """Whether an optimizer leaves the weights of another after every gradient."""
    if path is None or reference is None or raised(path) or raised(reference):
        return False
    return greatest_difference(path, reference) <= NEAR


def _same_weights(path: Any, others: Figures) -> list[str]:
    """The optimizers of PyTorch that leave the same weights."""
    return [f"torch.optim.{name}" for name, other in others.items() if _leaves(path, other)]


def _refusals(attempts: Figures) -> list[Message]:
    """What kept optimizers from taking a step, with their names."""
    refusals = []
    for name, figure in attempts.items():
        if raised(figure):
            error = first_statement(figure["message"])
            refusals.append(say("optimizer_and", optimizer=name, others=(error,)))
    return refusals


def _groups_seen(
    groups: Mapping[str, tuple[Sequence[Text], bool | None]],
) -> tuple[Observation, ...]:
    """The groups that have members, with whether the statement says of them what they are."""
    rows = []
    for what, (names, as_stated) in groups.items():
        if names:
            rows.append(Observation(say(what), listed(names), expected=as_stated))
    return tuple(rows)
