"""Findings about optimizers: update rules, weight decay, parameter groups, and their state."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from explorer.model.measurement import Figures
from explorer.model.study import Cell, Chart, Series, Table
from explorer.text.messages import first_sentence
from explorer.text.numbers import digits
from explorer.topics.attempts import raised, said, said_briefly
from explorer.topics.evidence import EMPTY, Evidence, grouped, why_empty
from explorer.topics.question import PARTIES, Question
from explorer.topics.training.differences import NEAR
from explorer.topics.training.momentum import left
from explorer.topics.training.questions import (
    ADD_PARAM_GROUP,
    EXPORTED_OPTIMIZERS,
    GROUPS,
    MOMENTUM,
    OPTIMIZER_STATE,
    TOPIC,
    UPDATES,
    WEIGHT_DECAY,
)
from explorer.topics.training.update_rules import (
    MINDSPORE_PLACES,
    PLACES,
    RuleComparison,
    compare_rules,
)


def by_place(evidence: Evidence, question: Question) -> Figures:
    """The figures by the place where an optimizer is: "nn", "experimental" or "torch".

    Those of both frameworks together.
    """
    figures: Figures = {}
    for answer in evidence[question].values():
        figures.update(answer)
    return figures


def spared_weights(weights: Mapping[str, float]) -> list[str]:
    """The names of the weights that are still 1 after a step with gradient 0; all of them were."""
    return [name for name, value in weights.items() if value == 1.0]


def decaying_by_default(optimizers: Figures) -> list[str]:
    """The optimizers that take something from a weight though no decay was set."""
    names = []
    for name, attempts in optimizers.items():
        weights = attempts["default"]
        if not raised(weights) and len(spared_weights(weights)) < len(weights):
            names.append(name)
    return names


def without_effect(figure: Any) -> bool:
    """Whether a setting of the first group was accepted and left both groups' weights alike."""
    return not raised(figure) and bool(figure["first"] == figure["second"])


def compared_rules(evidence: Evidence) -> list[RuleComparison]:
    """The update rules that were measured both in PyTorch and in MindSpore."""
    return [rule for rule in compare_rules(evidence[UPDATES]) if rule.differences]


@TOPIC.finding()
def update_rules_against_pytorch(evidence: Evidence) -> Iterator[str]:
    """How many update rules give PyTorch's weights, which part, and which are refused."""
    shared = compared_rules(evidence)
    if not shared:
        return
    same = [rule for rule in shared if rule.same]
    yield (
        f"{len(same)} of {len(shared)} update rules give PyTorch's weights on five given gradients"
        " in all their forms."
    )
    for rule in shared:
        for place, difference in rule.differences.items():
            if difference > NEAR:
                name, torch_name = rule.optimizer(place), rule.optimizer("torch")
                yield (
                    f"{rule.name}: {place} {name} parts from torch.optim.{torch_name}"
                    f" by {difference:.2g}."
                )
    for rule in compare_rules(evidence[UPDATES]):
        for place, message in rule.refused.items():
            yield f"{rule.optimizer(place)} is refused: {first_sentence(message)}."


@TOPIC.finding(EXPORTED_OPTIMIZERS)
def optimizers_by_name(evidence: Evidence) -> Iterator[str]:
    """How many optimizers each module exports, and which names only one framework has."""
    mindspore = evidence[EXPORTED_OPTIMIZERS]["mindspore"]
    torch = evidence[EXPORTED_OPTIMIZERS]["torch"]["torch"]
    names = [*mindspore["nn"], *mindspore["experimental"]]
    yield (
        f"Optimizers by name: {len(mindspore['nn'])} in mindspore.nn,"
        f" {len(mindspore['experimental'])} in mindspore.experimental.optim, {len(torch)} in torch.optim;"
        f" PyTorch alone: {_only(torch, names)}; MindSpore alone: {_only(names, torch)}."
    )


def _only(names: Iterable[str], others: Iterable[str]) -> str:
    """The names that are not among ``others``, sorted, and listed for a sentence."""
    # MindSpore's AdaMax is PyTorch's Adamax.
    other_names = {name.lower() for name in others}
    alone: dict[str, str] = {}
    for name in names:
        if name.lower() not in other_names:
            alone[name.lower()] = name
    return ", ".join(sorted(alone.values())) or "none"


