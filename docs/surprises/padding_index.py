"""What `padding_idx` of an embedding means to the row it names: its initial value, and its gradient."""

import mindspore as ms
import numpy as np
import torch
from mindspore import nn

INDICES = [0, 1, 0]


def torch_rows(net):
    net(torch.tensor(INDICES)).sum().backward()
    return net.weight.grad.numpy()


class Masked(nn.Cell):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(3, 2, padding_idx=0)

    def construct(self, indices):
        return self.embedding(indices) * (indices != 0).expand_dims(-1)


def rows(net):
    indices = ms.Tensor(np.array(INDICES, np.int32))
    # The sum of all outputs is what is differentiated.
    (gradient,) = ms.grad(net, None, net.trainable_params())(indices)
    return gradient.asnumpy()


def main():
    net = nn.Embedding(3, 2, padding_idx=0)
    print("MindSpore, initial row 0:", net.embedding_table.asnumpy()[0])
    for style, mode in (("tape", ms.PYNATIVE_MODE), ("graph", ms.GRAPH_MODE)):
        ms.set_context(mode=mode)
        print(f"MindSpore, {style}, gradient of row 0:", rows(net)[0])
        print(f"MindSpore, {style}, gradient of row 0, masked:", rows(Masked())[0])
    net = torch.nn.Embedding(3, 2, padding_idx=0)
    print("PyTorch, initial row 0:", net.weight[0].detach().numpy())
    print("PyTorch, gradient of row 0:", torch_rows(net)[0])


if __name__ == "__main__":
    main()
