"""Claims about optimizers without counterpart: names looked up, and weights compared."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from explorer.model.claim import Observation, Ruling
from explorer.model.measurement import Figures
from explorer.model.message import Message, Text
from explorer.numeric.differences import greatest_difference
from explorer.text.messages import first_statement
from explorer.topics.attempts import raised, said
from explorer.topics.evidence import Evidence
from explorer.topics.observations import holds_or
from explorer.topics.training.differences import NEAR
from explorer.topics.training.questions import (
    EXPORTED_OPTIMIZERS,
    LOOKED_UP,
    THOR,
    TOPIC,
    UNMATCHED_IN_MINDSPORE,
    UNMATCHED_IN_TORCH,
    UNMATCHED_UPDATES,
)
from explorer.topics.training.update_rules import MINDSPORE_PLACES
from explorer.topics.training.wording import listed, say


@TOPIC.claim(
    62,
    "PyTorch's ASGD and LBFGS have no counterpart in MindSpore.",
    heading="optimizers",
    guides=("002",),
    would="neither mindspore.nn nor mindspore.experimental.optim exports an optimizer of either name",
    asks=(EXPORTED_OPTIMIZERS.by("mindspore"), LOOKED_UP.by("torch"), UNMATCHED_UPDATES),
    expects={"unmatched": UNMATCHED_IN_MINDSPORE},
    sections={"002": "API mapping"},
)
def optimizers_of_torch(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when MindSpore exports none of the names.

    Outdated when it has one that leaves PyTorch's weights; with changes when those that it has
    leave others.
    """
    exported = evidence[EXPORTED_OPTIMIZERS]["mindspore"]
    updates = evidence[UNMATCHED_UPDATES]
    missing, matching, parting = [], [], []
    for name in expects["unmatched"]:
        places = [place for place in MINDSPORE_PLACES if _is_among(name, exported[place])]
        if not places:
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
            "not_in_mindspore": (missing, True),
            "not_in_torch_either": (gone, None),
        }
    )
    if matching and missing:
        advice = say("use_matching_write_missing", optimizers=matching, missing=missing)
        return Ruling("outdated", seen, advice)
    if matching:
        return Ruling("outdated", seen, say("use_matching", optimizers=matching))
    if parting:
        advice = say("compare_before_use", optimizers=parting)
        return Ruling("holds_with_changes", seen, advice)
    return Ruling("holds", seen)


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
