"""Values that a net takes from Python: an attribute that is changed, a number drawn by numpy."""

import mindspore as ms
import numpy as np
from mindspore import nn

ONE = ms.Tensor(np.array([1.0], np.float32))


class Scaled(nn.Cell):
    def __init__(self):
        super().__init__()
        self.scale = 2.0

    def construct(self, x):
        return (x * self.scale).sum()


def noisy(x):
    return (x * float(np.random.uniform(1.0, 2.0))).sum()


def main():
    for style, mode in (("tape", ms.PYNATIVE_MODE), ("graph", ms.GRAPH_MODE)):
        ms.set_context(mode=mode)
        net = Scaled()
        gradient = ms.grad(net)
        print(f"{style}, scale 2, gradient:", gradient(ONE))
        net.scale = 5.0
        print(f"{style}, scale 5, value:", net(ONE))
        print(f"{style}, scale 5, gradient:", gradient(ONE))

        np.random.seed(0)
        gradient = ms.grad(noisy)
        drawn = {float(gradient(ONE).asnumpy()[0]) for _ in range(5)}
        print(f"{style}, numbers drawn in five calls:", len(drawn))


if __name__ == "__main__":
    main()
