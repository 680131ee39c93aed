"""A GPT of a block in PyTorch."""

import torch
from recorded_loop import in_torch, steps
from torch import nn
from torch.nn import functional

WIDTH, HEADS = 8, 2


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.proj = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        rows, length, _ = x.shape
        parts = self.qkv(self.ln1(x)).reshape(rows, length, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        q, k, v = parts[0], parts[1], parts[2]
        scores = q @ k.transpose(-2, -1) / (WIDTH // HEADS) ** 0.5
        future = torch.triu(torch.ones(length, length, dtype=torch.bool), 1)
        attention = torch.softmax(scores.masked_fill(future, float("-inf")), -1)
        x = x + self.proj((attention @ v).transpose(1, 2).reshape(rows, length, WIDTH))
        return x + self.down(functional.gelu(self.up(self.ln2(x))))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.places = nn.Embedding(11, WIDTH), nn.Embedding(7, WIDTH)
        self.block, self.ln = Block(), nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, 11, bias=False)

    def forward(self, tokens):
        x = self.tokens(tokens) + self.places(torch.arange(tokens.shape[1]))
        return self.head(self.ln(self.block(x)))


torch.manual_seed(0)
net = GPT()
decayed = [weight for weight in net.parameters() if weight.ndim > 1]
others = [weight for weight in net.parameters() if weight.ndim == 1]
groups = [{"params": decayed, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}]
optimizer = torch.optim.AdamW(groups, lr=3e-3, betas=(0.9, 0.95))

for (tokens,) in steps("tokens", to=in_torch):
    logits = net(tokens[:, :-1])
    loss = functional.cross_entropy(logits.reshape(-1, 11), tokens[:, 1:].reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()
