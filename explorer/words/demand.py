"""What a large net demands, and the first answer to it, in a sentence each."""

import math

from explorer.exploration.large_nets import Demand, FirstAnswer
from explorer.text.language import _
from explorer.words.cases import who

GIGABYTE = 10**9
MINUTE = 60.0


def demand_text(scenario: str, demand: Demand) -> str:
    """What a net demands, and what is left out for it."""
    text = _("{scenario} has {n} million parameters: about {time} and {memory} GB of memory")
    said = text.format(
        scenario=scenario,
        n=f"{demand.elements / 1e6:.1f}",
        time=_duration(demand.seconds),
        memory=f"{demand.bytes / GIGABYTE:.1f}",
    )
    if demand.is_noise_of_one:
        said += _("; rounding noise is measured in one framework only")
    return said


def _duration(seconds: float) -> str:
    if seconds < MINUTE:
        return _("{n} seconds").format(n=math.ceil(seconds))
    return _("{n} minutes").format(n=math.ceil(seconds / MINUTE))


def first_answer_text(answer: FirstAnswer) -> str:
    """How far the engines agree, before noise is measured."""
    if not answer.engines:
        return _("first answer: no engine has a result")
    if answer.apart is None:
        return _("first answer: {engines} give the same gradients, bit for bit").format(
            engines=who(answer.engines, answer.engines)
        )
    left, right = answer.apart
    if math.isinf(answer.greatest):
        text = _("first answer: {left} and {right} differ in {leaf}")
        return text.format(left=left, right=right, leaf=answer.leaf or _("their structure"))
    text = _(
        "first answer: gradients differ by up to {share} of the greatest element of their tensor"
        " ({leaf}, {left} and {right}); whether that is rounding is judged with the graphs"
    )
    return text.format(share=f"{answer.greatest:.1e}", leaf=answer.leaf, left=left, right=right)
