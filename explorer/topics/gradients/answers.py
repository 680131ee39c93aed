"""The program behind every question about a gradient call: one engine's answer to one case.

It runs in that engine's worker.
"""

import msgspec

from explorer.model.arrays import unpack
from explorer.model.cases import GradCase
from explorer.model.engines import ENGINES
from explorer.model.measurement import Ask, Found
from explorer.model.requests import NetRequest
from explorer.text.failures import message
from explorer.text.messages import repeatable
from explorer.topics import scenario_nets
from explorer.topics.scenario_nets import net_request


def answer(ask: Ask) -> Found:
    """An engine's answer to a case: its structure, its tensors from left to right, and its code."""
    # Options travel as plain data, in which a tuple of positions has become a list.
    case = msgspec.convert(ask.options["case"], GradCase)
    net = net_request(ask, ask.options["engine"])
    if case.weights and ENGINES[net.engine].framework == "torch":
        net = _naming_weights(net)
    result = scenario_nets.answer(net, case)
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


def _naming_weights(net: NetRequest) -> NetRequest:
    """The request with the names of the trainable weights, which PyTorch's code differentiates by."""
    parameters = scenario_nets.describe(net).parameters
    names = tuple(parameter.name for parameter in parameters if parameter.trainable)
    return msgspec.structs.replace(net, trainable=names)
