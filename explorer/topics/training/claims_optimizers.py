"""Claims about optimizers: the parameters they take, their settings, and the state they report."""

from collections.abc import Iterator, Mapping
from typing import Any

from explorer.model.claim import Observation, Ruling
from explorer.model.measurement import Figures
from explorer.text.messages import first_statement
from explorer.topics.attempts import raised, said
from explorer.topics.evidence import Evidence
from explorer.topics.observations import observed
from explorer.topics.training.differences import NEAR
from explorer.topics.training.findings_optimizers import (
    by_place,
    decaying_by_default,
    listed_names,
    spared_weights,
    without_effect,
)
from explorer.topics.training.questions import (
    ADD_PARAM_GROUP,
    FILTERED,
    GROUPS,
    OPTIMIZER_STATE,
    TOPIC,
    WEIGHT_DECAY,
)
from explorer.topics.training.update_rules import MINDSPORE_PLACES, PLACES


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
    mindspore, torch = evidence[FILTERED]["mindspore"], evidence[FILTERED]["torch"]
    both = evidence[FILTERED]
    keeps = {name: sorted(figures["chosen"]) == figures["moved"] for name, figures in both.items()}
    moved = {name: ", ".join(figures["moved"]) for name, figures in both.items()}
    seen = (
        Observation(
            "type of trainable_params()",
            mindspore["type"],
            ("mindspore",),
            mindspore["type"] == "list",
        ),
        Observation(
            "type of parameters()", torch["type"], ("torch",), torch["type"] == "generator"
        ),
        *observed(
            f"weights moved by a step of {', '.join(mindspore['chosen'])}", moved, str, keeps
        ),
    )
    if not all(keeps.values()):
        return Ruling(
            "does_not_hold",
            seen,
            "Check which weights move: the optimizer does not keep to what it was given.",
        )
    if (mindspore["type"], torch["type"]) != ("list", "generator"):
        return Ruling(
            "holds_with_changes",
            seen,
            "Filter by name as before, and do not rely on the type of what you filter.",
        )
    advice = "Filter trainable_params() by p.name, and named_parameters() by name"
    if not torch["again"]:
        advice += "; make a list of parameters() to go through it twice"
    return Ruling("holds", seen, f"{advice}.")


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
    """Holds when a decay leaves the same in both frameworks, and is none by default.

    With changes when some weights are spared, or AdamW decays by default.
    """
    mindspore, torch = evidence[WEIGHT_DECAY]["mindspore"], evidence[WEIGHT_DECAY]["torch"]
    spared = {place: _spared(mindspore, place) for place in MINDSPORE_PLACES}
    by_default = decaying_by_default(by_place(evidence, WEIGHT_DECAY))

    left = {"mindspore": mindspore["nn SGD"], "torch": torch["torch SGD"]}
    seen = (
        *observed("weight of 1 after a step of SGD with weight_decay=0.1", left, _left_in_words),
        *_spared_seen(spared),
        Observation("decay by default", ", ".join(by_default) or "none", (), not by_default),
    )
    # AdamW has its decay in its name: 0.01 by default, in both frameworks.
    unexpected = [name for name in by_default if "AdamW" not in name]
    if _greatest_decay_difference(mindspore, torch) > NEAR or unexpected:
        return Ruling(
            "does_not_hold",
            seen,
            "Compare one step with gradient 0 before you carry a weight decay over.",
        )
    advice = " ".join(_advice_on_decay(by_default, spared))
    if advice:
        return Ruling("holds_with_changes", seen, advice)
    return Ruling("holds", seen, "Carry the weight decay over as it is.")


def _advice_on_decay(by_default: list[str], spared: Mapping[str, list[str]]) -> Iterator[str]:
    """What to do about optimizers that decay by default, and weights that are spared."""
    if by_default:
        yield f"Set weight_decay yourself for {' and '.join(by_default)}."
    for place, names in spared.items():
        if names:
            yield f"Make a group in PyTorch for what {place} spares: {' and '.join(names)}."


def _spared_seen(spared: Mapping[str, list[str]]) -> Iterator[Observation]:
    as_stated = {place: not names for place, names in spared.items()}
    yield from observed("weights that are not decayed", spared, _listed_or_none, as_stated)


def _listed_or_none(names: list[str]) -> str:
    return ", ".join(names) or "none"


def _left_in_words(attempts: Figures) -> str:
    """What a decay of 0.1 leaves of the dense layer's weight, or why nothing was left."""
    weights = attempts["0.1"]
    return said(weights) if raised(weights) else f"{weights['fc.weight']:.4g}"


def _greatest_decay_difference(mindspore: Figures, torch: Figures) -> float:
    """Between what optimizers of MindSpore and of PyTorch leave of the dense layer's weight.

    It is infinite where one of the two takes no decay.
    """
    greatest = 0.0
    for name, attempts in mindspore.items():
        weights, counterpart = attempts["0.1"], _torch_counterpart(name, torch)["0.1"]
        if raised(weights) or raised(counterpart):
            return float("inf")
        greatest = max(greatest, abs(weights["fc.weight"] - counterpart["fc.weight"]))
    return greatest


def _torch_counterpart(name: str, torch: Figures) -> Any:
    """PyTorch's optimizer of the same update: nn.Momentum without momentum is SGD."""
    optimizer = name.partition(" ")[2]
    return torch.get(f"torch {optimizer}", torch["torch SGD"])


