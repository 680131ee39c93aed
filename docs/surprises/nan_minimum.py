"""The minimum and the maximum of nan and 2, in both orders."""

import mindspore as ms
import torch
from mindspore import ops

NAN = float("nan")


def guarded(x, bound):
    return ops.where(ops.isnan(x), x, ops.minimum(x, bound))


def main():
    for style, mode in (("tape", ms.PYNATIVE_MODE), ("graph", ms.GRAPH_MODE)):
        ms.set_context(mode=mode)
        show(f"MindSpore, {style}", ops.minimum, ops.maximum, ms.Tensor)
        print(f"MindSpore, {style}, guarded:", guarded(ms.Tensor([NAN]), ms.Tensor([2.0])))
    show("PyTorch", torch.minimum, torch.maximum, torch.tensor)


def show(who, minimum, maximum, tensor):
    nan, two = tensor([NAN]), tensor([2.0])
    for name, function in (("minimum", minimum), ("maximum", maximum)):
        print(f"{who}, {name}(nan, 2):", function(nan, two).numpy())
        print(f"{who}, {name}(2, nan):", function(two, nan).numpy())


if __name__ == "__main__":
    main()
