"""How far the first step of Adam and AdamW goes, with a rate of 0.1, for a large and a tiny gradient."""

import mindspore as ms
import numpy as np
import torch
from mindspore import nn


def mindspore_step(optimizer, gradient):
    weight = ms.Parameter(ms.Tensor(np.zeros(1, np.float32)), name="weight")
    optimizer([weight], learning_rate=0.1)((ms.Tensor(np.array([gradient], np.float32)),))
    return -float(weight.asnumpy()[0])


def torch_step(optimizer, gradient):
    weight = torch.nn.Parameter(torch.zeros(1))
    weight.grad = torch.tensor([gradient])
    optimizer([weight], lr=0.1).step()
    return -float(weight)


def main():
    ms.set_context(mode=ms.PYNATIVE_MODE)
    for gradient in (1.0, 1e-7):
        steps = {
            "MindSpore, nn.Adam": mindspore_step(nn.Adam, gradient),
            "PyTorch, Adam": torch_step(torch.optim.Adam, gradient),
            "MindSpore, nn.AdamWeightDecay": mindspore_step(nn.AdamWeightDecay, gradient),
            "PyTorch, AdamW": torch_step(torch.optim.AdamW, gradient),
        }
        for name, step in steps.items():
            print(f"{name}, gradient {gradient:g}: {step:.4f}")


if __name__ == "__main__":
    main()
