"""A 3×3 convolution of ones with stride 2 on a 4×4 picture: "same" and a padding of 1 give one shape."""

import mindspore as ms
import numpy as np
import torch
from mindspore import nn

PICTURE = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)


def main():
    ms.set_context(mode=ms.PYNATIVE_MODE)
    picture = ms.Tensor(PICTURE)
    same = nn.Conv2d(1, 1, 3, stride=2, weight_init="ones")
    print("MindSpore, default (same):", same(picture).asnumpy().ravel())
    padded = nn.Conv2d(1, 1, 3, stride=2, pad_mode="pad", padding=1, weight_init="ones")
    print('MindSpore, pad_mode="pad", padding=1:', padded(picture).asnumpy().ravel())

    conv = torch.nn.Conv2d(1, 1, 3, stride=2, padding=1, bias=False)
    torch.nn.init.ones_(conv.weight)
    print("PyTorch, padding=1:", conv(torch.tensor(PICTURE)).detach().numpy().ravel())
    try:
        torch.nn.Conv2d(1, 1, 3, stride=2, padding="same")
    except ValueError as error:
        print('PyTorch, padding="same": ValueError:', error)


if __name__ == "__main__":
    main()
