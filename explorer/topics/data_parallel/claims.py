"""The claim about data parallel training (row 61)."""

import operator
from collections.abc import Iterator
from typing import Any

from explorer.model.claim import ClaimVerdict, Observation, Ruling
from explorer.model.message import Message
from explorer.text.numbers import digits
from explorer.topics.data_parallel.findings import (
    Ranks,
    agree,
    end_alike,
    is_mean,
    local_gradients,
    ranks_of,
    say,
    start_alike,
    steps_by,
    ways_by_steps,
)
from explorer.topics.data_parallel.processes import BY_HAND
from explorer.topics.data_parallel.questions import TOPIC, TWO_PROCESSES
from explorer.topics.evidence import Evidence
from explorer.topics.messages import style_name
from explorer.topics.observations import for_each, observed, outcome


@TOPIC.claim(
    61,
    "DDP averages gradients, DATA_PARALLEL with gradients_mean does the same, and seeds must"
    " agree across ranks.",
    heading="parallel",
    guides=("001", "000"),
    sections={
        "001": "Considerations for MindSpore Network Authoring",
        "000": "Distributed Scenarios",
    },
    would="Two ranks with gradients [2, 4, 6] and [84, 168, 252] both step along [43, 86, 129], by"
    " whichever way to take a step, and drift apart with own seeds.",
    asks=(TWO_PROCESSES,),
    expects={"mean": [[43.0, 86.0, 129.0]]},
)
def averages(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when DDP and every way to take a step in MindSpore average, and both need one seed.

    With changes where DDP sends one rank's start to the others. It depends on the style when all
    ways average in one style alone.
    """
    ranks = ranks_of(evidence)
    mindspore, torch = ranks["mindspore"], ranks["torch"]
    mean = expects["mean"]
    seen = (
        *_torch_seen(torch, mean),
        *_routes_seen(mindspore, mean),
        *_seeds_seen(mindspore, torch),
    )
    if not is_mean(torch) or torch[0].mean != mean:
        return Ruling("does_not_hold", seen)

    seed = _advice_on_seeds(mindspore, torch)
    styles = list(mindspore[0].routes)
    apart = {style: _routes_apart(mindspore, style, mean) for style in styles}
    whole_styles = [style for style in styles if not apart[style]]
    if len(whole_styles) == len(styles):
        verdict: ClaimVerdict = "holds_with_changes" if _sends_its_start(torch) else "holds"
        return Ruling(verdict, seen, seed)
    if whole_styles:
        style = style_name(whole_styles[0])
        return Ruling("depends_on_style", seen, say("one_style", style=style, seed=seed))
    advice = say("routes_and_seed", routes=_advice_on_routes(mindspore, apart), seed=seed)
    return Ruling("does_not_hold", seen, advice)


def _routes_apart(ranks: Ranks, style: str, mean: Any) -> list[str]:
    """The ways to take a step, by hand aside, after which not every rank stepped along the mean."""
    names = [name for name in ranks[0].routes[style] if name != BY_HAND]
    return [name for name in names if steps_by(ranks, style, name) != [mean] * len(ranks)]


def _advice_on_routes(ranks: Ranks, apart: dict[str, list[str]]) -> Message:
    names = next(iter(ranks[0].routes.values()))
    refuted = {name for names_apart in apart.values() for name in names_apart}
    trusted = tuple(name for name in names if name not in {BY_HAND, *refuted})
    reduced_by_hand = all(agree(steps_by(ranks, style, BY_HAND)) for style in apart)
    routes = trusted or (say("none_of_these"),)
    return say("routes_or_reducer" if reduced_by_hand else "routes_alone", routes=routes)


def _sends_its_start(ranks: Ranks) -> bool:
    """Whether one step made equal what had started differently: one start was sent around."""
    return not start_alike(ranks) and end_alike(ranks)


def _advice_on_seeds(mindspore: Ranks, torch: Ranks) -> Message:
    if not _sends_its_start(torch):
        return say("seed_in_both")
    if _sends_its_start(mindspore):
        return say("seed_where_random")
    return say("seed_in_mindspore")


def _torch_seen(ranks: Ranks, mean: Any) -> Iterator[Observation]:
    local = tuple(map(digits, local_gradients(ranks)))
    printed, averaged = ranks[0].printed, ranks[0].mean
    yield Observation(say("local_alone"), say("on_ranks", steps=local), ("torch",))
    yield Observation(say("with_ddp"), digits(averaged), ("torch",), averaged == mean)
    runs = outcome(printed, lambda _: say("runs"))
    yield Observation(say("ddp_as_printed"), runs, ("torch",))


def _routes_seen(ranks: Ranks, mean: Any) -> Iterator[Observation]:
    """What each way to take a step in MindSpore took from the weight, on the ranks in order."""
    for ways, steps in ways_by_steps(ranks):
        shown = tuple(outcome(step, digits) for step in steps)
        as_stated = all(step == mean for step in steps)
        what = say("steps_by", ways=ways)
        yield Observation(what, say("on_ranks", steps=shown), ("mindspore",), as_stated)


def _seeds_seen(mindspore: Ranks, torch: Ranks) -> list[Observation]:
    agreeing = {"mindspore": end_alike(mindspore), "torch": end_alike(torch)}
    # That seeds must agree is to say that the weights do not without it.
    as_stated = for_each(operator.not_, agreeing)
    return observed(
        say("weights_by_seed"),
        agreeing,
        lambda is_so: say("agree" if is_so else "differ"),
        as_stated,
    )
