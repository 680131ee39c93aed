"""The gradient of Σa·b by the first argument, where one tensor is passed as both."""

import mindspore as ms
import numpy as np
import torch

X = np.array([1.0, 2.0, 3.0], np.float32)


def product(a, b):
    return (a * b).sum()


def main():
    for style, mode in (("tape", ms.PYNATIVE_MODE), ("graph", ms.GRAPH_MODE)):
        ms.set_context(mode=mode)
        x = ms.Tensor(X)
        print(f"MindSpore, {style}, product(x, x):", ms.grad(product)(x, x))
        print(f"MindSpore, {style}, product(x, copy):", ms.grad(product)(x, x.copy()))
    x = torch.tensor(X, requires_grad=True)
    (gradient,) = torch.autograd.grad(product(x, x), x)
    print("PyTorch, torch.autograd.grad:", gradient.numpy())
    (gradient,) = torch.autograd.grad(product(x, x.clone()), x)
    print("PyTorch, torch.autograd.grad, x.clone():", gradient.numpy())
    (gradient,) = torch.autograd.grad(product(x, x.detach().clone()), x)
    print("PyTorch, torch.autograd.grad, x.detach().clone():", gradient.numpy())
    compiled = torch.compile(product, backend="aot_eager")
    (gradient,) = torch.autograd.grad(compiled(x, x), x)
    print("PyTorch, torch.compile:", gradient.numpy())
    print("PyTorch, torch.func.grad:", torch.func.grad(product)(x.detach(), x.detach()).numpy())


if __name__ == "__main__":
    main()
