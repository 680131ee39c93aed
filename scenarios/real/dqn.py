"""The loss of a deep Q network.

Modelled on Mnih et al., "Human-level control through deep reinforcement learning" (2015) with double
Q-learning (van Hasselt et al., 2015): the net's value of the action taken against the reward and the
target net's value of the best next action, by the Huber loss.

Watch the cuts: nothing flows through the target, and the last step of an episode has no next value.
The Huber loss is `F.smooth_l1_loss` in PyTorch, a mean; MindSpore's default reduction of
`ops.smooth_l1_loss` is "none".
"""

import numpy as np

CONSTANTS = ("action", "reward", "next_state", "done")


def inputs():
    random = np.random.default_rng(29)
    return {
        "state": random.normal(size=(3, 4)).astype(np.float32),
        "action": np.array([1, 0, 2], np.int32),
        "reward": np.array([1.0, -2.0, 0.5], np.float32),
        "next_state": random.normal(size=(3, 4)).astype(np.float32),
        "done": np.array([0, 0, 1], np.int32),
    }


def mindspore_net():
    import mindspore as ms
    from mindspore import nn, ops

    class QNetwork(nn.Cell):
        def __init__(self, states=4, actions=3):
            super().__init__()
            self.fc1 = nn.Dense(states, 8)
            self.fc2 = nn.Dense(8, actions)

        def construct(self, state):
            return self.fc2(ops.relu(self.fc1(state)))

    class DQNLoss(nn.Cell):
        def __init__(self, gamma=0.9):
            super().__init__()
            self.online = QNetwork()
            self.target = QNetwork()
            self.gamma = gamma

        def construct(self, state, action, reward, next_state, done):
            q = ops.gather_elements(self.online(state), 1, action.expand_dims(1)).squeeze(1)
            best = self.online(next_state).argmax(1).astype(ms.int32).expand_dims(1)
            next_q = ops.gather_elements(self.target(next_state), 1, best).squeeze(1)
            expected = reward + self.gamma * next_q * (1.0 - done.astype(ms.float32))
            expected = ops.stop_gradient(expected)
            return ops.smooth_l1_loss(q, expected, beta=1.0, reduction="mean")

    return DQNLoss()


def torch_net():
    import torch
    from torch import nn
    from torch.nn import functional as F

    class QNetwork(nn.Module):
        def __init__(self, states=4, actions=3):
            super().__init__()
            self.fc1 = nn.Linear(states, 8)
            self.fc2 = nn.Linear(8, actions)

        def forward(self, state):
            return self.fc2(F.relu(self.fc1(state)))

    class DQNLoss(nn.Module):
        def __init__(self, gamma=0.9):
            super().__init__()
            self.online = QNetwork()
            self.target = QNetwork()
            self.gamma = gamma

        def forward(self, state, action, reward, next_state, done):
            q = self.online(state).gather(1, action.long().unsqueeze(1)).squeeze(1)
            with torch.no_grad():
                best = self.online(next_state).argmax(dim=1, keepdim=True)
                next_q = self.target(next_state).gather(1, best).squeeze(1)
                expected = reward + self.gamma * next_q * (1.0 - done.float())
            return F.smooth_l1_loss(q, expected)

    return DQNLoss()


def jax_net():
    import jax
    import jax.numpy as jnp

    def q_network(params, name, state):
        hidden = jax.nn.relu(state @ params[f"{name}.fc1.weight"].T + params[f"{name}.fc1.bias"])
        return hidden @ params[f"{name}.fc2.weight"].T + params[f"{name}.fc2.bias"]

    def chosen(q, action):
        return jnp.take_along_axis(q, action[:, None], axis=1).squeeze(1)

    def net(params, state, action, reward, next_state, done, gamma=0.9):
        q = chosen(q_network(params, "online", state), action)
        best = q_network(params, "online", next_state).argmax(1)
        next_q = chosen(q_network(params, "target", next_state), best)
        expected = reward + gamma * next_q * (1.0 - done.astype(reward.dtype))
        error = jnp.abs(q - jax.lax.stop_gradient(expected))
        return jnp.where(error < 1.0, 0.5 * error**2, error - 0.5).mean()

    return net
