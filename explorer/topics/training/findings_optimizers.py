"""Findings about optimizers: update rules, weight decay, parameter groups, and their state."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from explorer.model.measurement import Figures
from explorer.model.message import Text
from explorer.model.study import Cell, Chart, Series, Table
from explorer.text.messages import first_sentence
from explorer.text.numbers import digits
from explorer.topics import cells
from explorer.topics.attempts import raised, said, said_briefly
from explorer.topics.evidence import EMPTY, Evidence, grouped
from explorer.topics.messages import style_name
from explorer.topics.observations import outcome
from explorer.topics.question import PARTIES, Question
from explorer.topics.training.figures import Decayed, Group, OptimizerState, say, some
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
    NEAR,
    PLACES,
    RuleComparison,
    compare_rules,
    left,
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


def decayed_by(evidence: Evidence) -> dict[str, Decayed]:
    """What a step with gradient 0 leaves, by optimizer."""
    return msgspec.convert(by_place(evidence, WEIGHT_DECAY), dict[str, Decayed])


def groups_by_place(evidence: Evidence, question: Question) -> dict[str, dict[str, Group]]:
    """What two groups are after a step, by place and by setting or optimizer."""
    return msgspec.convert(by_place(evidence, question), dict[str, dict[str, Group]])


def states_by_place(evidence: Evidence) -> dict[str, OptimizerState]:
    """What an optimizer reports of itself, by place."""
    figures = by_place(evidence, OPTIMIZER_STATE)
    # The figures have the scheduler's rate too, which is of no place.
    states = {place: figures[place] for place in PLACES if place in figures}
    return msgspec.convert(states, dict[str, OptimizerState])


def decaying_by_default(optimizers: Mapping[str, Decayed]) -> list[str]:
    """The optimizers that take something from a weight though no decay was set."""
    names = []
    for name, attempts in optimizers.items():
        weights = attempts.default
        if not raised(weights) and len(spared_weights(weights)) < len(weights):
            names.append(name)
    return names


def compared_rules(evidence: Evidence) -> list[RuleComparison]:
    """The update rules that were measured both in PyTorch and in MindSpore."""
    return [rule for rule in compare_rules(evidence[UPDATES]) if rule.differences]


@TOPIC.finding()
def update_rules_against_pytorch(evidence: Evidence) -> Iterator[Text]:
    """How many update rules give PyTorch's weights, which part, and which are refused."""
    shared = compared_rules(evidence)
    if not shared:
        return
    same = [rule for rule in shared if rule.same]
    yield say("rules_same", same=len(same), rules=len(shared))
    for rule in shared:
        for place, difference in rule.differences.items():
            if difference > NEAR:
                yield say(
                    "rule_parts",
                    rule=say.named(rule.name),
                    place=place,
                    optimizer=rule.optimizer(place),
                    torch_optimizer=rule.optimizer("torch"),
                    difference=difference,
                )
    for rule in compare_rules(evidence[UPDATES]):
        for place, message in rule.refused.items():
            error = first_sentence(message)
            yield say("route_refused", route=rule.optimizer(place), error=error)


@TOPIC.finding(EXPORTED_OPTIMIZERS)
def optimizers_by_name(evidence: Evidence) -> Iterator[Text]:
    """How many optimizers each module exports, and which names only one framework has."""
    mindspore = evidence[EXPORTED_OPTIMIZERS]["mindspore"]
    torch = evidence[EXPORTED_OPTIMIZERS]["torch"]["torch"]
    names = [*mindspore["nn"], *mindspore["experimental"]]
    yield say(
        "by_name",
        nn=len(mindspore["nn"]),
        experimental=len(mindspore["experimental"]),
        torch=len(torch),
        torch_alone=some(_only(torch, names)),
        mindspore_alone=some(_only(names, torch)),
    )


def _only(names: Iterable[str], others: Iterable[str]) -> list[str]:
    """The names that are not among ``others``, sorted."""
    # MindSpore's AdaMax is PyTorch's Adamax.
    other_names = {name.lower() for name in others}
    alone: dict[str, str] = {}
    for name in names:
        if name.lower() not in other_names:
            alone[name.lower()] = name
    return sorted(alone.values())