@TOPIC.finding(MOMENTUM)
def ways_to_write_momentum(evidence: Evidence) -> Iterator[str]:
    """What some steps leave of a weight, by each way to write momentum."""
    for style, paths in evidence[MOMENTUM]["mindspore"].items():
        outcomes = []
        for way, path in paths.items():
            outcome = left(path)
            text = said_briefly(outcome) if raised(outcome) else digits(outcome)
            outcomes.append(f"{way}: {text}")
        yield (
            f"Momentum written in several ways ({style} style) leaves of one weight:"
            f" {'; '.join(outcomes)}."
        )


@TOPIC.finding()
def weight_decay(evidence: Evidence) -> Iterator[str]:
    """Which weights a decay spares, optimizer by optimizer, and who decays by default."""
    figures = by_place(evidence, WEIGHT_DECAY)
    if not figures:
        return
    optimizers_by_spared: dict[str, list[str]] = {}
    for optimizer, weights in figures.items():
        if not raised(weights["0.1"]):
            names = ", ".join(spared_weights(weights["0.1"])) or "nothing"
            optimizers_by_spared.setdefault(names, []).append(optimizer)
    for names, optimizers in optimizers_by_spared.items():
        yield f"weight_decay=0.1 spares {names} in {', '.join(optimizers)}."
    by_default = ", ".join(decaying_by_default(figures)) or "none"
    yield f"Optimizers that decay by default: {by_default}."


@TOPIC.finding()
def parameter_groups(evidence: Evidence) -> Iterator[str]:
    """Which settings a group refuses or ignores, and whether a group can be added later."""
    for place, settings in by_place(evidence, GROUPS).items():
        refused, idle = [], []
        for name, figure in settings.items():
            if raised(figure):
                refused.append(name)
            elif without_effect(figure):
                idle.append(name)
        yield (
            f"Settings of a parameter group that {place} refuses: {'; '.join(refused) or 'none'};"
            f" that it takes without effect: {'; '.join(idle) or 'none'}."
        )
    outcomes: dict[str, str] = {}
    for place, optimizers in by_place(evidence, ADD_PARAM_GROUP).items():
        for name, figure in optimizers.items():
            moved = "both weights move"
            outcomes[f"{place}.{name}"] = said_briefly(figure) if raised(figure) else moved
    for names, outcome in grouped(outcomes):
        yield f"A step after add_param_group of {', '.join(names)}: {outcome}."


@TOPIC.table()
def update_rules(evidence: Evidence) -> Iterator[Table]:
    """One row an update rule: who has it, and how far it is from PyTorch's after five gradients."""
    rows: list[tuple[Cell, ...]] = []
    for rule in compare_rules(evidence[UPDATES]):
        optimizers = [rule.optimizer(place) or EMPTY for place in PLACES]
        differences = [rule.differences.get(place) for place in MINDSPORE_PLACES]
        rows.append((rule.name, *optimizers, *differences, _verdict(rule)))
    if rows:
        note = (
            "With the same settings where both have them; the greatest difference of the weight over"
            " all five."
        )
        yield Table(
            title="Update rules on five given gradients",
            columns=(
                "rule",
                "mindspore.nn",
                "experimental",
                "torch.optim",
                "nn apart",
                "experimental apart",
                "verdict",
            ),
            rows=tuple(rows),
            note=f"{note} {why_empty(evidence, UPDATES)}".strip(),
        )


def _verdict(rule: RuleComparison) -> str:
    if rule.refused:
        messages = [f"{place} refused: {message}" for place, message in rule.refused.items()]
        return "; ".join(messages)
    if rule.optimizer("torch") is None:
        return "MindSpore alone"
    if not rule.differences:
        return "not compared"
    return "same" if rule.same else "parts"


