def jax_net():
    import jax
    import jax.numpy as jnp
    from flax import linen as nn

    class Segmenter(nn.Module):
        @nn.compact
        def __call__(self, image, mask):
            image, mask = image.transpose(0, 2, 3, 1), mask.transpose(0, 2, 3, 1)
            x = nn.GroupNorm(1, epsilon=1e-5, name="scale")(nn.Conv(3, (3, 3), name="enter")(image))
            skip = nn.relu(x)
            low = nn.avg_pool(skip, (2, 2), strides=(2, 2))
            low = nn.relu(nn.Conv(3, (3, 3), name="deep")(low))
            up = jax.image.resize(low, skip.shape, "bilinear")
            both = jnp.concatenate((skip, up), axis=-1)
            both = nn.relu(nn.Conv(3, (3, 3), name="merge")(both))
            logits = nn.Conv(1, (1, 1), name="leave")(both)
            cross = 3 * mask * jax.nn.softplus(-logits) + (1 - mask) * jax.nn.softplus(logits)
            probs = jax.nn.sigmoid(logits)
            overlap = (probs * mask).sum((1, 2, 3))
            total = probs.sum((1, 2, 3)) + mask.sum((1, 2, 3))
            dice = 1.0 - (2.0 * overlap + 1.0) / (total + 1.0)
            return cross.mean() + 0.5 * dice.mean(), logits.transpose(0, 3, 1, 2)

    return Segmenter()
