"""The program behind every question about a gradient call: one engine's answer to one case.

It runs in that engine's worker.
"""

import msgspec

from explorer.model.arrays import unpack
from explorer.model.cases import GradCase
from explorer.model.measurement import Ask, Found
from explorer.text.failures import message
from explorer.text.messages import repeatable
from explorer.topics import scenario_nets
from explorer.topics.scenario_nets import net_request


def answer(ask: Ask) -> Found:
    """An engine's answer to a case: its structure, its tensors from left to right, and its code."""
    # Options travel as plain data, in which a tuple of positions has become a list.
    case = msgspec.convert(ask.options["case"], GradCase)
    result = scenario_nets.answer(net_request(ask, ask.options["engine"]), case)
    if result.error:
        return Found(
            {
                "raised": result.error.type,
                "message": repeatable(message(result.error)),
                "code": result.code,
            }
        )
    return Found(
        {
            "structure": result.written,
            "natural": result.natural,
            "values": [unpack(leaf.value).tolist() for leaf in result.leaves],
            "code": result.code,
        }
    )
