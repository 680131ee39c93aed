"""The standard deviation of the initial weights of an embedding, of 64,000 numbers each."""

import mindspore as ms
import torch
from mindspore import nn
from mindspore.common.initializer import Normal


def main():
    ms.set_seed(0)
    torch.manual_seed(0)
    table = nn.Embedding(1000, 64).embedding_table
    print("MindSpore:", round(float(table.asnumpy().std()), 4))
    table = nn.Embedding(1000, 64, embedding_table=Normal(1.0)).embedding_table
    print("MindSpore, Normal(1.0):", round(float(table.asnumpy().std()), 4))
    print("PyTorch:", round(float(torch.nn.Embedding(1000, 64).weight.std()), 4))


if __name__ == "__main__":
    main()
