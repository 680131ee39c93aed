"""The gradient of CTC loss by log-probabilities, beside differences of the loss, and by the logits."""

import mindspore as ms
import numpy as np
import torch
from mindspore import ops

# One step, one label, two classes of which the first is the blank.
LOGITS = np.log(np.array([[[0.25, 0.75]]], np.float32))
LABEL = np.array([[1]], np.int32)
LENGTH = np.array([1], np.int32)
STEP = 1e-2


def mindspore_loss(scores):
    lengths = ms.Tensor(LENGTH)
    return ops.ctc_loss(scores, ms.Tensor(LABEL), lengths, lengths, reduction="sum")[0]


def mindspore_loss_of_logits(logits):
    return mindspore_loss(ops.log_softmax(logits, -1))


def torch_loss(scores):
    lengths, label = torch.tensor(LENGTH).long(), torch.tensor(LABEL).long()
    return torch.nn.functional.ctc_loss(scores, label, lengths, lengths, reduction="sum")


def torch_gradient(loss):
    scores = torch.tensor(LOGITS, requires_grad=True)
    return torch.autograd.grad(loss(scores), scores)[0].numpy()


def differences(loss):
    slopes = []
    for place in range(2):
        step = np.zeros_like(LOGITS)
        step[0, 0, place] = STEP
        slopes.append(float(loss(LOGITS + step) - loss(LOGITS - step)) / (2 * STEP))
    return np.array(slopes)


def rounded(gradient):
    return np.round(np.asarray(gradient).ravel(), 3) + 0.0


def main():
    for style, mode in (("tape", ms.PYNATIVE_MODE), ("graph", ms.GRAPH_MODE)):
        ms.set_context(mode=mode)
        by_scores = ms.grad(mindspore_loss)(ms.Tensor(LOGITS)).asnumpy()
        by_logits = ms.grad(mindspore_loss_of_logits)(ms.Tensor(LOGITS)).asnumpy()
        print(f"MindSpore, {style}, by the log-probabilities:", rounded(by_scores))
        print(f"MindSpore, {style}, by the logits:", rounded(by_logits))
    by_difference = differences(lambda scores: mindspore_loss(ms.Tensor(scores)).asnumpy())
    print("MindSpore, differences by the log-probabilities:", rounded(by_difference))
    print("PyTorch, by the log-probabilities:", rounded(torch_gradient(torch_loss)))
    by_logits = torch_gradient(lambda logits: torch_loss(torch.log_softmax(logits, -1)))
    print("PyTorch, by the logits:", rounded(by_logits))
    by_difference = differences(lambda scores: torch_loss(torch.tensor(scores)))
    print("PyTorch, differences by the log-probabilities:", rounded(by_difference))


if __name__ == "__main__":
    main()
