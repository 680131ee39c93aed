"""Row 15: a dynamic scale that starts at 2^18, has factor 2, and grows after three finite steps."""

from typing import Any

from tests.independent.attempts import attempt

GREATEST = 65504.0
"""The greatest float16."""

GRADIENTS = [1.0] * 9 + [32.0] + [1.0] * 6 + [0.125] * 8
"""The gradient of each step before it is scaled."""


def closed_form() -> dict[str, Any]:
    """The scale at each step by the rule that both frameworks' documents state."""
    scale, finite_steps = 2.0**18, 0
    turns = []
    for gradient in GRADIENTS:
        before = scale
        is_finite = before * gradient <= GREATEST
        if is_finite:
            finite_steps += 1
            if finite_steps == 3:
                scale, finite_steps = before * 2, 0
        else:
            scale, finite_steps = before / 2, 0
        turns.append({"scale": before, "after": scale, "finite": is_finite, "stepped": is_finite})
    return {"turns": turns}


def in_mindspore() -> dict[str, Any]:
    """The scale after each step by DynamicLossScaler.adjust."""
    import mindspore as ms
    import numpy as np

    scaler = ms.amp.DynamicLossScaler(2**18, 2, 3)
    after = []
    for gradient in GRADIENTS:
        scaled = scaler.scale(ms.Tensor(gradient, ms.float32)).asnumpy()
        with np.errstate(over="ignore"):
            in_half = ms.Tensor(scaled.astype(np.float16))
        scaler.adjust(ms.amp.all_finite((in_half,)))
        after.append(float(scaler.scale_value.asnumpy()))
    return {"after": after, **_overflowed()}


def _overflowed() -> dict[str, Any]:
    """What a step of SGD along an infinite gradient leaves; what two cells with a scale raise."""
    import mindspore as ms
    from mindspore import amp, nn

    def optimizer_of(net: Any) -> Any:
        return nn.SGD(net.trainable_params(), 0.125)

    net = nn.Dense(1, 1, ms.Tensor([[1.0]]), has_bias=False)
    optimizer_of(net)((ms.Tensor([[float("inf")]]),))
    weight = float(net.weight.asnumpy()[0, 0])

    def cell() -> Any:
        net = nn.Dense(1, 1, has_bias=False)
        scale = nn.DynamicLossScaleUpdateCell(2**18, 2, 3)
        step = nn.TrainOneStepWithLossScaleCell(net, optimizer_of(net), scale)
        return step(ms.Tensor([[1.0]]))

    def built() -> Any:
        net = nn.Dense(1, 1, has_bias=False)
        manager = amp.DynamicLossScaleManager(2**18, 2, 3)
        return amp.build_train_network(net, optimizer_of(net), loss_scale_manager=manager)

    return {
        "weight": ["-Infinity" if weight == float("-inf") else weight],
        "moved": weight != 1,
        "cell": attempt(cell),
        "built": attempt(built),
    }
