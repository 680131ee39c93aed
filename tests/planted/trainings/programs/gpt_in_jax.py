"""The GPT in JAX, flax and optax."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from recorded_loop import start_of, steps

WIDTH, HEADS = 8, 2


class Block(nnx.Module):
    def __init__(self, rngs):
        self.ln1 = nnx.LayerNorm(WIDTH, epsilon=1e-5, use_fast_variance=False, rngs=rngs)
        self.ln2 = nnx.LayerNorm(WIDTH, epsilon=1e-5, use_fast_variance=False, rngs=rngs)
        self.qkv = nnx.Linear(WIDTH, 3 * WIDTH, rngs=rngs)
        self.proj = nnx.Linear(WIDTH, WIDTH, rngs=rngs)
        self.up = nnx.Linear(WIDTH, 4 * WIDTH, rngs=rngs)
        self.down = nnx.Linear(4 * WIDTH, WIDTH, rngs=rngs)

    def __call__(self, x):
        rows, length, _ = x.shape
        parts = self.qkv(self.ln1(x)).reshape(rows, length, 3, HEADS, -1)
        q, k, v = parts.transpose(2, 0, 3, 1, 4)
        scores = q @ k.swapaxes(-2, -1) / (WIDTH // HEADS) ** 0.5
        past = jnp.tril(jnp.ones((length, length), bool))
        attention = jax.nn.softmax(jnp.where(past, scores, -jnp.inf), -1)
        mixed = (attention @ v).swapaxes(1, 2).reshape(rows, length, WIDTH)
        x = x + self.proj(mixed)
        return x + self.down(jax.nn.gelu(self.up(self.ln2(x)), approximate=False))


class GPT(nnx.Module):
    def __init__(self, rngs):
        self.tokens = nnx.Embed(11, WIDTH, rngs=rngs)
        self.places = nnx.Embed(7, WIDTH, rngs=rngs)
        self.block = Block(rngs)
        self.ln = nnx.LayerNorm(WIDTH, epsilon=1e-5, use_fast_variance=False, rngs=rngs)
        self.head = nnx.Linear(WIDTH, 11, use_bias=False, rngs=rngs)

    def __call__(self, tokens):
        x = self.tokens(tokens) + self.places(jnp.arange(tokens.shape[1]))
        return self.head(self.ln(self.block(x)))


def ported(path, variable):
    *layers, last = map(str, path)
    name = "bias" if last == "bias" else "weight"
    return variable.replace(start_of(".".join(layers), **{last: name})[last])


net = GPT(nnx.Rngs(0))
nnx.update(net, nnx.map_state(ported, nnx.state(net, nnx.Param)))


def is_decayed(params):
    return jax.tree.map(lambda weight: weight.ndim > 1, params)


rule = optax.adamw(3e-3, b2=0.95, weight_decay=0.1, mask=is_decayed)
optimizer = nnx.Optimizer(net, optax.chain(optax.clip_by_global_norm(1.0), rule))


def loss_of(net, tokens, targets):
    losses = optax.softmax_cross_entropy_with_integer_labels(net(tokens), targets)
    return losses.mean()


@nnx.jit
def train_step(net, optimizer, tokens, targets):
    loss, gradients = nnx.value_and_grad(loss_of)(net, tokens, targets)
    optimizer.update(gradients)
    return loss


for (tokens,) in steps("tokens", model=net):
    train_step(net, optimizer, tokens[:, :-1], tokens[:, 1:])
