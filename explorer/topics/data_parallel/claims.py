"""The claim about data parallel training (row 61)."""

from typing import Any

from explorer.model.claim import Ruling
from explorer.text.numbers import digits
from explorer.topics.data_parallel.findings import agree, is_mean
from explorer.topics.data_parallel.questions import TOPIC, TWO_PROCESSES
from explorer.topics.evidence import Evidence


@TOPIC.claim(
    61,
    "DDP averages gradients, DATA_PARALLEL with gradients_mean does the same, and seeds must"
    " agree across ranks.",
    heading="parallel",
    guides=("001", "000"),
    would="Two ranks with gradients [2, 4, 6] and [84, 168, 252] both get [43, 86, 129], and"
    " drift apart with own seeds.",
    asks=(TWO_PROCESSES,),
    expects={"mean": [[43.0, 86.0, 129.0]]},
)
def averages(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when both frameworks give the guide's mean, and both need one seed on all ranks.

    It holds with changes where a framework sends one rank's start to the others.
    """
    means_as_said = True
    sends_its_start = []
    sentences = []
    for framework, figures in evidence[TWO_PROCESSES].items():
        ranks = figures["ranks"]
        mean = ranks[0]["mean"]
        means_as_said = means_as_said and is_mean(ranks) and mean == expects["mean"]
        alike_after_step = agree(ranks, "after_step_own_seed")
        # Different starts that one step makes equal: the framework sent one of them around.
        if alike_after_step and not agree(ranks, "first_weights_own_seed"):
            sends_its_start.append(framework)
        local = " and ".join(digits(rank["local"]) for rank in ranks)
        outcome = "agree" if framework in sends_its_start else "differ"
        sentences.append(
            f"{framework}: {len(ranks)} ranks average {local} to {digits(mean)}, and started from"
            f" different seeds their weights {outcome} after a step"
        )

    seen = "; ".join(sentences)
    if not means_as_said:
        return Ruling(
            "does_not_hold",
            seen,
            "Divide by the number of ranks yourself, or scale the learning rate.",
        )
    if not sends_its_start:
        return Ruling("holds", seen, "Set one seed on every rank in both frameworks.")
    return Ruling(
        "holds_with_changes",
        seen,
        f"Set one seed on every rank in MindSpore; {' and '.join(sends_its_start)} sends one rank's"
        " start to the others, and needs equal seeds only where data is shuffled or dropped.",
    )
