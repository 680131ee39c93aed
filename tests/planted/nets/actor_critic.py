"""The loss of an actor and its critic: discounted returns, a detached advantage, an entropy bonus."""

OUTPUTS = ("loss", "values")
CONSTANTS = ("action", "reward", "running")
SEED = 214
INPUTS = {
    "state": (6, 4),
    "action": "np.array([0, 2, 1, 2, 0, 1], np.int32)",
    "reward": (6,),
    "running": "np.array([1, 1, 0, 1, 1, 1], np.float32)",
}


def torch_net():
    class ActorCritic(nn.Module):
        def __init__(self, states=4, hidden=7, actions=3):
            super().__init__()
            self.trunk = nn.Linear(states, hidden)
            self.actor = nn.Linear(hidden, actions)
            self.critic = nn.Linear(hidden, 1)
            self.gamma = 0.9

        def forward(self, state, action, reward, running):
            hidden = F.softplus(self.trunk(state))
            log_probs = F.log_softmax(self.actor(hidden), dim=1)
            values = self.critic(hidden).squeeze(1)
            following = torch.cat([values[1:], torch.zeros_like(values[:1])])
            returns = reward + self.gamma * running * following.detach()
            advantage = (returns - values).detach()
            advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
            taken = log_probs.gather(1, action.long().unsqueeze(1)).squeeze(1)
            actor = -(taken * advantage).mean()
            critic = F.huber_loss(values, returns, delta=1.0)
            entropy = -(log_probs.exp() * log_probs).sum(1).mean()
            loss = actor + 0.5 * critic - 0.01 * entropy
            return loss, values

    return ActorCritic()
