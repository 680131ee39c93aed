"""Layer normalisation of small numbers, with the default epsilon of each framework."""

import mindspore as ms
import numpy as np
import torch
from mindspore import nn

ROW = np.array([[0.001, 0.002, 0.003]], np.float32)


def main():
    ms.set_context(mode=ms.PYNATIVE_MODE)
    row = ms.Tensor(ROW)
    print("MindSpore, epsilon by default:", nn.LayerNorm([3]).epsilon)
    print("PyTorch, eps by default:", torch.nn.LayerNorm(3).eps)
    print("MindSpore:", nn.LayerNorm([3])(row).asnumpy()[0].round(4))
    print("MindSpore, epsilon=1e-5:", nn.LayerNorm([3], epsilon=1e-5)(row).asnumpy()[0].round(4))
    print("PyTorch:", torch.nn.LayerNorm(3)(torch.tensor(ROW)).detach().numpy()[0].round(4))


if __name__ == "__main__":
    main()
