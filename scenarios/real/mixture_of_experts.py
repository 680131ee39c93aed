"""A sparse mixture of experts with a loss that balances the load.

Modelled on the Switch Transformer (Fedus et al., 2021) with two experts a token as in Mixtral: a
router scores the experts, each token takes the best two with their scores normalised, and a second
loss is least when all experts are used equally.

Watch the normalisation: the softmax is over the two chosen scores here, over all and then cut in
other models. The balance multiplies a share of tokens, which has no gradient, by a mean probability,
which has one.
"""

import numpy as np


def inputs():
    random = np.random.default_rng(21)
    return {"x": random.normal(size=(4, 6)).astype(np.float32)}


def mindspore_net():
    import mindspore as ms
    from mindspore import nn, ops

    class Expert(nn.Cell):
        def __init__(self, dim, hidden):
            super().__init__()
            self.w1 = nn.Dense(dim, hidden, has_bias=False)
            self.w2 = nn.Dense(hidden, dim, has_bias=False)

        def construct(self, x):
            return self.w2(ops.silu(self.w1(x)))

    class MixtureOfExperts(nn.Cell):
        def __init__(self, dim=6, num_experts=3, top_k=2):
            super().__init__()
            self.num_experts = num_experts
            self.top_k = top_k
            self.gate = nn.Dense(dim, num_experts, has_bias=False)
            self.experts = nn.CellList([Expert(dim, 8) for _ in range(num_experts)])
            self.on = ms.Tensor(1.0, ms.float32)
            self.off = ms.Tensor(0.0, ms.float32)

        def construct(self, x):
            scores = self.gate(x)
            best, chosen = ops.topk(scores, self.top_k)
            weights = ops.softmax(best, axis=-1)
            one_hot = ops.one_hot(chosen, self.num_experts, self.on, self.off)
            mixing = (weights.expand_dims(-1) * one_hot).sum(1)
            out = ops.zeros_like(x)
            for i in range(self.num_experts):
                out = out + mixing[:, i : i + 1] * self.experts[i](x)
            share = ops.stop_gradient(one_hot.sum(1).mean(0))
            probability = ops.softmax(scores, axis=-1).mean(0)
            balance = self.num_experts * (share * probability).sum()
            return out.square().mean() + 0.01 * balance

    return MixtureOfExperts()


def torch_net():
    import torch
    from torch import nn
    from torch.nn import functional as F

    class Expert(nn.Module):
        def __init__(self, dim, hidden):
            super().__init__()
            self.w1 = nn.Linear(dim, hidden, bias=False)
            self.w2 = nn.Linear(hidden, dim, bias=False)

        def forward(self, x):
            return self.w2(F.silu(self.w1(x)))

    class MixtureOfExperts(nn.Module):
        def __init__(self, dim=6, num_experts=3, top_k=2):
            super().__init__()
            self.num_experts = num_experts
            self.top_k = top_k
            self.gate = nn.Linear(dim, num_experts, bias=False)
            self.experts = nn.ModuleList([Expert(dim, 8) for _ in range(num_experts)])

        def forward(self, x):
            scores = self.gate(x)
            best, chosen = torch.topk(scores, self.top_k, dim=-1)
            weights = F.softmax(best, dim=-1)
            one_hot = F.one_hot(chosen, self.num_experts).to(x.dtype)
            mixing = (weights.unsqueeze(-1) * one_hot).sum(dim=1)
            out = torch.zeros_like(x)
            for i, expert in enumerate(self.experts):
                out = out + mixing[:, i : i + 1] * expert(x)
            share = one_hot.sum(dim=1).mean(dim=0)
            probability = F.softmax(scores, dim=-1).mean(dim=0)
            balance = self.num_experts * (share * probability).sum()
            return out.pow(2).mean() + 0.01 * balance

    return MixtureOfExperts()


def jax_net():
    import jax
    import jax.numpy as jnp

    def expert(params, i, x):
        hidden = jax.nn.silu(x @ params[f"experts.{i}.w1.weight"].T)
        return hidden @ params[f"experts.{i}.w2.weight"].T

    def net(params, x, num_experts=3, top_k=2):
        scores = x @ params["gate.weight"].T
        best, chosen = jax.lax.top_k(scores, top_k)
        weights = jax.nn.softmax(best)
        one_hot = jax.nn.one_hot(chosen, num_experts, dtype=x.dtype)
        mixing = (weights[..., None] * one_hot).sum(1)
        out = sum(mixing[:, i : i + 1] * expert(params, i, x) for i in range(num_experts))
        share = one_hot.sum(1).mean(0)
        probability = jax.nn.softmax(scores).mean(0)
        balance = num_experts * (share * probability).sum()
        return jnp.square(out).mean() + 0.01 * balance

    return net
