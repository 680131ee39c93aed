"""A student learns from a teacher's softened answers.

Modelled on Hinton et al., "Distilling the knowledge in a neural network" (2015): the student's
logits and the teacher's are divided by a temperature, the divergence between the two is weighted with
the temperature's square, and the ordinary loss is added.

Watch the reduction: "batchmean" divides by the batch, which is the divergence; "mean" divides by all
elements as well. The first argument of `kl_div` is a logarithm, the second is not. The teacher is cut
off from the gradient, and with the temperature's square the two terms keep their balance.
"""

import numpy as np

OUTPUTS = ("loss", "logits")
CONSTANTS = ("label",)


def inputs():
    random = np.random.default_rng(25)
    return {
        "x": random.normal(size=(3, 5)).astype(np.float32),
        "label": np.array([0, 3, 1], np.int32),
    }


def mindspore_net():
    from mindspore import nn, ops

    class Distiller(nn.Cell):
        def __init__(self, temperature=4.0, alpha=0.7):
            super().__init__()
            self.teacher = nn.SequentialCell(nn.Dense(5, 12), nn.ReLU(), nn.Dense(12, 4))
            self.student = nn.SequentialCell(nn.Dense(5, 6), nn.ReLU(), nn.Dense(6, 4))
            self.temperature = temperature
            self.alpha = alpha

        def construct(self, x, label):
            t = self.temperature
            taught = ops.stop_gradient(self.teacher(x))
            logits = self.student(x)
            soft = ops.kl_div(
                ops.log_softmax(logits / t, axis=1), ops.softmax(taught / t, axis=1), "batchmean"
            )
            hard = ops.cross_entropy(logits, label)
            return self.alpha * t * t * soft + (1.0 - self.alpha) * hard, logits

    return Distiller()


def torch_net():
    import torch
    from torch import nn
    from torch.nn import functional as F

    class Distiller(nn.Module):
        def __init__(self, temperature=4.0, alpha=0.7):
            super().__init__()
            self.teacher = nn.Sequential(nn.Linear(5, 12), nn.ReLU(), nn.Linear(12, 4))
            self.student = nn.Sequential(nn.Linear(5, 6), nn.ReLU(), nn.Linear(6, 4))
            self.temperature = temperature
            self.alpha = alpha

        def forward(self, x, label):
            t = self.temperature
            with torch.no_grad():
                taught = self.teacher(x)
            logits = self.student(x)
            soft = F.kl_div(
                F.log_softmax(logits / t, dim=1),
                F.softmax(taught / t, dim=1),
                reduction="batchmean",
            )
            hard = F.cross_entropy(logits, label.long())
            return self.alpha * t * t * soft + (1.0 - self.alpha) * hard, logits

    return Distiller()


def jax_net():
    import jax
    import jax.numpy as jnp

    def mlp(params, name, x):
        hidden = jax.nn.relu(x @ params[f"{name}.0.weight"].T + params[f"{name}.0.bias"])
        return hidden @ params[f"{name}.2.weight"].T + params[f"{name}.2.bias"]

    def net(params, x, label, t=4.0, alpha=0.7):
        taught = jax.lax.stop_gradient(mlp(params, "teacher", x))
        logits = mlp(params, "student", x)
        goal = jax.nn.log_softmax(taught / t)
        soft = (jnp.exp(goal) * (goal - jax.nn.log_softmax(logits / t))).sum(1).mean()
        scores = jax.nn.log_softmax(logits)
        hard = -jnp.take_along_axis(scores, label[:, None], axis=1).mean()
        return alpha * t * t * soft + (1.0 - alpha) * hard, logits

    return net
