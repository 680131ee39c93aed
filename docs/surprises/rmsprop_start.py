"""The first step with everything but the rate at its default: the rate is 0.1, the gradient 0.1."""

import mindspore as ms
import numpy as np
import torch
from mindspore import nn, ops


def step_of(optimizer, weight):
    optimizer((ms.Tensor(np.array([0.1], np.float32)),))
    return round(-float(weight.asnumpy()[0]), 4)


def new_weight():
    return ms.Parameter(ms.Tensor(np.zeros(1, np.float32)), name="weight")


def torch_step(optimizer):
    weight = torch.nn.Parameter(torch.zeros(1))
    weight.grad = torch.tensor([0.1])
    optimizer([weight], lr=0.1).step()
    return round(-float(weight), 4)


def main():
    ms.set_context(mode=ms.PYNATIVE_MODE)
    weight = new_weight()
    print("MindSpore, RMSProp:", step_of(nn.RMSProp([weight], learning_rate=0.1), weight))
    weight = new_weight()
    optimizer = nn.RMSProp([weight], learning_rate=0.1, decay=0.99)
    for mean_square in optimizer.ms:
        mean_square.set_data(ops.zeros_like(mean_square))
    print("MindSpore, RMSProp from 0, decay 0.99:", step_of(optimizer, weight))
    print("PyTorch, RMSprop:", torch_step(torch.optim.RMSprop))
    weight = new_weight()
    print("MindSpore, Adagrad:", step_of(nn.Adagrad([weight], learning_rate=0.1), weight))
    weight = new_weight()
    optimizer = nn.Adagrad([weight], learning_rate=0.1, accum=0.0)
    print("MindSpore, Adagrad, accum 0:", step_of(optimizer, weight))
    print("PyTorch, Adagrad:", torch_step(torch.optim.Adagrad))


if __name__ == "__main__":
    main()
