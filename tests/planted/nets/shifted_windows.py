"""Attention in shifted windows: roll, cut into windows, attend, put together, roll back."""

OUTPUTS = ("loss", "out")
CONSTANTS = ("teacher",)
SEED = 120
INPUTS = {"x": (2, 4, 4, 6), "teacher": (2, 5)}


def torch_net():
    class WindowAttention(nn.Module):
        def __init__(self, dim):
            super().__init__()
            self.qkv = nn.Linear(dim, 3 * dim)
            self.proj = nn.Linear(dim, dim)
            self.bias = nn.Linear(4, 4, bias=False)
            self.scale = dim**-0.5

        def forward(self, x):
            q, k, v = self.qkv(x).chunk(3, dim=2)
            scores = q @ k.transpose(1, 2) * self.scale + self.bias.weight
            weights = torch.softmax(scores, dim=2)
            return self.proj(weights @ v)

    class Net(nn.Module):
        def __init__(self, dim=6, classes=5):
            super().__init__()
            self.norm = nn.LayerNorm(dim)
            self.attn = WindowAttention(dim)
            self.head = nn.Linear(dim, classes)

        def forward(self, x, teacher):
            h = torch.roll(self.norm(x), (-1, -1), (1, 2))
            h = h.view(2, 2, 2, 2, 2, 6).permute(0, 1, 3, 2, 4, 5).reshape(8, 4, 6)
            h = self.attn(h)
            h = h.view(2, 2, 2, 2, 2, 6).permute(0, 1, 3, 2, 4, 5).reshape(2, 4, 4, 6)
            out = x + torch.roll(h, (1, 1), (1, 2))
            logits = self.head(out.mean((1, 2)))
            student = F.log_softmax(logits / 2.0, dim=1)
            taught = F.softmax(teacher / 2.0, dim=1)
            loss = F.kl_div(student, taught, reduction="batchmean") * 4.0
            return loss, out

    return Net()
