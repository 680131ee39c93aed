"""A loss with its defaults, differentiated as it stands: four rows of two classes."""

import mindspore as ms
import numpy as np
import torch
from mindspore import nn

LOGITS = np.zeros((4, 2), np.float32)
LABELS = np.array([0, 0, 0, 0], np.int32)

by_default = nn.SoftmaxCrossEntropyWithLogits(sparse=True)
mean = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")


def main():
    ms.set_context(mode=ms.PYNATIVE_MODE)
    logits, labels = ms.Tensor(LOGITS), ms.Tensor(LABELS)
    print("MindSpore, loss:", by_default(logits, labels).asnumpy().round(4))
    print("MindSpore, first row's gradient:", ms.grad(by_default)(logits, labels)[0])
    print('MindSpore, reduction="mean":', ms.grad(mean)(logits, labels)[0])

    leaf = torch.tensor(LOGITS, requires_grad=True)
    targets = torch.tensor(LABELS).long()
    torch.nn.CrossEntropyLoss()(leaf, targets).backward()
    print("PyTorch, first row's gradient:", leaf.grad[0].numpy())
    try:
        torch.nn.CrossEntropyLoss(reduction="none")(leaf, targets).backward()
    except RuntimeError as error:
        print('PyTorch, reduction="none": RuntimeError:', error)


if __name__ == "__main__":
    main()
