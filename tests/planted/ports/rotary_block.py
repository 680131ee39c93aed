def jax_net():
    import jax
    import jax.numpy as jnp
    from flax import linen as nn

    class Norm(nn.Module):
        @nn.compact
        def __call__(self, x):
            gain = self.param("gain", nn.initializers.ones, (x.shape[-1],))
            return x * jax.lax.rsqrt(jnp.mean(x**2, -1, keepdims=True) + 1e-5) * gain

    class Attend(nn.Module):
        @nn.compact
        def __call__(self, x):
            b, t, dim = x.shape
            angles = np.outer(np.arange(t), 100.0 ** (-np.arange(0, 4, 2) / 4)).repeat(2, axis=1)
            cos, sin = jnp.float32(np.cos(angles)), jnp.float32(np.sin(angles))

            def turned(x):
                other = jnp.stack((-x[..., 1::2], x[..., 0::2]), axis=-1).reshape(x.shape)
                return x * cos + other * sin

            def heads(name):
                split = nn.Dense(dim, use_bias=False, name=name)(x).reshape(b, t, 2, 4)
                return split.transpose(0, 2, 1, 3)

            query, key, value = turned(heads("query")), turned(heads("key")), heads("content")
            scores = query @ key.swapaxes(2, 3) * 4**-0.5
            scores = jnp.where(np.tril(np.ones((t, t), bool)), scores, -1e9)
            mixed = (jax.nn.softmax(scores, axis=-1) @ value).transpose(0, 2, 1, 3)
            return nn.Dense(dim, use_bias=False, name="project")(mixed.reshape(x.shape))

    class Layer(nn.Module):
        @nn.compact
        def __call__(self, x, target):
            x = x + Attend(name="mix")(Norm(name="before")(x))
            h = Norm(name="between")(x)
            opened = jax.nn.silu(nn.Dense(12, use_bias=False, name="open")(h))
            h = opened * nn.Dense(12, use_bias=False, name="widen")(h)
            out = x + nn.Dense(8, use_bias=False, name="narrow")(h)
            return jnp.mean((out - target) ** 2), out

    return Layer()
