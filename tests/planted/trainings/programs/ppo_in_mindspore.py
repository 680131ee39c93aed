"""PPO in MindSpore."""

import mindspore as ms
from mindspore import nn, ops
from mindspore.experimental import optim
from recorded_loop import started, steps

NAMES = ("observations", "actions", "old_log_probs", "advantages", "returns")


class ActorCritic(nn.Cell):
    def __init__(self):
        super().__init__()
        self.trunk = nn.SequentialCell(nn.Dense(4, 8), nn.Tanh(), nn.Dense(8, 8), nn.Tanh())
        self.actor = nn.Dense(8, 3)
        self.critic = nn.Dense(8, 1)

    def construct(self, observations):
        hidden = self.trunk(observations)
        return self.actor(hidden), self.critic(hidden).squeeze(-1)


net = started(ActorCritic())
optimizer = optim.AdamW(net.trainable_params(), lr=3e-3, eps=1e-5, weight_decay=0.0)
schedule = optim.lr_scheduler.LambdaLR(optimizer, lambda update: 1 - update / 10)


def loss_of(observations, actions, old_log_probs, advantages, returns):
    logits, values = net(observations)
    log_probs = ops.log_softmax(logits, -1)
    log_prob = ops.gather_elements(log_probs, -1, actions.expand_dims(-1)).squeeze(-1)
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    ratio = ops.exp(log_prob - old_log_probs)
    clipped = ops.clamp(ratio, 0.8, 1.2)
    policy_loss = -ops.minimum(ratio * advantages, clipped * advantages).mean()
    value_loss = ((values - returns) ** 2).mean()
    entropy = -(ops.exp(log_probs) * log_probs).sum(-1).mean()
    return policy_loss + 0.5 * value_loss - 0.01 * entropy


gradient = ms.value_and_grad(loss_of, None, optimizer.parameters)

for batch in steps(*NAMES):
    loss, gradients = gradient(*map(ms.Tensor, batch))
    gradients = ops.clip_by_global_norm(gradients, 0.5)
    optimizer(gradients)
    schedule.step()
