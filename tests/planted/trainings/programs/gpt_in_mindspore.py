"""The GPT in MindSpore."""

import mindspore as ms
from mindspore import nn, ops
from mindspore.experimental import optim
from recorded_loop import started, steps

WIDTH, HEADS = 8, 2


class Block(nn.Cell):
    def __init__(self):
        super().__init__()
        self.ln1, self.ln2 = (
            nn.LayerNorm([WIDTH], epsilon=1e-5),
            nn.LayerNorm([WIDTH], epsilon=1e-5),
        )
        self.qkv = nn.Dense(WIDTH, 3 * WIDTH)
        self.proj = nn.Dense(WIDTH, WIDTH)
        self.up, self.down = nn.Dense(WIDTH, 4 * WIDTH), nn.Dense(4 * WIDTH, WIDTH)

    def construct(self, x):
        rows, length, _ = x.shape
        parts = self.qkv(self.ln1(x)).reshape(rows, length, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        q, k, v = parts[0], parts[1], parts[2]
        scores = ops.matmul(q, k.swapaxes(-2, -1)) / (WIDTH // HEADS) ** 0.5
        future = ops.triu(ops.ones((length, length)), 1).bool()
        attention = ops.softmax(scores.masked_fill(future, float("-inf")), -1)
        mixed = ops.matmul(attention, v).swapaxes(1, 2).reshape(rows, length, WIDTH)
        x = x + self.proj(mixed)
        return x + self.down(ops.gelu(self.up(self.ln2(x)), approximate="none"))


class GPT(nn.Cell):
    def __init__(self):
        super().__init__()
        self.tokens, self.places = nn.Embedding(11, WIDTH), nn.Embedding(7, WIDTH)
        self.block, self.ln = Block(), nn.LayerNorm([WIDTH], epsilon=1e-5)
        self.head = nn.Dense(WIDTH, 11, has_bias=False)

    def construct(self, tokens):
        x = self.tokens(tokens) + self.places(ops.arange(tokens.shape[1]))
        return self.head(self.ln(self.block(x)))


net = started(GPT())
decayed = [weight for weight in net.trainable_params() if weight.ndim > 1]
others = [weight for weight in net.trainable_params() if weight.ndim == 1]
groups = [{"params": decayed, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}]
optimizer = optim.AdamW(groups, lr=3e-3, betas=(0.9, 0.95))


def loss_of(tokens, targets):
    return ops.cross_entropy(net(tokens).reshape(-1, 11), targets.reshape(-1))


gradient = ms.value_and_grad(loss_of, None, optimizer.parameters)

for (tokens,) in steps("tokens", to=ms.Tensor):
    loss, gradients = gradient(tokens[:, :-1], tokens[:, 1:])
    optimizer(ops.clip_by_global_norm(gradients, 1.0))
