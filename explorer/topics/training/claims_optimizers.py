"""Claims about optimizers: the parameters they take, their settings, and the state they report.

Rows 53, 57 to 59, 66, 67 and 93.
"""

import operator
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from explorer.model.claim import Observation, Ruling
from explorer.model.measurement import Figures
from explorer.model.message import Message, Text
from explorer.text.messages import first_statement
from explorer.topics import cells
from explorer.topics.attempts import raised, said
from explorer.topics.evidence import Evidence
from explorer.topics.observations import for_each, holds_or, observed, of_each, outcome
from explorer.topics.training.figures import Decayed, Filtered, Group, listed, say, some
from explorer.topics.training.findings_optimizers import (
    decayed_by,
    decaying_by_default,
    groups_by_place,
    names_of,
    spared_weights,
    states_by_place,
)
from explorer.topics.training.inputs import OWN_MOMENTUM, OWN_RATE, RATE
from explorer.topics.training.questions import (
    ADD_PARAM_GROUP,
    FILTERED,
    GROUPS,
    LOSS_SCALE,
    OPTIMIZER_STATE,
    PARAM_GROUPS,
    TAKES_GROUPS,
    TOPIC,
    WEIGHT_DECAY,
)
from explorer.topics.training.update_rules import MINDSPORE_PLACES, NEAR, PLACES


