"""The shape of addcmul's gradient where an operand has a leading axis of one."""

import mindspore as ms
import numpy as np
import torch
from mindspore import ops

LEAF, ROW = np.ones(4, np.float32), np.ones((1, 4), np.float32)


def scaled(row, leaf):
    return ops.addcmul(leaf, leaf, row, value=0.5).sum()


def used_twice(row, leaf):
    return scaled(row, leaf) + row.sum()


def written_out(row, leaf):
    return (leaf + 0.5 * leaf * row).sum()


def shape_of(function):
    try:
        return ms.grad(function, 0)(ms.Tensor(ROW), ms.Tensor(LEAF)).shape
    except ValueError as error:
        return f"ValueError: {str(error).splitlines()[0]}"


def main():
    for style, mode in (("tape", ms.PYNATIVE_MODE), ("graph", ms.GRAPH_MODE)):
        ms.set_context(mode=mode)
        for function in (scaled, used_twice, written_out):
            print(f"MindSpore, {style}, {function.__name__}:", shape_of(function))
    row, leaf = torch.tensor(ROW, requires_grad=True), torch.tensor(LEAF)
    torch.addcmul(leaf, leaf, row, value=0.5).sum().backward()
    print("PyTorch, scaled:", tuple(row.grad.shape))


if __name__ == "__main__":
    main()
