"""PPO in PyTorch: an actor and a critic on one trunk."""

import torch
from recorded_loop import in_torch, steps
from torch import nn

NAMES = ("observations", "actions", "old_log_probs", "advantages", "returns")


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 8), nn.Tanh())
        self.actor = nn.Linear(8, 3)
        self.critic = nn.Linear(8, 1)

    def forward(self, observations):
        hidden = self.trunk(observations)
        return self.actor(hidden), self.critic(hidden).squeeze(-1)


torch.manual_seed(0)
net = ActorCritic()
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3, eps=1e-5)
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda update: 1 - update / 10)

for observations, actions, old_log_probs, advantages, returns in steps(*NAMES, to=in_torch):
    logits, values = net(observations)
    log_probs = torch.log_softmax(logits, -1)
    log_prob = log_probs.gather(-1, actions[:, None]).squeeze(-1)
    advantages = (advantages - advantages.mean()) / (advantages.std(unbiased=False) + 1e-8)
    ratio = torch.exp(log_prob - old_log_probs)
    clipped = torch.clamp(ratio, 0.8, 1.2)
    policy_loss = -torch.min(ratio * advantages, clipped * advantages).mean()
    value_loss = ((values - returns) ** 2).mean()
    entropy = -(log_probs.exp() * log_probs).sum(-1).mean()
    loss = policy_loss + 0.5 * value_loss - 0.01 * entropy
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 0.5)
    optimizer.step()
    schedule.step()
