"""What all programs share: the start that they are given, and the batches, in a step of a recorder each.

Stands beside a program that is run: `python PROGRAM OUT BATCHES [START]`
"""

import sys

import numpy as np

import explorer

OUT, BATCHES, *STARTS = sys.argv[1:]


def steps(*names, to=np.asarray, **options):
    """The batches of some arrays ``to`` tensors; what is computed with one is a step of the training."""
    data = np.load(BATCHES)
    recorder = explorer.recorder(training=True, out=OUT, **options)
    for batch in zip(*(data[name] for name in names)):
        tensors = [to(array) for array in batch]
        with recorder.step():
            yield tensors


def in_torch(array):
    """A tensor of PyTorch, whose losses take no labels of 32 bits."""
    import torch

    tensor = torch.from_numpy(array)
    return tensor.long() if array.dtype == np.int32 else tensor


def started(net, names=None):
    """A net of MindSpore with the start, on the tape; ``names`` has the start's names of its parameters."""
    import mindspore as ms

    ms.set_context(mode=ms.PYNATIVE_MODE)
    ms.load_param_into_net(net, explorer.start(STARTS[0], net, names))
    return net


def start_of(layer, **fields):
    """The start of a layer in JAX by its fields' names; that of a kernel lies the other way round."""
    import jax.numpy as jnp

    given = np.load(STARTS[0])
    names = fields or {"kernel": "weight", "bias": "bias"}
    arrays = {field: given[f"{layer}.{name}"] for field, name in names.items()}
    if "kernel" in arrays:
        kernel = arrays["kernel"]
        arrays["kernel"] = kernel.transpose(*range(2, kernel.ndim), 1, 0)
    return {field: jnp.asarray(array) for field, array in arrays.items()}
