"""Operators that compute float64 tensors, or their gradients, in single precision or worse."""

import mindspore as ms
import numpy as np
import torch
from mindspore import ops
from torch.nn import functional

X = np.array([-1.984375, -1.40625, -0.5, 0.359375])
P = np.exp(X) / np.exp(X).sum()
EXPECTED = {
    "log_softmax": np.log(P),
    "celu": np.where(X > 0, X, np.expm1(X)),
    "masked_fill": np.where(P > 0.5, 0.25, P),
    "mse_loss": np.mean((X - P) ** 2),
    "sort": np.sort(P),
    "gradient of l1_loss": np.sign(X[:3] - P[:3]) / 3,
    "gradient of hypot": X / np.hypot(X, P),
}


def mindspore_values():
    x, p = ms.Tensor(X), ms.Tensor(P)
    yield "log_softmax", ops.log_softmax(x, 0)
    yield "celu", ops.celu(x, 1.0)
    yield "masked_fill", ops.masked_fill(p, p > 0.5, 0.25)
    yield "mse_loss", ops.mse_loss(x, p)
    yield "sort", ops.sort(p)[0]
    yield "gradient of l1_loss", ms.grad(ops.l1_loss)(x[:3], p[:3])
    yield "gradient of hypot", ms.grad(ops.hypot)(x, p)


def torch_values():
    x, p = torch.tensor(X), torch.tensor(P)
    yield "log_softmax", torch.log_softmax(x, 0)
    yield "celu", functional.celu(x, 1.0)
    yield "masked_fill", torch.masked_fill(p, p > 0.5, 0.25)
    yield "mse_loss", functional.mse_loss(x, p)
    yield "sort", torch.sort(p)[0]
    yield "gradient of l1_loss", torch.func.grad(functional.l1_loss)(x[:3], p[:3])
    yield "gradient of hypot", torch.func.grad(lambda x: torch.hypot(x, p).sum())(x)


def main():
    for framework, values in (("MindSpore", mindspore_values), ("PyTorch", torch_values)):
        for name, value in values():
            error = np.abs(value.numpy() - EXPECTED[name]).max()
            print(f"{framework}, {name}: {str(value.dtype).lower()}, off by {error:.0e}")


if __name__ == "__main__":
    main()
