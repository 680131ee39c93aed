"""Two values are written to one place: the later is kept, and the gradient goes to both."""

import mindspore as ms
import numpy as np
import torch
from mindspore import ops

VALUES = np.array([5.0, 7.0], np.float32)
INDEX = np.array([0, 0])
STEP = 0.5


def mindspore_scatter(values):
    into, index = ops.zeros(2, ms.float32), ms.Tensor(INDEX)
    return 3 * ops.tensor_scatter_elements(into, index, values)[0:1].sum()


def torch_scatter(values):
    return 3 * torch.zeros(2).scatter(0, torch.tensor(INDEX), values)[0]


def torch_last(values):
    return 3 * torch.zeros(2).scatter(0, torch.tensor(INDEX[1:]), values[1:])[0]


def mindspore_last(values):
    into, index = ops.zeros(2, ms.float32), ms.Tensor(INDEX[1:])
    return 3 * ops.tensor_scatter_elements(into, index, values[1:])[0:1].sum()


def main():
    for style, mode in (("tape", ms.PYNATIVE_MODE), ("graph", ms.GRAPH_MODE)):
        ms.set_context(mode=mode)
        gradient = ms.grad(mindspore_scatter)(ms.Tensor(VALUES))
        print(f"MindSpore, {style}, gradient:", gradient)
        print(f"MindSpore, {style}, later alone:", ms.grad(mindspore_last)(ms.Tensor(VALUES)))
    print("PyTorch, gradient:", torch.func.grad(torch_scatter)(torch.tensor(VALUES)).numpy())
    print("PyTorch, later alone:", torch.func.grad(torch_last)(torch.tensor(VALUES)).numpy())
    moved = [torch_scatter(torch.tensor(VALUES + STEP * one).float()).item() for one in np.eye(2)]
    unmoved = torch_scatter(torch.tensor(VALUES)).item()
    print("differences:", [(value - unmoved) / STEP for value in moved])


if __name__ == "__main__":
    main()
