"""RReLU in evaluation, twice for the same number: the slope below 0 is drawn, or (1/8 + 1/3) / 2."""

import mindspore as ms
import numpy as np
import torch
from mindspore import nn, ops

X = np.full(4, -1.0, np.float32)


def main():
    for style, mode in (("tape", ms.PYNATIVE_MODE), ("graph", ms.GRAPH_MODE)):
        ms.set_context(mode=mode)
        net = nn.RReLU().set_train(False)
        x = ms.Tensor(X)
        values = np.concatenate([net(x).asnumpy(), net(x).asnumpy()])
        print(f"MindSpore, {style}, different values:", len(np.unique(values)))
        fixed = ops.leaky_relu(x, (1 / 8 + 1 / 3) / 2).asnumpy()
        print(f"MindSpore, {style}, leaky_relu:", fixed.round(4))
    net = torch.nn.RReLU().eval()
    print("PyTorch:", net(torch.tensor(X)).numpy().round(4))


if __name__ == "__main__":
    main()
