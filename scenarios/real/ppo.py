"""The loss of proximal policy optimisation.

Modelled on Schulman et al., "Proximal policy optimization algorithms" (2017), in the style of small
reinforcement learning libraries: one trunk, a head for the policy and one for the value, the clipped
objective, a value loss and a bonus for entropy.

Watch the signs: objective and entropy are to grow, so both stand in the loss with a minus. Advantages
are divided by their standard deviation, which PyTorch's `std` takes over n − 1 and MindSpore's
`ops.std` over n unless told `ddof=1`. Where the ratio is cut off the gradient is zero.
"""

import numpy as np

OUTPUTS = ("loss", "entropy")
CONSTANTS = ("action", "old_log_prob", "advantage", "returns")


def inputs():
    random = np.random.default_rng(28)
    return {
        "state": random.normal(size=(4, 5)).astype(np.float32),
        "action": np.array([0, 2, 1, 2], np.int32),
        "old_log_prob": np.array([-1.3, -0.7, -1.9, -1.0], np.float32),
        "advantage": np.array([0.5, -1.0, 2.0, 0.25], np.float32),
        "returns": np.array([1.0, -0.5, 0.75, 0.1], np.float32),
    }


def mindspore_net():
    from mindspore import nn, ops

    class ActorCritic(nn.Cell):
        def __init__(self, states=5, actions=3):
            super().__init__()
            self.trunk = nn.SequentialCell(nn.Dense(states, 8), nn.Tanh())
            self.policy = nn.Dense(8, actions)
            self.value = nn.Dense(8, 1)

        def construct(self, state):
            hidden = self.trunk(state)
            return self.policy(hidden), self.value(hidden).squeeze(-1)

    class PPOLoss(nn.Cell):
        def __init__(self, clip=0.2, value_coef=0.5, entropy_coef=0.01):
            super().__init__()
            self.net = ActorCritic()
            self.clip = clip
            self.value_coef = value_coef
            self.entropy_coef = entropy_coef

        def construct(self, state, action, old_log_prob, advantage, returns):
            logits, value = self.net(state)
            log_probs = ops.log_softmax(logits, axis=-1)
            log_prob = ops.gather_elements(log_probs, 1, action.expand_dims(1)).squeeze(1)
            advantage = (advantage - advantage.mean()) / (ops.std(advantage, ddof=1) + 1e-8)
            ratio = ops.exp(log_prob - old_log_prob)
            clipped = ops.clip_by_value(ratio, 1.0 - self.clip, 1.0 + self.clip)
            policy_loss = -ops.minimum(ratio * advantage, clipped * advantage).mean()
            value_loss = (returns - value).square().mean()
            entropy = -(ops.exp(log_probs) * log_probs).sum(-1).mean()
            loss = policy_loss + self.value_coef * value_loss - self.entropy_coef * entropy
            return loss, entropy

    return PPOLoss()


def torch_net():
    import torch
    from torch import nn
    from torch.nn import functional as F

    class ActorCritic(nn.Module):
        def __init__(self, states=5, actions=3):
            super().__init__()
            self.trunk = nn.Sequential(nn.Linear(states, 8), nn.Tanh())
            self.policy = nn.Linear(8, actions)
            self.value = nn.Linear(8, 1)

        def forward(self, state):
            hidden = self.trunk(state)
            return self.policy(hidden), self.value(hidden).squeeze(-1)

    class PPOLoss(nn.Module):
        def __init__(self, clip=0.2, value_coef=0.5, entropy_coef=0.01):
            super().__init__()
            self.net = ActorCritic()
            self.clip = clip
            self.value_coef = value_coef
            self.entropy_coef = entropy_coef

        def forward(self, state, action, old_log_prob, advantage, returns):
            logits, value = self.net(state)
            log_probs = F.log_softmax(logits, dim=-1)
            log_prob = log_probs.gather(1, action.long().unsqueeze(1)).squeeze(1)
            advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
            ratio = torch.exp(log_prob - old_log_prob)
            clipped = torch.clamp(ratio, 1.0 - self.clip, 1.0 + self.clip)
            policy_loss = -torch.min(ratio * advantage, clipped * advantage).mean()
            value_loss = (returns - value).pow(2).mean()
            entropy = -(log_probs.exp() * log_probs).sum(-1).mean()
            loss = policy_loss + self.value_coef * value_loss - self.entropy_coef * entropy
            return loss, entropy

    return PPOLoss()


def jax_net():
    import jax
    import jax.numpy as jnp

    def dense(params, name, x):
        return x @ params[f"{name}.weight"].T + params[f"{name}.bias"]

    def net(params, state, action, old_log_prob, advantage, returns, clip=0.2):
        hidden = jnp.tanh(dense(params, "net.trunk.0", state))
        log_probs = jax.nn.log_softmax(dense(params, "net.policy", hidden))
        value = dense(params, "net.value", hidden).squeeze(-1)
        log_prob = jnp.take_along_axis(log_probs, action[:, None], axis=1).squeeze(1)
        # Divided by n - 1, as in PyTorch; ddof is 0 by default.
        advantage = (advantage - advantage.mean()) / (advantage.std(ddof=1) + 1e-8)
        ratio = jnp.exp(log_prob - old_log_prob)
        clipped = jnp.clip(ratio, 1.0 - clip, 1.0 + clip)
        policy_loss = -jnp.minimum(ratio * advantage, clipped * advantage).mean()
        value_loss = ((returns - value) ** 2).mean()
        entropy = -(jnp.exp(log_probs) * log_probs).sum(-1).mean()
        return policy_loss + 0.5 * value_loss - 0.01 * entropy, entropy

    return net