@TOPIC.finding(MOMENTUM)
def ways_to_write_momentum(evidence: Evidence) -> Iterator[Text]:
    """What some steps leave of a weight, by each way to write momentum."""
    for style, paths in evidence[MOMENTUM]["mindspore"].items():
        outcomes = []
        for way, path in paths.items():
            last = left(path)
            weight = said_briefly(last) if raised(last) else digits(last)
            outcomes.append(say("way_leaves", way=say.named(way), weight=weight))
        yield say("momentum_ways", style=style_name(style), outcomes=tuple(outcomes))


@TOPIC.finding()
def weight_decay(evidence: Evidence) -> Iterator[Text]:
    """Which weights a decay spares, optimizer by optimizer, and who decays by default."""
    decayed = decayed_by(evidence)
    if not decayed:
        return
    spared: dict[str, list[str]] = {}
    for optimizer, attempts in decayed.items():
        if not raised(attempts.decayed):
            spared[optimizer] = spared_weights(attempts.decayed)
    for optimizers, names in grouped(spared):
        weights = some(names, otherwise=say("nothing"))
        yield say("decay_spares", weights=weights, optimizers=tuple(optimizers))
    yield say("decay_by_default", optimizers=some(decaying_by_default(decayed)))


@TOPIC.finding()
def parameter_groups(evidence: Evidence) -> Iterator[Text]:
    """Which settings a group refuses or ignores, and whether a group can be added later."""
    for place, settings in groups_by_place(evidence, GROUPS).items():
        refused: list[Text] = []
        idle: list[Text] = []
        for name, group in settings.items():
            if group.raised:
                refused.append(say.named(name))
            elif group.is_without_effect:
                idle.append(say.named(name))
        yield say("group_settings", place=place, refused=some(refused), idle=some(idle))
    outcomes: dict[str, Text] = {}
    for place, optimizers in groups_by_place(evidence, ADD_PARAM_GROUP).items():
        for name, group in optimizers.items():
            outcomes[f"{place}.{name}"] = group.brief_error or say("both_move")
    for names, after in grouped(outcomes):
        yield say("step_after_group", optimizers=tuple(names), outcome=after)


@TOPIC.table()
def update_rules(evidence: Evidence) -> Iterator[Table[Text]]:
    """One row an update rule: who has it, and how far it is from PyTorch's after five gradients."""
    rows: list[tuple[Cell | Text, ...]] = []
    for rule in compare_rules(evidence[UPDATES]):
        optimizers = [rule.optimizer(place) or EMPTY for place in PLACES]
        differences = [rule.differences.get(place) for place in MINDSPORE_PLACES]
        rows.append((say.named(rule.name), *optimizers, *differences, _verdict(rule)))
    if rows:
        yield Table(
            title=say("rules_title"),
            columns=(
                say("rule"),
                "mindspore.nn",
                "experimental",
                "torch.optim",
                *say.row("nn_apart", "experimental_apart", "verdict"),
            ),
            rows=tuple(rows),
            note=cells.sentences(say("rules_note"), cells.missing(evidence, UPDATES)),
        )


def _verdict(rule: RuleComparison) -> Text:
    if rule.refused:
        refusals = []
        for place, error in rule.refused.items():
            refusals.append(say("refused_in", place=place, error=error))
        return say("refusals", refusals=tuple(refusals))
    if rule.optimizer("torch") is None:
        return say("mindspore_alone")
    if not rule.differences:
        return say("not_compared")
    return say("same" if rule.same else "parts")