@TOPIC.claim(
    53,
    "trainable_params() is a list, parameters() a generator;"
    " an optimizer can be given some, chosen by name.",
    heading="optimizers",
    guides=("002",),
    sections={"002": "Arguments of the base class: parameters to train"},
    would="the types are list and generator, and a step moves the chosen weights alone in both",
    asks=(FILTERED,),
)
def filtering(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when the chosen weights alone move in both, and the types are the guide's.

    With changes when the types are others.
    """
    both = evidence.records(FILTERED, Filtered)
    mindspore, torch = both["mindspore"], both["torch"]
    keeps = for_each(lambda filtered: sorted(filtered.chosen) == list(filtered.moved), both)
    moved = {framework: filtered.moved for framework, filtered in both.items()}
    is_list, is_generator = mindspore.type == "list", torch.type == "generator"
    chosen = say("moved_by_step_of", chosen=mindspore.chosen)
    seen = (
        Observation(say("type_of_trainable"), mindspore.type, ("mindspore",), is_list),
        Observation(say("type_of_parameters"), torch.type, ("torch",), is_generator),
        *observed(chosen, moved, lambda names: say("names", names=names), keeps),
    )
    if not all(keeps.values()):
        return Ruling("does_not_hold", seen)
    if not is_list or not is_generator:
        return Ruling("holds_with_changes", seen)
    return Ruling("holds", seen, "" if torch.again else "once")


@TOPIC.claim(
    57,
    "Weight decay means the same in both frameworks, and is 0 by default.",
    heading="optimizers",
    guides=("002",),
    sections={"002": "Arguments of the base class: weight decay"},
    would="one step with gradient 0 leaves the same of every weight, and all of it by default",
    asks=(WEIGHT_DECAY,),
)
def weight_decay(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when a decay leaves the same of all weights in both frameworks, and is none by default."""
    answers = evidence.records(WEIGHT_DECAY, dict[str, Decayed])
    mindspore, torch = answers["mindspore"], answers["torch"]
    spared = {place: _spared(mindspore, place) for place in MINDSPORE_PLACES}
    by_default = decaying_by_default(decayed_by(evidence))

    left = {"mindspore": mindspore["nn SGD"], "torch": torch["torch SGD"]}
    decayed = for_each(operator.not_, spared)
    seen = (
        *observed(say("weight_after_decay"), left, _left_of_decay),
        *observed(say("not_decayed"), spared, listed, decayed),
        Observation(say("default_decay"), listed(by_default), (), not by_default),
    )
    if _greatest_decay_difference(mindspore, torch) > NEAR:
        return Ruling("does_not_hold", seen)
    # Neither is a change since: mindspore.nn always spared them, and AdamW has decay in its name.
    advice = tuple(_advice_on_decay(by_default, spared))
    if advice:
        return Ruling("does_not_hold", seen, cells.sentences(*advice))
    return Ruling("holds", seen)


def _advice_on_decay(by_default: list[str], spared: Mapping[str, list[str]]) -> Iterator[Message]:
    """What to do about optimizers that decay by default, and weights that are spared."""
    if by_default:
        yield say("set_decay", optimizers=tuple(by_default))
    for place, names in spared.items():
        if names:
            yield say("group_for_spared", place=place, weights=tuple(names))


DENSE_WEIGHT = "fc.weight"
"""The weight of the dense layer."""


def _left_of_decay(attempts: Decayed) -> Text:
    """What a decay of 0.1 leaves of the dense layer's weight, or why nothing was left."""
    return outcome(attempts.decayed, lambda weights: f"{weights[DENSE_WEIGHT]:.4g}")


def _greatest_decay_difference(
    mindspore: Mapping[str, Decayed], torch: Mapping[str, Decayed]
) -> float:
    """Between what optimizers of MindSpore and of PyTorch leave of the dense layer's weight.

    It is infinite where one of the two takes no decay.
    """
    greatest = 0.0
    for name, attempts in mindspore.items():
        weights, counterpart = attempts.decayed, _torch_counterpart(name, torch).decayed
        if raised(weights) or raised(counterpart):
            return float("inf")
        greatest = max(greatest, abs(weights[DENSE_WEIGHT] - counterpart[DENSE_WEIGHT]))
    return greatest


def _torch_counterpart(name: str, torch: Mapping[str, Decayed]) -> Decayed:
    """PyTorch's optimizer of the same update: nn.Momentum without momentum is SGD."""
    optimizer = name.partition(" ")[2]
    return torch.get(f"torch {optimizer}", torch["torch SGD"])


def _spared(optimizers: Mapping[str, Decayed], place: str) -> list[str]:
    """The weights that any optimizer of a place leaves as they are in spite of a decay, each once."""
    spared: dict[str, None] = {}  # an ordered set
    for name, attempts in optimizers.items():
        if name.startswith(f"{place} ") and not raised(attempts.decayed):
            spared |= dict.fromkeys(spared_weights(attempts.decayed))
    return list(spared)


@TOPIC.claim(
    58,
    "Parameter groups take lr, weight_decay and grad_centralization in MindSpore,"
    " any setting in PyTorch.",
    heading="optimizers",
    guides=("002",),
    sections={"002": "Arguments of the base class: parameter groups"},
    would="MindSpore refuses momentum for a group;"
    " PyTorch uses it, and adds groups later with add_param_group",
    asks=(GROUPS, ADD_PARAM_GROUP),
)
def groups(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when MindSpore refuses a group's own momentum.

    With changes when its experimental optimizers use it, outdated when those of mindspore.nn do.
    """
    settings = groups_by_place(evidence, GROUPS)
    effective = for_each(_effective, settings)
    growing = _growing(groups_by_place(evidence, ADD_PARAM_GROUP))
    centralization = settings["nn"]["grad_centralization, rows of 16"]

    seen = tuple(_group_facts(effective, growing, centralization))
    nn_as_said = {"lr", "weight_decay"} <= set(effective["nn"]) and not _is_unknown(centralization)
    torch_as_said = "momentum" in effective["torch"] and "torch" in growing
    if not nn_as_said or not torch_as_said:
        return Ruling("does_not_hold", seen)
    if "momentum" in effective["nn"]:
        return Ruling("outdated", seen)
    if "momentum" in effective["experimental"]:
        return Ruling("holds_with_changes", seen, "" if "experimental" in growing else "at once")
    return Ruling("holds", seen)


def _effective(settings: Mapping[str, Group]) -> list[str]:
    """The settings that a group accepts and that make a difference to its weight."""
    names = []
    for name, group in settings.items():
        if not group.raised and not group.is_without_effect:
            names.append(name)
    return names


def _group_facts(
    effective: Mapping[str, list[str]], growing: list[str], centralization: Group
) -> Iterator[Observation]:
    as_stated: dict[str, bool] = {}
    additions: dict[str, Message] = {}
    for place, names in effective.items():
        # By the statement, PyTorch alone gives a group momentum of its own.
        as_stated[place] = ("momentum" in names) == (place == "torch")
        additions[place] = say("works" if place in growing else "fails")
    yield from observed(
        say("effective_settings"),
        effective,
        lambda names: listed(map(say.named, names)),
        as_stated,
    )
    yield from observed(say("added_group"), additions)
    if centralization.raised:
        refusal = first_statement(centralization.error)
        yield Observation(say("group_centralization"), refusal, ("nn",))


def _growing(places: Mapping[str, Mapping[str, Group]]) -> list[str]:
    """The places of which some optimizer takes a step after a group was added to it."""
    growing = []
    for place, optimizers in places.items():
        if not all(group.raised for group in optimizers.values()):
            growing.append(place)
    return growing


def _is_unknown(setting: Group) -> bool:
    # A setting whose kernel is missing on this device is refused too, but not as an unknown key.
    return "group params" in setting.message


@TOPIC.claim(
    59,
    "PyTorch's optimizers have a state_dict, MindSpore's none;"
    " get_lr and get_last_lr tell the current rate.",
    heading="optimizers",
    guides=("002",),
    sections={"002": "Methods of the base class: learning rate; state of the optimizer"},
    would="state_dict is there in PyTorch alone; the rates told are the rates set",
    asks=(OPTIMIZER_STATE,),
    expects={"get_lr": 0.1, "get_last_lr": 0.09},
)
def optimizer_state(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when PyTorch alone has a state_dict, and both report the rates that were set.

    Outdated when mindspore.nn has a state_dict too.
    """
    states = states_by_place(evidence)
    has_state_dict = {place: states[place].has["state_dict"] for place in PLACES}
    last_rate = evidence[OPTIMIZER_STATE]["torch"]["scheduler.get_last_lr"][0]
    rates = {"get_lr": states["nn"].get_lr, "get_last_lr": last_rate}

    as_stated = {place: has == (place == "torch") for place, has in has_state_dict.items()}
    loaded = {
        place: state.load_state_dict
        for place, state in states.items()
        if state.load_state_dict is not None
    }
    is_set = {name: _is_rate(rate, expects[name]) for name, rate in rates.items()}
    shown = for_each(partial(outcome, words="{:.4g}".format), rates)
    seen = (
        *observed(say("has_state_dict"), has_state_dict, cells.yes_or_no, as_stated),
        Observation(say("names_in_state_dict"), names_of(states["nn"].state_dict), ("nn",)),
        *observed(say("state_dict_loaded"), loaded, partial(outcome, words=cells.yes_or_no)),
        Observation("get_lr()", shown["get_lr"], ("nn",), is_set["get_lr"]),
        Observation("get_last_lr()", shown["get_last_lr"], ("torch",), is_set["get_last_lr"]),
    )
    if not has_state_dict["torch"] or not all(is_set.values()):
        return Ruling("does_not_hold", seen)
    if has_state_dict["nn"]:
        names = states["nn"].state_dict
        # The weight is the parameter that was trained.
        is_flat = not raised(names) and not {"state", "param_groups"} & set(names)
        if not is_flat or "weight" not in names:
            return Ruling("outdated", seen)
        is_refused = any(raised(loaded.get(place)) for place in MINDSPORE_PLACES)
        return Ruling("outdated", seen, "flat, refused" if is_refused else "flat, weights")
    return Ruling("holds", seen)


def _is_rate(rate: Any, expected: float) -> bool:
    return not raised(rate) and abs(rate - expected) < NEAR


# The base class


@TOPIC.claim(
    66,
    "The argument loss_scale of MindSpore's optimizers divides the gradient;"
    " PyTorch's have no such argument.",
    heading="optimizers",
    guides=("002",),
    would="a step with gradient 4 and loss_scale 4 leaves what a step with gradient 1 leaves",
    asks=(LOSS_SCALE,),
    sections={"002": "Arguments of the base class: mixed precision"},
)
def loss_scale(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when mindspore.nn divides by it, and PyTorch refuses it.

    With changes when MindSpore's experimental optimizers refuse it too; outdated when PyTorch takes
    it, or mindspore.nn does not any more.
    """
    figures = evidence[LOSS_SCALE]
    refusing = [place for place in PLACES if raised(figures[place]["scaled"])]
    seen = (*_steps_seen(figures, refusing), *_calls_seen(figures))
    if "nn" in refusing:
        return Ruling("outdated", seen)
    nn = figures["nn"]
    if abs(nn["scaled"] - nn["divided by hand"]) > NEAR:
        return Ruling("does_not_hold", seen)
    if "torch" not in refusing:
        return Ruling("outdated", seen)

    is_decay_divided = abs(nn["scaled, decayed"] - nn["divided by hand, decayed"]) > NEAR
    is_call_refused = raised(nn["as printed"]["SGD"])
    advice = say(
        "divide_by_hand",
        decay=say("decay_divided" if is_decay_divided else "decay_not_divided"),
        where=say("in_both" if "experimental" in refusing else "in_torch_alone"),
    )
    if is_call_refused:
        advice = say("divide_and_name_arguments", **advice.values)
    return holds_or("holds_with_changes", seen, "experimental" not in refusing, advice)


STEPS = ("scaled", "whole", "divided by hand", "scaled, decayed", "divided by hand, decayed")
"""The names of the steps' figures."""


def _steps_seen(figures: Figures, refusing: list[str]) -> Iterator[Observation]:
    """What each step leaves of 1; where loss_scale is refused, no other step is taken."""
    for step in STEPS:
        left: dict[str, Any] = {}
        as_stated: dict[str, bool] = {}
        for place in PLACES:
            if step not in figures[place]:
                continue
            left[place] = figures[place][step]
            if step == "scaled":
                # By the statement it is unknown in PyTorch, and divides everywhere else.
                as_stated[place] = (place == "torch") == (place in refusing)
        shown = partial(outcome, words="{:.4g}".format)
        yield from observed(say(f"step {step}"), left, shown, as_stated)


def _calls_seen(figures: Figures) -> Iterator[Observation]:
    """What becomes of the guide's call of an optimizer, class by class."""
    for place in ("nn", "torch"):
        for name, figure in figures[place]["as printed"].items():
            works = outcome(figure, lambda _: say("works"))
            yield Observation(say("call_as_printed", optimizer=name), works, (place,))


@TOPIC.claim(
    67,
    "PyTorch's param_groups tells the settings of each group of parameters;"
    " MindSpore has nothing like it.",
    heading="optimizers",
    guides=("002",),
    would="param_groups has the rate and momentum of both groups in PyTorch, and is unknown to"
    " MindSpore's optimizers",
    asks=(PARAM_GROUPS,),
    sections={"002": "Methods of the base class: state of the optimizer"},
    expects={"keys": ["params", "lr", "momentum", "dampening", "weight_decay", "nesterov"]},
)
def param_groups(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when PyTorch alone reports the settings that were made.

    With changes when MindSpore's experimental optimizers do too, outdated when those of
    mindspore.nn do.
    """
    groups = of_each(evidence[PARAM_GROUPS], "groups")
    telling = [place for place, figure in groups.items() if _tells(figure, expects["keys"])]
    # The statement is that PyTorch alone has them.
    as_stated = {place: (place == "torch") == (place in telling) for place in groups}
    seen = tuple(observed("param_groups", groups, _brief_groups, as_stated))
    if "torch" not in telling:
        return Ruling("does_not_hold", seen)
    if "nn" in telling:
        return Ruling("outdated", seen)
    return holds_or("holds_with_changes", seen, "experimental" not in telling)


def _tells(groups: Any, keys: list[str]) -> bool:
    """Whether groups have all of the keys, and the settings that were made."""
    if raised(groups) or len(groups) != 2:
        return False
    if not all(key in group for group in groups for key in keys):
        return False
    # float32 has about seven digits of a rate.
    settings = [(group["lr"], group["momentum"]) for group in groups]
    made = [(OWN_RATE, OWN_MOMENTUM), (RATE, OWN_MOMENTUM)]
    for reported, expected in zip(settings, made, strict=True):
        pairs = zip(reported, expected, strict=True)
        if any(abs(one - other) > NEAR for one, other in pairs):
            return False
    return True


def _brief_groups(groups: Any) -> Text:
    if raised(groups):
        return said(groups)
    rates = [f"{group['lr']:.4g}" if "lr" in group else cells.NONE for group in groups]
    keys = groups[0] if groups else ()
    return say("rates_and_keys", rates=tuple(rates), keys=some(keys))


@TOPIC.claim(
    93,
    "Some optimizers take no parameter groups with rates of their own.",
    heading="optimizers",
    guides=("002",),
    sections={"002": "Arguments of the base class: parameter groups"},
    would="An optimizer of mindspore.nn or of torch.optim raises when it is given two groups",
    asks=(TAKES_GROUPS,),
)
def optimizers_without_groups(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when some optimizer refuses two groups, or gives both one rate."""
    refusing: dict[str, list[str]] = {}
    seen: list[Observation] = []
    for framework, figures in evidence[TAKES_GROUPS].items():
        names = [name for name, rates in figures.items() if raised(rates) or rates < 2]
        refusing[framework] = names
        seen.append(
            Observation(say("refuse_groups"), listed(some(names)), (framework,), bool(names))
        )
        taking = say("count_taking", count=len(figures) - len(names), whole=len(figures))
        seen.append(Observation(say("take_groups"), taking, (framework,)))
    names = [name for names in refusing.values() for name in names]
    if not names:
        return Ruling("does_not_hold", tuple(seen))
    return Ruling("holds", tuple(seen), say("one_rate_for", optimizers=tuple(names)))