def _spared(optimizers: Figures, place: str) -> list[str]:
    """The weights that any optimizer of a place leaves as they are in spite of a decay, each once."""
    spared: dict[str, None] = {}  # an ordered set
    for name, weights in optimizers.items():
        if name.startswith(f"{place} ") and not raised(weights["0.1"]):
            spared |= dict.fromkeys(spared_weights(weights["0.1"]))
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
    settings = by_place(evidence, GROUPS)
    effective = {place: _effective(figures) for place, figures in settings.items()}
    growing = _growing(by_place(evidence, ADD_PARAM_GROUP))
    centralization = settings["nn"]["grad_centralization, rows of 16"]

    seen = tuple(_group_facts(effective, growing, centralization))
    nn_as_said = {"lr", "weight_decay"} <= set(effective["nn"]) and not _is_unknown(centralization)
    torch_as_said = "momentum" in effective["torch"] and "torch" in growing
    if not nn_as_said or not torch_as_said:
        return Ruling(
            "does_not_hold",
            seen,
            "Try each setting of a group in one step: these are not the guides' any more.",
        )
    if "momentum" in effective["nn"]:
        return Ruling("outdated", seen, "Give a group any setting in both frameworks.")
    if "momentum" in effective["experimental"]:
        advice = "Use mindspore.experimental.optim for a group's own momentum"
        if "experimental" not in growing:
            advice += ", but name all groups at the start: none can be added later"
        return Ruling("holds_with_changes", seen, f"{advice}.")
    # What was refused for want of a kernel is no setting to keep to on this device.
    settled = "lr and weight_decay"
    if not raised(centralization):
        settled = "lr, weight_decay and grad_centralization"
    return Ruling("holds", seen, f"Keep to {settled} in MindSpore's groups.")


def _effective(settings: Figures) -> list[str]:
    """The settings that a group accepts and that make a difference to its weight."""
    names = []
    for name, figure in settings.items():
        if not raised(figure) and not without_effect(figure):
            names.append(name)
    return names


def _group_facts(
    effective: Mapping[str, list[str]], growing: list[str], centralization: Any
) -> Iterator[Observation]:
    as_stated: dict[str, bool] = {}
    additions: dict[str, str] = {}
    for place, names in effective.items():
        # Momentum of its own is what PyTorch alone is said to give a group.
        as_stated[place] = ("momentum" in names) == (place == "torch")
        additions[place] = "works" if place in growing else "fails"
    what = "settings of a group that have an effect"
    yield from observed(what, effective, _listed_or_none, as_stated)
    yield from observed("add_param_group, then a step", additions)
    if raised(centralization):
        refusal = first_statement(said(centralization))
        yield Observation("grad_centralization for a group", refusal, ("nn",))


def _growing(places: Mapping[str, Figures]) -> list[str]:
    """The places of which some optimizer takes a step after a group was added to it."""
    growing = []
    for place, optimizers in places.items():
        if not all(raised(figure) for figure in optimizers.values()):
            growing.append(place)
    return growing


def _is_unknown(setting: Any) -> bool:
    # A setting whose kernel is missing on this device is refused too, but not as an unknown key.
    return raised(setting) and "key in group params" in setting["message"]


@TOPIC.claim(
    59,
    "PyTorch's optimizers have a state_dict, MindSpore's none;"
    " get_lr and get_last_lr tell the current rate.",
    heading="optimizers",
    guides=("002",),
    sections={"002": "Methods of the base class: state of the optimizer"},
    would="state_dict is there in PyTorch alone; the rates told are the rates set",
    asks=(OPTIMIZER_STATE,),
    expects={"get_lr": 0.1, "get_last_lr": 0.09},
)
def optimizer_state(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when PyTorch alone has a state_dict, and both report the rates that were set.

    Outdated when mindspore.nn has a state_dict too.
    """
    states = by_place(evidence, OPTIMIZER_STATE)
    has_state_dict = {place: states[place]["has"]["state_dict"] for place in PLACES}
    last_rate = evidence[OPTIMIZER_STATE]["torch"]["scheduler.get_last_lr"][0]
    rates = {"get_lr": states["nn"]["get_lr"], "get_last_lr": last_rate}

    listed = listed_names(states["nn"]["state_dict"])
    as_stated = {place: has == (place == "torch") for place, has in has_state_dict.items()}
    is_set = {name: _is_rate(rate, expects[name]) for name, rate in rates.items()}
    seen = (
        *observed(
            "has a state_dict", has_state_dict, lambda has: "yes" if has else "no", as_stated
        ),
        Observation("names in state_dict()", listed, ("nn",)),
        Observation("get_lr()", _brief_rate(rates["get_lr"]), ("nn",), is_set["get_lr"]),
        Observation(
            "get_last_lr()", _brief_rate(rates["get_last_lr"]), ("torch",), is_set["get_last_lr"]
        ),
    )
    as_set = all(is_set.values())
    if not has_state_dict["torch"] or not as_set:
        return Ruling(
            "does_not_hold",
            seen,
            "Look up how the optimizer tells its state: this is not the guides' any more.",
        )
    if has_state_dict["nn"]:
        return Ruling("outdated", seen, _use_of_state_dict(states["nn"]["state_dict"]))
    return Ruling("holds", seen, "Save MindSpore's optimizer with save_checkpoint.")


def _use_of_state_dict(names: Any) -> str:
    """What to do with MindSpore's state_dict, by the names that it was seen to have."""
    if raised(names):
        return "Save MindSpore's optimizer with save_checkpoint: its state_dict() fails."
    advice = "Use state_dict() in both"
    if not {"state", "param_groups"} & set(names):
        advice += "; MindSpore's is flat, by the names of parameters"
    if "weight" in names:  # the parameter that was trained
        advice += ", with the weights in it"
    return f"{advice}."


def _brief_rate(rate: Any) -> str:
    return said(rate) if raised(rate) else f"{rate:.4g}"


def _is_rate(rate: Any, expected: float) -> bool:
    return not raised(rate) and abs(rate - expected) < NEAR
