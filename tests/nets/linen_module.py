"""A convolution with batch norm, in JAX a module of flax.linen."""

from tests.nets.flax_module import OUTPUTS, inputs, torch_net  # noqa: F401


def jax_net():
    import jax
    from flax import linen as nn

    class Net(nn.Module):
        def setup(self):
            self.conv = nn.Conv(4, (3, 3), padding="VALID")
            self.norm = nn.BatchNorm()
            self.fcs = [nn.Dense(4), nn.Dense(2)]

        def __call__(self, x, train=False):
            x = self.norm(self.conv(x), use_running_average=not train)
            x = jax.nn.relu(x).mean((1, 2))
            for fc in self.fcs:
                x = fc(x)
            return (x**2).mean()

    return Net()
