"""The ready-made transformer encoder layer.

`nn.TransformerEncoderLayer` is in both frameworks (Vaswani et al., "Attention is all you need", 2017)
with the same arguments, and the same parameters down to the packed `in_proj_weight`. Only the two
dense layers are `dense1` and `dense2` in MindSpore, `linear1` and `linear2` in PyTorch.

Watch the defaults: `batch_first` is False in both, `norm_first` too, so the norm follows the residual
sum, and dropout is 0.1 in training. PyTorch takes a fast path in inference when no gradient is
wanted, which the explorer never sees, for it always wants one.
"""

import numpy as np


def inputs():
    random = np.random.default_rng(14)
    return {"x": random.normal(size=(2, 4, 8)).astype(np.float32)}


def mindspore_net():
    from mindspore import nn

    class Encoder(nn.Cell):
        def __init__(self):
            super().__init__()
            self.layer = nn.TransformerEncoderLayer(
                d_model=8, nhead=2, dim_feedforward=12, dropout=0.0, batch_first=True
            )
            self.fc = nn.Dense(8, 1)

        def construct(self, x):
            return self.fc(self.layer(x).mean(1)).sum()

    return Encoder()


def torch_net():
    from torch import nn

    class Encoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.TransformerEncoderLayer(
                d_model=8, nhead=2, dim_feedforward=12, dropout=0.0, batch_first=True
            )
            self.fc = nn.Linear(8, 1)

        def forward(self, x):
            return self.fc(self.layer(x).mean(1)).sum()

    return Encoder()
