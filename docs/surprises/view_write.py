"""An element is overwritten through a view, then all are squared: what the plain call and `ms.grad` see."""

import mindspore as ms
import numpy as np
import torch

X = np.array([1.0, 2.0, 3.0, 4.0], np.float32)


def view(x):
    h = x * 1.0
    v = h.view(2, 2)
    v[0, 1] = 9.0
    return (h * h).sum()


def transposed(x):
    h = x.reshape(2, 2) * 1.0
    v = h.T
    v[1, 0] = 9.0
    return (h * h).sum()


def slice_of(x):
    h = x.reshape(2, 2) * 1.0
    v = h[0]
    v[1] = 9.0
    return (h * h).sum()


def direct(x):
    h = x.reshape(2, 2) * 1.0
    h[0, 1] = 9.0
    return (h * h).sum()


FUNCTIONS = {".view()": view, ".T": transposed, "h[0]": slice_of, "no view": direct}


def main():
    ms.set_context(mode=ms.PYNATIVE_MODE)
    for name, function in FUNCTIONS.items():
        x = ms.Tensor(X)
        value, gradient = ms.value_and_grad(function)(x)
        print(f"MindSpore, tape, {name}, called:", function(x))
        print(f"MindSpore, tape, {name}, differentiated:", value, gradient)
    ms.set_context(mode=ms.GRAPH_MODE)
    for name, function in FUNCTIONS.items():
        value, gradient = ms.value_and_grad(function)(ms.Tensor(X))
        print(f"MindSpore, graph, {name}, differentiated:", value, gradient)
    for name, function in FUNCTIONS.items():
        gradient, value = torch.func.grad_and_value(function)(torch.tensor(X))
        print(f"PyTorch, {name}:", value.item(), gradient.numpy())


if __name__ == "__main__":
    main()
