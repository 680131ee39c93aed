"""What two ranks' figures tell: mean against sum, and what became of weights that started differently."""

from typing import Any

import numpy as np

from explorer.arrays import digits
from explorer.engines import Framework
from explorer.measuring import Evidence, Figures
from explorer.studies.records import Chart, Series, Table, Telling

NAMES: dict[Framework, str] = {"mindspore": "data-parallel.two_processes.mindspore", "torch": "data-parallel.two_processes.torch"}
ROUTES: dict[Framework, str] = {"mindspore": "DistributedGradReducer, mccl", "torch": "DistributedDataParallel, gloo"}
ROWS = {
    "local": "gradient of the rank's own sample",
    "mean": "reduced with mean",
    "sum": "reduced with sum",
    "after_step": "weights after one step, one start",
    "first_weights_one_seed": "first random weights, one seed for all",
    "first_weights_own_seed": "first random weights, each rank its own seed",
    "after_step_own_seed": "weights after one step from there",
}
"""What each rank reports, in a reader's words."""


def tell(evidence: Evidence) -> Telling:
    """Findings, a table of both ranks' figures for each framework, and bars of the gradients."""
    ran: dict[Framework, list[Figures]] = {
        framework: evidence[name]["ranks"] for framework, name in NAMES.items() if evidence.get(name)
    }
    return Telling(
        findings=tuple(finding for framework, ranks in ran.items() for finding in _findings(framework, ranks)),
        tables=tuple(_table(framework, ranks) for framework, ranks in ran.items()),
        charts=(_chart(ran),) if ran else (),
    )


def is_mean(ranks: list[Figures]) -> bool:
    """Whether every rank's "mean" is the mean of the local gradients."""
    expected = np.mean([rank["local"] for rank in ranks], axis=0)
    return all(np.array_equal(rank["mean"], expected) for rank in ranks)


def is_sum(ranks: list[Figures]) -> bool:
    """Whether every rank's "sum" is the sum of the local gradients."""
    expected = np.sum([rank["local"] for rank in ranks], axis=0)
    return all(np.array_equal(rank["sum"], expected) for rank in ranks)


def agree(ranks: list[Figures], what: str) -> bool:
    """Whether all ranks report the same under ``what``."""
    return all(rank[what] == ranks[0][what] for rank in ranks)


def _findings(framework: Framework, ranks: list[Figures]) -> list[str]:
    route = ROUTES[framework]
    local = " and ".join(_short(rank["local"]) for rank in ranks)
    found = [
        f"{route}: from {local} each rank gets {_short(ranks[0]['mean'])}, which is {'' if is_mean(ranks) else 'not '}the mean; "
        f"summed it is {_short(ranks[0]['sum'])}, so a learning rate tuned for one is {len(ranks)} times off for the other."
    ]
    if agree(ranks, "first_weights_own_seed"):
        return [*found, f"{route}: the seeds of the ranks made no difference to their first weights."]
    after = "agree after the first step" if agree(ranks, "after_step_own_seed") else "still differ after the first step"
    why = "one rank's start was sent to the others" if agree(ranks, "after_step_own_seed") else "set one seed on every rank"
    return [*found, f"{route}: ranks with seeds of their own start from different weights, which {after}: {why}."]


def _table(framework: Framework, ranks: list[Figures]) -> Table:
    return Table(
        title=f"{framework}: {ROUTES[framework]}",
        columns=("what", *(f"rank {rank['rank']}" for rank in ranks), "the same"),
        rows=tuple((words, *(_short(rank[key]) for rank in ranks), agree(ranks, key)) for key, words in ROWS.items()),
    )


def _chart(ran: dict[Framework, list[Figures]]) -> Chart:
    series = []
    for framework, ranks in ran.items():
        places = [*(f"rank {rank['rank']}, local" for rank in ranks), "mean", "sum"]
        values = [*(_first(rank["local"]) for rank in ranks), _first(ranks[0]["mean"]), _first(ranks[0]["sum"])]
        series.append(Series(framework, tuple(places), tuple(values)))
    return Chart(
        name="data-parallel-gradients",
        title="One weight's gradient on two ranks",
        kind="bars",
        x="",
        y="gradient of the first weight",
        series=tuple(series),
        note="Each rank differentiates its own sample; reducing with mean or with sum differs by the number of ranks.",
    )


def _first(gradient: Any) -> float:
    return float(np.ravel(gradient)[0])


def _short(value: Any) -> str:
    return digits(np.asarray(value))
