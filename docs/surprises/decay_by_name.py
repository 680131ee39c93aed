"""Weight decay of 0.1 with a rate of 0.1 and no gradient leaves 0.99 of a weight. Of which?"""

import mindspore as ms
import numpy as np
import torch
from mindspore import nn

ONE = np.ones(1, np.float32)
NAMES = ("weight", "beta", "beta_net.weight")


def new_parameters():
    return [ms.Parameter(ms.Tensor(ONE), name=name) for name in NAMES]


def step(optimizer):
    optimizer(tuple(ms.Tensor(0 * ONE) for _ in NAMES))


def main():
    ms.set_context(mode=ms.PYNATIVE_MODE)
    parameters = new_parameters()
    step(nn.SGD(parameters, learning_rate=0.1, weight_decay=0.1))
    for parameter in parameters:
        print(f"MindSpore, {parameter.name}:", parameter.asnumpy())

    parameters = new_parameters()
    step(nn.SGD([{"params": parameters, "weight_decay": 0.1}], learning_rate=0.1))
    for parameter in parameters:
        print(f"MindSpore, {parameter.name}, in a group:", parameter.asnumpy())

    parameter = torch.nn.Parameter(torch.tensor(ONE))
    parameter.grad = torch.tensor(0 * ONE)
    torch.optim.SGD([("beta", parameter)], lr=0.1, weight_decay=0.1).step()
    print("PyTorch, beta:", parameter.detach().numpy())


if __name__ == "__main__":
    main()
