"""The Hessian of Σ tanh(A·x), as the Jacobian of the gradient: [h00, h01, h10, h11], where h01 is h10."""

import mindspore as ms
import numpy as np
import torch
from mindspore import ops

A = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
X = np.array([0.1, 0.2], np.float32)
MATRIX = ms.Tensor(A)
SYMMETRIC = ms.Tensor([[1.0, 2.0], [2.0, 1.0]])
"""With this matrix the wrong Hessian is symmetric too."""


def net(x):
    return ops.tanh(ops.matmul(MATRIX, x)).sum()


def gradient(x):
    return ms.grad(net)(x)


def net_of_symmetric(x):
    return ops.tanh(ops.matmul(SYMMETRIC, x)).sum()


def gradient_of_symmetric(x):
    return ms.grad(net_of_symmetric)(x)


def net_by_column(x):
    return ops.tanh(ops.matmul(MATRIX, x.reshape((2, 1)))).sum()


def gradient_by_column(x):
    return ms.grad(net_by_column)(x)


def torch_net(x):
    return torch.tanh(torch.tensor(A) @ x).sum()


def torch_net_of_symmetric(x):
    return torch.tanh(torch.tensor([[1.0, 2.0], [2.0, 1.0]]) @ x).sum()


def main():
    for style, mode in (("tape", ms.PYNATIVE_MODE), ("graph", ms.GRAPH_MODE)):
        ms.set_context(mode=mode)
        x = ms.Tensor(X)
        print(f"MindSpore, {style}, jacfwd:", ms.jacfwd(gradient)(x).asnumpy().ravel().round(4))
        print(f"MindSpore, {style}, jacrev:", ms.jacrev(gradient)(x).asnumpy().ravel().round(4))
        by_column = ms.jacrev(gradient_by_column)(x).asnumpy()
        print(f"MindSpore, {style}, x as a column:", by_column.ravel().round(4))
        symmetric = ms.jacfwd(gradient_of_symmetric)(x).asnumpy()
        print(f"MindSpore, {style}, jacfwd, symmetric A:", symmetric.ravel().round(4))
    print("PyTorch:", torch.func.hessian(torch_net)(torch.tensor(X)).numpy().ravel().round(4))
    symmetric = torch.func.hessian(torch_net_of_symmetric)(torch.tensor(X)).numpy()
    print("PyTorch, symmetric A:", symmetric.ravel().round(4))


if __name__ == "__main__":
    main()
