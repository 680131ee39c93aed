"""The sum and the mean of a tensor without elements, as an empty mask leaves it: 0, and 0 / 0."""

import mindspore as ms
import numpy as np
import torch

EMPTY = [np.zeros((0,) * rank, np.float32) for rank in (1, 2, 3, 4) for _ in range(5)]


def mean(x):
    return x.mean()


def guarded(x):
    return x.mean() if x.size else ms.Tensor(0.0)


def main():
    for style, mode in (("tape", ms.PYNATIVE_MODE), ("graph", ms.GRAPH_MODE)):
        ms.set_context(mode=mode)
        tensors = [ms.Tensor(array) for array in EMPTY]
        means = [ms.value_and_grad(mean)(empty)[0].asnumpy() for empty in tensors]
        sums = [empty.sum().asnumpy() for empty in tensors]
        print(f"MindSpore, {style}, every mean is nan:", bool(np.isnan(means).all()))
        print(f"MindSpore, {style}, every sum is 0:", not np.any(sums))
        print(f"MindSpore, {style}, guarded:", guarded(tensors[0]))
    empty = torch.tensor(EMPTY[0])
    print("PyTorch:", empty.sum().numpy(), empty.mean().numpy())


if __name__ == "__main__":
    main()
