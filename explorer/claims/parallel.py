"""The claim about data parallel training (row 61)."""

from typing import Any

from explorer.arrays import digits
from explorer.claims.records import Claim, Ruling
from explorer.engines import FRAMEWORKS
from explorer.measuring import Evidence
from explorer.studies.data_parallel import MEASUREMENTS
from explorer.studies.data_parallel.telling import NAMES, agree, is_mean


def averages(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when both give the guide's mean and both need one seed; with changes where one of them evens the start out itself."""
    ranks = {framework: evidence[NAMES[framework]]["ranks"] for framework in FRAMEWORKS}
    means = {framework: seen[0]["mean"] for framework, seen in ranks.items()}
    evens = [
        framework
        for framework, seen in ranks.items()
        if not agree(seen, "first_weights_own_seed") and agree(seen, "after_step_own_seed")
    ]
    local = " and ".join(digits(rank["local"]) for rank in ranks["torch"])
    told = "; ".join(
        f"{framework}: {len(seen)} ranks average {local} to {digits(means[framework])}, and started from different seeds their "
        f"weights {'agree' if framework in evens else 'differ'} after a step"
        for framework, seen in ranks.items()
    )
    if not all(is_mean(seen) and means[framework] == expects["mean"] for framework, seen in ranks.items()):
        return Ruling("does_not_hold", told, "Divide by the number of ranks yourself, or scale the learning rate.")
    if not evens:
        return Ruling("holds", told, "Set one seed on every rank in both frameworks.")
    return Ruling(
        "holds_with_changes",
        told,
        f"Set one seed on every rank in MindSpore; {' and '.join(evens)} sends one rank's start to the others, and needs "
        "equal seeds only where data is shuffled or dropped.",
    )


CLAIMS: tuple[Claim, ...] = (
    Claim(
        id=61,
        topic="parallel",
        guides=("000",),
        statement="DDP averages gradients, DATA_PARALLEL with gradients_mean does the same, and seeds must agree across ranks.",
        would="Two ranks with gradients [2, 4, 6] and [84, 168, 252] both get [43, 86, 129], and drift apart with own seeds.",
        measurements=MEASUREMENTS,
        judge=averages,
        expects={"mean": [[43.0, 86.0, 129.0]]},
    ),
)