@TOPIC.table()
def decayed_weights(evidence: Evidence) -> Iterator[Table]:
    """What weight decay takes from weights that are 1 when the gradient is 0."""
    rows: list[tuple[Cell, ...]] = []
    for optimizer, weights in by_place(evidence, WEIGHT_DECAY).items():
        default, decayed = weights["default"], weights["0.1"]
        if raised(default) or raised(decayed):
            # Both attempts are mostly refused for the same reason: one message is enough.
            refusal = said(default if raised(default) else decayed)
            rows.append((optimizer, None, None, None, None, refusal))
            continue
        left = [decayed[name] for name in ("fc.weight", "norm.gamma", "norm.beta")]
        rows.append((optimizer, default["fc.weight"], *left, ""))
    if rows:
        yield Table(
            title="Weight decay: what is left of a 1 after one step with gradient 0",
            columns=(
                "optimizer",
                "weight by default",
                "weight, decay 0.1",
                "gamma, decay 0.1",
                "beta, decay 0.1",
                "refused",
            ),
            rows=tuple(rows),
        )


@TOPIC.table()
def group_settings(evidence: Evidence) -> Iterator[Table]:
    """What a parameter group takes, and what it does to the first of two weights."""
    groups, grown = by_place(evidence, GROUPS), by_place(evidence, ADD_PARAM_GROUP)
    places = list(groups | grown)
    rows = []
    for setting in _keys(groups):
        cells = [_beside(groups.get(place, {}).get(setting)) for place in places]
        rows.append((setting, *cells))
    for optimizer in _keys(grown):
        cells = [_beside(grown.get(place, {}).get(optimizer)) for place in places]
        rows.append((f"add_param_group, {optimizer}", *cells))
    if rows:
        note = (
            "The first weight beside the second after two steps of SGD; after one step where a group"
            " was added."
        )
        yield Table(
            title="Parameter groups: a setting of its own for the first of two weights",
            columns=("setting", *places),
            rows=tuple(rows),
            note=f"{note} {why_empty(evidence, GROUPS, ADD_PARAM_GROUP)}".strip(),
        )


def _keys(figures: Mapping[str, Figures]) -> list[str]:
    """What any place has figures of, each once, in the order of its first appearance."""
    keys: dict[str, None] = {}
    for place_figures in figures.values():
        keys.update(dict.fromkeys(place_figures))
    return list(keys)


def _beside(figure: Any) -> str:
    """The first weight beside the second, or what was raised instead."""
    if figure is None:
        return EMPTY
    if raised(figure):
        return said(figure)
    first, second = _brief(figure["first"]), _brief(figure["second"])
    effect = ": no effect" if first == second else ""
    return f"[{first}] beside [{second}]{effect}"


def _brief(values: Iterable[float]) -> str:
    return ", ".join(f"{value:.4g}" for value in values)


@TOPIC.table()
def state_of_an_optimizer(evidence: Evidence) -> Iterator[Table]:
    """The methods of an optimizer and the names in its state_dict."""
    figures = by_place(evidence, OPTIMIZER_STATE)
    # Beside the places stands the scheduler's rate, which has no column here.
    places = [place for place in PLACES if place in figures]
    if not places:
        return
    methods = {place: figures[place]["has"] for place in places}
    rows: list[tuple[Cell, ...]] = []
    for method in _keys(methods):
        cells = ["yes" if methods[place].get(method) else "no" for place in places]
        rows.append((method, *cells))
    names = [listed_names(figures[place]["state_dict"]) for place in places]
    rows.append(("names in state_dict", *names))
    yield Table(
        title="What an SGD optimizer tells of itself", columns=("", *places), rows=tuple(rows)
    )


def listed_names(state_dict: Any) -> str:
    """The names in an optimizer's state_dict in one line, or what asking for them raised."""
    return said(state_dict) if raised(state_dict) else ", ".join(state_dict)


@TOPIC.chart()
def update_rules_chart(evidence: Evidence) -> Iterator[Chart]:
    """How far MindSpore's optimizers are from PyTorch's, a point a rule."""
    rules = compared_rules(evidence)
    names = tuple(rule.name for rule in rules)
    series = []
    for place in MINDSPORE_PLACES:
        # The axis is logarithmic, where a zero has no place.
        heights = tuple(rule.differences.get(place) or None for rule in rules)
        if any(heights):
            series.append(Series(PARTIES[place].label, names, heights))
    if series:
        yield Chart(
            name="training-updates",
            title="Update rules against torch.optim's, after five given gradients",
            kind="points",
            x="",
            y="greatest difference of the weight",
            series=tuple(series),
            log=("y",),
            note="A rule without a point is not there, or gives the same to the last bit;"
            " 1e-7 is what float32 rounds to.",
        )
