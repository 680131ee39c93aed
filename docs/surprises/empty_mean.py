"""The sum and the mean of a tensor without elements, as an empty mask leaves it: 0, and 0 / 0."""

import mindspore as ms
import numpy as np
import torch

EMPTY = np.zeros(0, np.float32)


def mean(x):
    return x.mean()


def guarded(x):
    return x.mean() if x.size else ms.Tensor(0.0)


def main():
    for style, mode in (("tape", ms.PYNATIVE_MODE), ("graph", ms.GRAPH_MODE)):
        ms.set_context(mode=mode)
        empty = ms.Tensor(EMPTY)
        means = [ms.value_and_grad(mean)(empty)[0].asnumpy() for _ in range(20)]
        sums = [empty.sum().asnumpy() for _ in range(20)]
        print(f"MindSpore, {style}, every mean is nan:", bool(np.isnan(means).all()))
        print(f"MindSpore, {style}, every sum is 0:", not np.any(sums))
        print(f"MindSpore, {style}, guarded:", guarded(empty))
    empty = torch.tensor(EMPTY)
    print("PyTorch:", empty.sum().numpy(), empty.mean().numpy())


if __name__ == "__main__":
    main()