@TOPIC.table()
def decayed_weights(evidence: Evidence) -> Iterator[Table[Text]]:
    """What weight decay takes from weights that are 1 when the gradient is 0."""
    rows: list[tuple[Cell | Text, ...]] = []
    for optimizer, attempts in decayed_by(evidence).items():
        default, decayed = attempts.default, attempts.decayed
        if raised(default) or raised(decayed):
            # Both attempts are mostly refused for the same reason: one message is enough.
            refusal = said(default if raised(default) else decayed)
            rows.append((optimizer, None, None, None, None, refusal))
            continue
        left = [decayed[name] for name in ("fc.weight", "norm.gamma", "norm.beta")]
        rows.append((optimizer, default["fc.weight"], *left, ""))
    if rows:
        yield Table(
            title=say("decay_title"),
            columns=say.row(
                "optimizer",
                "weight_by_default",
                "weight_decayed",
                "gamma_decayed",
                "beta_decayed",
                "refused",
            ),
            rows=tuple(rows),
        )


@TOPIC.table()
def group_settings(evidence: Evidence) -> Iterator[Table[Text]]:
    """What a parameter group takes, and what it does to the first of two weights."""
    groups = groups_by_place(evidence, GROUPS)
    grown = groups_by_place(evidence, ADD_PARAM_GROUP)
    places = list(groups | grown)
    rows: list[tuple[Cell | Text, ...]] = []
    for setting in _keys(groups):
        name = say.named(setting)
        rows.append((name, *_beside_in(groups, places, setting)))
    for optimizer in _keys(grown):
        name = say("add_group", optimizer=optimizer)
        rows.append((name, *_beside_in(grown, places, optimizer)))
    if rows:
        yield Table(
            title=say("groups_title"),
            columns=(say("setting"), *places),
            rows=tuple(rows),
            note=cells.sentences(
                say("groups_note"), cells.missing(evidence, GROUPS, ADD_PARAM_GROUP)
            ),
        )


def _keys(figures: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """What any place has figures of, each once, in the order of its first appearance."""
    keys: dict[str, None] = {}
    for place_figures in figures.values():
        keys.update(dict.fromkeys(place_figures))
    return list(keys)


def _beside_in(
    figures: Mapping[str, Mapping[str, Group]], places: Iterable[str], key: str
) -> list[Text]:
    """What a setting or an optimizer leaves in each place."""
    return [_beside(figures.get(place, {}).get(key)) for place in places]


def _beside(group: Group | None) -> Text:
    """The first weight beside the second, or what was raised instead."""
    if group is None:
        return EMPTY
    if group.raised:
        return group.error
    first, second = _brief(group.first), _brief(group.second)
    name = "beside_no_effect" if first == second else "beside"
    return say(name, first=first, second=second)


def _brief(values: Iterable[float]) -> str:
    return ", ".join(f"{value:.4g}" for value in values)


@TOPIC.table()
def state_of_an_optimizer(evidence: Evidence) -> Iterator[Table[Text]]:
    """The methods of an optimizer and the names in its state_dict."""
    states = states_by_place(evidence)
    if not states:
        return
    methods = {place: state.has for place, state in states.items()}
    rows: list[tuple[Cell | Text, ...]] = []
    for method in _keys(methods):
        entries = [cells.yes_or_no(has.get(method, False)) for has in methods.values()]
        rows.append((method, *entries))
    names = [names_of(state.state_dict) for state in states.values()]
    rows.append((say("names_in_state"), *names))
    yield Table(title=say("state_title"), columns=("", *states), rows=tuple(rows))


def names_of(state_dict: Any) -> Text:
    """The names in an optimizer's state_dict, or what asking for them raised."""
    return outcome(state_dict, lambda names: say("names", names=tuple(names)))


@TOPIC.chart()
def update_rules_chart(evidence: Evidence) -> Iterator[Chart[Text]]:
    """How far MindSpore's optimizers are from PyTorch's, a point a rule."""
    rules = compared_rules(evidence)
    names = tuple(say.named(rule.name) for rule in rules)
    series: list[Series[Text]] = []
    for place in MINDSPORE_PLACES:
        # The axis is logarithmic, where a zero has no place.
        heights = tuple(rule.differences.get(place) or None for rule in rules)
        if any(heights):
            series.append(Series(PARTIES[place].label, names, heights))
    if series:
        yield Chart(
            name="training-updates",
            title=say("rules_chart"),
            kind="points",
            x="",
            y=say("rules_axis"),
            series=tuple(series),
            log=("y",),
            note=say("rules_chart_note"),
        )
