"""Attention in which one query may look at no key.

Its row of the softmax is nan in PyTorch 2.4, and so is every gradient; 2.6 gives zeros.
"""

import numpy as np


def inputs():
    return {
        "q": np.array([[[[1, 0], [0, 1]]]], np.float32),
        "k": np.array([[[[0.5, 1], [1, 2]]]], np.float32),
        "v": np.array([[[[2, 0], [1, 3]]]], np.float32),
    }


def torch_net():
    import torch

    def net(q, k, v):
        mask = torch.tensor([[True, False], [False, False]])
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask).sum()

    return net
