"""A transformer block with attention by hand: packed weights, heads, a causal mask, norms first."""

OUTPUTS = ("loss", "out")
CONSTANTS = ("target",)
SEED = 103
INPUTS = {"x": (2, 5, 8), "target": (2, 5, 8)}


def torch_net():
    class Attention(nn.Module):
        def __init__(self, dim, heads, length):
            super().__init__()
            self.heads = heads
            self.head_dim = dim // heads
            self.qkv = nn.Linear(dim, 3 * dim)
            self.proj = nn.Linear(dim, dim)
            future = torch.ones(length, length, dtype=torch.bool).triu(diagonal=1)
            self.register_buffer("future", future, persistent=False)

        def forward(self, x):
            b, t, c = x.shape
            qkv = self.qkv(x).view(b, t, 3, self.heads, self.head_dim)
            q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
            scores = q @ k.transpose(-2, -1) / self.head_dim**0.5
            scores = scores.masked_fill(self.future[:t, :t], -1e9)
            weights = torch.softmax(scores, dim=-1)
            mixed = weights @ v
            mixed = mixed.transpose(1, 2).reshape(b, t, c)
            return self.proj(mixed)

    class FeedForward(nn.Module):
        def __init__(self, dim, hidden):
            super().__init__()
            self.fc1 = nn.Linear(dim, hidden)
            self.act = nn.GELU()
            self.fc2 = nn.Linear(hidden, dim)

        def forward(self, x):
            return self.fc2(self.act(self.fc1(x)))

    class Block(nn.Module):
        def __init__(self, dim=8, heads=2, length=6):
            super().__init__()
            self.norm1 = nn.LayerNorm(dim, eps=1e-5)
            self.attn = Attention(dim, heads, length)
            self.norm2 = nn.LayerNorm(dim, eps=1e-5)
            self.mlp = FeedForward(dim, 12)

        def forward(self, x, target):
            x = x + self.attn(self.norm1(x))
            out = x + self.mlp(self.norm2(x))
            loss = F.mse_loss(out, target)
            return loss, out

    return Block()
