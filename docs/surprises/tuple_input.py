"""The gradient by a tuple of two tensors: of Σa·b with a = [1, 2] and b = [3, 4]."""

import mindspore as ms
import numpy as np
import torch

A = np.array([1.0, 2.0], np.float32)
B = np.array([3.0, 4.0], np.float32)


def of_pair(pair):
    return (pair[0] * pair[1]).sum()


def apart(a, b):
    return (a * b).sum()


def main():
    for style, mode in (("tape", ms.PYNATIVE_MODE), ("graph", ms.GRAPH_MODE)):
        ms.set_context(mode=mode)
        a, b = ms.Tensor(A), ms.Tensor(B)
        for name, pair in (("a tuple", (a, b)), ("mutable", ms.mutable((a, b)))):
            gradients = ms.grad(of_pair)(pair)
            print(f"MindSpore, {style}, {name}:", [part.asnumpy().tolist() for part in gradients])
        both = ms.grad(apart, (0, 1))(a, b)
        print(f"MindSpore, {style}, two arguments:", [part.asnumpy().tolist() for part in both])
    pair = torch.func.grad(of_pair)((torch.tensor(A), torch.tensor(B)))
    print("PyTorch, a tuple:", [part.tolist() for part in pair])


if __name__ == "__main__":
    main()
