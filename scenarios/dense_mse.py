"""Dense layer with mean squared error.

The net of MindSpore's guide to gradients: a dense layer without bias, weight `[[2, 3, 4]]`, input
`[[1, 2, 3]]`, so that the logit is 2 + 6 + 12 = 20, and a squared error of 1 against the target 19.
Every figure can be checked by hand: the derivative with respect to `x` is 2·(20 − 19)·`[2, 3, 4]` =
`[4, 6, 8]`, by `y` it is −2, and by the weight `[2, 4, 6]`.

The net returns **two** outputs, loss and logits, and that is the point. With `has_aux=True` only
the loss is differentiated and the logits come back beside the gradient. With `has_aux=False`
MindSpore differentiates the *sum* of the outputs: `[4, 6, 8]` from the loss plus `[2, 3, 4]` from
the logits gives `[6, 9, 12]`. PyTorch's `loss.backward()` never does that by itself; a net ported
with an extra output trains on another objective without a word.
"""

import numpy as np

OUTPUTS = ("loss", "logits")


def inputs():
    return {"x": np.array([[1, 2, 3]], np.float32), "y": np.array(19, np.float32)}


def parameters():
    return {"fc.weight": np.array([[2, 3, 4]], np.float32)}


def mindspore_net():
    from mindspore import nn

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.fc = nn.Dense(3, 1, has_bias=False)
            self.loss = nn.MSELoss()

        def construct(self, x, y):
            logits = self.fc(x).squeeze()
            return self.loss(logits, y), logits

    return Net()


def torch_net():
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(3, 1, bias=False)
            self.loss = nn.MSELoss()

        def forward(self, x, y):
            logits = self.fc(x).squeeze()
            return self.loss(logits, y), logits

    return Net()


def jax_net():
    def net(params, x, y):
        logits = (x @ params["fc.weight"].T).squeeze()
        return ((logits - y) ** 2).mean(), logits

    return net
