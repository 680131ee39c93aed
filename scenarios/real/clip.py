"""Images and texts in one space.

Modelled on CLIP (Radford et al., "Learning transferable visual models from natural language
supervision", 2021): an encoder for each, embeddings on the unit sphere, and a cross entropy in both
directions on their products, sharpened by a learned temperature that is kept as a logarithm.

Watch the two directions: the second one needs the transposed logits, and with the same logits twice
only images learn to find texts. The temperature is exp(2.66) at the start and cut off at 100 in the
paper.
"""

import numpy as np

OUTPUTS = ("loss", "logits")
CONSTANTS = ("text",)


def inputs():
    random = np.random.default_rng(40)
    return {
        "image": random.normal(size=(3, 6)).astype(np.float32),
        "text": np.array([[1, 4, 2], [3, 3, 5], [6, 0, 1]], np.int32),
    }


def mindspore_net():
    import math

    import mindspore as ms
    from mindspore import Parameter, nn, ops

    class CLIP(nn.Cell):
        def __init__(self, vocab=7, dim=4):
            super().__init__()
            self.visual = nn.SequentialCell(
                nn.Dense(6, 8), nn.GELU(approximate=False), nn.Dense(8, dim)
            )
            self.token_embedding = nn.Embedding(vocab, 5)
            self.text_projection = nn.Dense(5, dim, has_bias=False)
            self.logit_scale = Parameter(ms.Tensor(math.log(1 / 0.07), ms.float32))

        def construct(self, image, text):
            i = self.visual(image)
            t = self.text_projection(self.token_embedding(text).mean(1))
            i = i / ops.norm(i, dim=1, keepdim=True)
            t = t / ops.norm(t, dim=1, keepdim=True)
            logits = ops.exp(self.logit_scale) * ops.matmul(i, t.T)
            label = ops.arange(logits.shape[0]).astype(ms.int32)
            of_images = ops.cross_entropy(logits, label)
            of_texts = ops.cross_entropy(logits.T, label)
            return (of_images + of_texts) / 2, logits

    return CLIP()


def torch_net():
    import math

    import torch
    from torch import nn
    from torch.nn import functional as F

    class CLIP(nn.Module):
        def __init__(self, vocab=7, dim=4):
            super().__init__()
            self.visual = nn.Sequential(nn.Linear(6, 8), nn.GELU(), nn.Linear(8, dim))
            self.token_embedding = nn.Embedding(vocab, 5)
            self.text_projection = nn.Linear(5, dim, bias=False)
            self.logit_scale = nn.Parameter(torch.tensor(math.log(1 / 0.07)))

        def forward(self, image, text):
            i = self.visual(image)
            t = self.text_projection(self.token_embedding(text).mean(dim=1))
            i = i / i.norm(dim=1, keepdim=True)
            t = t / t.norm(dim=1, keepdim=True)
            logits = self.logit_scale.exp() * i @ t.T
            label = torch.arange(logits.size(0), device=logits.device)
            of_images = F.cross_entropy(logits, label)
            of_texts = F.cross_entropy(logits.T, label)
            return (of_images + of_texts) / 2, logits

    return CLIP()


def jax_net():
    import jax
    import jax.numpy as jnp

    def visual(params, image):
        hidden = image @ params["visual.0.weight"].T + params["visual.0.bias"]
        hidden = jax.nn.gelu(hidden, approximate=False)
        return hidden @ params["visual.2.weight"].T + params["visual.2.bias"]

    def cross_entropy(logits):
        return -jnp.diagonal(jax.nn.log_softmax(logits)).mean()  # the label of row i is i

    def net(params, image, text):
        i = visual(params, image)
        t = params["token_embedding.weight"][text].mean(1) @ params["text_projection.weight"].T
        i = i / jnp.linalg.norm(i, axis=1, keepdims=True)
        t = t / jnp.linalg.norm(t, axis=1, keepdims=True)
        logits = jnp.exp(params["logit_scale"]) * i @ t.T
        return (cross_entropy(logits) + cross_entropy(logits.T)) / 2, logits

    return net
