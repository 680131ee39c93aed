"""The claim about data parallel training (row 61)."""

from collections.abc import Iterator
from typing import Any

from explorer.model.claim import Observation, Ruling
from explorer.model.measurement import Figures
from explorer.text.numbers import digits
from explorer.topics.attempts import raised, said
from explorer.topics.data_parallel.findings import agree, is_mean, ways_by_steps
from explorer.topics.data_parallel.processes import BY_HAND
from explorer.topics.data_parallel.questions import TOPIC, TWO_PROCESSES
from explorer.topics.evidence import Evidence
from explorer.topics.observations import observed

Ranks = list[Figures]


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
    mindspore = evidence[TWO_PROCESSES]["mindspore"]["ranks"]
    torch = evidence[TWO_PROCESSES]["torch"]["ranks"]
    mean = expects["mean"]
    seen = (
        *_torch_seen(torch, mean),
        *_routes_seen(mindspore, mean),
        *_seeds_seen(mindspore, torch),
    )
    if not is_mean(torch) or torch[0]["mean"] != expects["mean"]:
        return Ruling(
            "does_not_hold",
            seen,
            "Divide by the number of ranks yourself, or scale the learning rate.",
        )

    seed = _advice_on_seeds(mindspore, torch)
    styles = list(mindspore[0]["routes"])
    apart = {style: _routes_apart(mindspore, style, expects["mean"]) for style in styles}
    whole_styles = [style for style in styles if not apart[style]]
    if len(whole_styles) == len(styles):
        verdict: Any = "holds_with_changes" if _sends_its_start(torch) else "holds"
        return Ruling(verdict, seen, seed)
    if whole_styles:
        return Ruling(
            "depends_on_style", seen, f"Train data parallel in {whole_styles[0]} style. {seed}"
        )
    return Ruling("does_not_hold", seen, f"{_advice_on_routes(mindspore, apart)} {seed}")


def _routes_apart(ranks: Ranks, style: str, mean: Any) -> list[str]:
    """The ways to take a step, by hand aside, after which not every rank stepped along the mean."""
    names = [name for name in ranks[0]["routes"][style] if name != BY_HAND]
    return [name for name in names if any(rank["routes"][style][name] != mean for rank in ranks)]


def _advice_on_routes(ranks: Ranks, apart: dict[str, list[str]]) -> str:
    names = next(iter(ranks[0]["routes"].values()))
    refuted = {name for names_apart in apart.values() for name in names_apart}
    trusted = [name for name in names if name not in {BY_HAND, *refuted}]
    reduced_by_hand = all(agree(_routes_of(ranks, style), BY_HAND) for style in apart)
    advice = f"Train data parallel with {' or '.join(trusted) or 'none of these'}"
    if reduced_by_hand:
        advice += "; elsewhere call nn.DistributedGradReducer on the gradients before the optimizer has them"
    return f"{advice}."


def _routes_of(ranks: Ranks, style: str) -> Ranks:
    return [rank["routes"][style] for rank in ranks]


def _sends_its_start(ranks: Ranks) -> bool:
    """Whether one step made equal what had started differently: one start was sent around."""
    differ_at_first = not agree(ranks, "first_weights_own_seed")
    return differ_at_first and agree(ranks, "after_step_own_seed")


def _advice_on_seeds(mindspore: Ranks, torch: Ranks) -> str:
    if not _sends_its_start(torch):
        return "Set one seed on every rank in both frameworks."
    if _sends_its_start(mindspore):
        return "Set one seed on every rank only where data is shuffled or dropped."
    return (
        "Set one seed on every rank in MindSpore; PyTorch sends one rank's start to the others, and"
        " needs equal seeds only where data is shuffled or dropped."
    )


def _torch_seen(ranks: Ranks, mean: Any) -> Iterator[Observation]:
    local = " and ".join(digits(rank["local"]) for rank in ranks)
    printed = ranks[0]["printed"]
    averaged = ranks[0]["mean"]
    yield Observation("gradients of the two ranks alone", local, ("torch",))
    yield Observation("gradient with DDP", digits(averaged), ("torch",), averaged == mean)
    outcome = said(printed) if raised(printed) else "runs"
    yield Observation("the example of DDP as printed", outcome, ("torch",))


def _routes_seen(ranks: Ranks, mean: Any) -> Iterator[Observation]:
    """What each way to take a step in MindSpore took from the weight, on the ranks in order."""
    for names, steps in ways_by_steps(ranks):
        shown = [said(step) if raised(step) else digits(step) for step in steps]
        as_stated = all(step == mean for step in steps)
        what = f"steps of the two ranks by {', '.join(names)}"
        yield Observation(what, " and ".join(shown), ("mindspore",), as_stated)


def _seeds_seen(mindspore: Ranks, torch: Ranks) -> list[Observation]:
    agreeing = {
        "mindspore": agree(mindspore, "after_step_own_seed"),
        "torch": agree(torch, "after_step_own_seed"),
    }
    # That seeds must agree is to say that the weights do not without it.
    as_stated = {framework: not is_so for framework, is_so in agreeing.items()}
    what = "weights after a step from different seeds"
    return observed(what, agreeing, lambda is_so: "agree" if is_so else "differ", as_stated)
