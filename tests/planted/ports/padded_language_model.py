def jax_net():
    import jax
    import jax.numpy as jnp
    from flax import linen as nn

    class Speaker(nn.Module):
        @nn.compact
        def __call__(self, tokens):
            t = tokens.shape[1]
            table = nn.Embed(9, 6, name="lexicon")
            words = (tokens != 0)[..., None]
            x = table(tokens) * words * 6**0.5 + nn.Embed(8, 6, name="places")(jnp.arange(t))
            h = nn.LayerNorm(epsilon=1e-5, name="first")(x)
            opened = jax.nn.sigmoid(nn.Dense(6, name="open")(h))
            past = jnp.cumsum(opened * nn.Dense(6, name="content")(h), axis=1)
            x = x + past / jnp.arange(1, t + 1)[:, None]
            h = nn.LayerNorm(epsilon=1e-5, name="second")(x)
            h = jax.nn.gelu(nn.Dense(10, name="widen")(h), approximate=True)
            x = x + nn.Dense(6, name="narrow")(h)
            logits = table.attend(x)
            after = tokens[:, 1:]
            scores = jax.nn.log_softmax(logits[:, :-1], axis=-1)
            picked = jnp.take_along_axis(scores, after[..., None], axis=-1)[..., 0]
            counted = after != 0
            return -(picked * counted).sum() / counted.sum(), logits

    return Speaker()
