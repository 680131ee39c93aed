"""A block of a large language model: RMS norm, rotation of neighbours, a gated MLP."""

OUTPUTS = ("loss", "out")
CONSTANTS = ("target",)
SEED = 117
INPUTS = {"x": (2, 4, 8), "target": (2, 4, 8)}


def torch_net():
    class RMSNorm(nn.Module):
        def __init__(self, dim, eps=1e-5):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(dim))
            self.eps = eps

        def forward(self, x):
            square = x.pow(2).mean(-1, keepdim=True)
            return x * torch.rsqrt(square + self.eps) * self.weight

    class Attention(nn.Module):
        def __init__(self, dim, heads, length):
            super().__init__()
            self.heads = heads
            self.head_dim = dim // heads
            self.q = nn.Linear(dim, dim, bias=False)
            self.k = nn.Linear(dim, dim, bias=False)
            self.v = nn.Linear(dim, dim, bias=False)
            self.o = nn.Linear(dim, dim, bias=False)
            freqs = 100.0 ** (-torch.arange(0, self.head_dim, 2).double() / self.head_dim)
            angles = torch.outer(torch.arange(length).double(), freqs)
            angles = angles.repeat_interleave(2, dim=1)
            mask = torch.full((length, length), -1e9).triu(diagonal=1)
            self.register_buffer("cos", angles.cos().float(), persistent=False)
            self.register_buffer("sin", angles.sin().float(), persistent=False)
            self.register_buffer("mask", mask, persistent=False)

        def rotate(self, x):
            even, odd = x[..., 0::2], x[..., 1::2]
            turned = torch.stack((-odd, even), dim=-1).reshape(x.shape)
            return x * self.cos + turned * self.sin

        def heads_of(self, x):
            b, t, _ = x.shape
            return x.view(b, t, self.heads, self.head_dim).transpose(1, 2)

        def forward(self, x):
            q = self.rotate(self.heads_of(self.q(x)))
            k = self.rotate(self.heads_of(self.k(x)))
            v = self.heads_of(self.v(x))
            scores = q @ k.transpose(2, 3) * self.head_dim**-0.5
            weights = torch.softmax(scores + self.mask, dim=-1)
            mixed = (weights @ v).transpose(1, 2).reshape(x.shape)
            return self.o(mixed)

    class GatedMLP(nn.Module):
        def __init__(self, dim, hidden):
            super().__init__()
            self.gate = nn.Linear(dim, hidden, bias=False)
            self.up = nn.Linear(dim, hidden, bias=False)
            self.down = nn.Linear(hidden, dim, bias=False)

        def forward(self, x):
            return self.down(F.silu(self.gate(x)) * self.up(x))

    class Block(nn.Module):
        def __init__(self, dim=8, heads=2, length=4):
            super().__init__()
            self.norm1 = RMSNorm(dim)
            self.attn = Attention(dim, heads, length)
            self.norm2 = RMSNorm(dim)
            self.mlp = GatedMLP(dim, 12)

        def forward(self, x, target):
            x = x + self.attn(self.norm1(x))
            out = x + self.mlp(self.norm2(x))
            return (out - target).pow(2).mean(), out

    return Block()
