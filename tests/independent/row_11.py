"""Row 11: GradOperation, the older form of grad."""

from typing import Any

from tests.independent.guide_net import mindspore_arguments, mindspore_net, spelt


def in_mindspore() -> dict[str, Any]:
    """What its four forms return on the net with two outputs."""
    from mindspore import ParameterTuple, ops

    net = mindspore_net()
    weights = ParameterTuple(net.trainable_params())
    calls = {
        "first": ops.GradOperation()(net),
        "all": ops.GradOperation(get_all=True)(net),
        "by list": ops.GradOperation(get_by_list=True)(net, weights),
        "all, by list": ops.GradOperation(get_all=True, get_by_list=True)(net, weights),
    }
    return {name: spelt(call(*mindspore_arguments())) for name, call in calls.items()}
