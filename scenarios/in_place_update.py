"""A tensor overwritten after it was used.

`h` is squared into `energy`, then overwritten with `h.copy_(3·x)`, then squared again into `loss`.
The derivative of `energy` needs the *old* `h`. A tape kept a reference, not a copy, and when the
backward comes, the tensor holds other numbers. Both tapes notice by a version counter and
**refuse**: "modified by an inplace operation". PyTorch's joint graph is derived by walking that
same tape and refuses too. MindSpore's compiler has values instead of memory, saves the old `h` with
a copy of its own (`TensorMove`), and answers: 18·x + 4·x³. With `has_aux=True` only `loss` is
differentiated, no one needs the old value, and all four say 18·x.

MindSpore's tape guards less than PyTorch's. It watches `copy_`, but not an assignment to an
element: `h[0] = 5` after `y = h * h` gives a wrong gradient there, without a word, where PyTorch
refuses. On the CPU, `h.add_(1)` and `h.mul_(2)` of MindSpore 2.10 change nothing in tape style:
they *return* the new tensor and leave `h` as it was, though the compiled graph does change it. `h
+= 1` makes a new tensor in tape style and changes the shared one in graph style, and in PyTorch.
The form that means the same everywhere is the plain one: `h = h + 1`.
"""

import numpy as np

OUTPUTS = ("loss", "energy")
EXPECTED_DIFFERENCES = [
    {
        "engines": ("mindspore-tape", "torch"),
        "reason": "a tape kept `h` for the backward of `energy`, finds it overwritten, and refuses",
        "when": {"has_aux": False},
    }
]


def inputs():
    return {"x": np.array([1.0, -2.0, 0.5], np.float32)}


def mindspore_net():
    def overwritten(x):
        h = x * x
        energy = (h * h).sum()
        h.copy_(3 * x)
        loss = (h * h).sum()
        return loss, energy

    return overwritten


def torch_net():
    def overwritten(x):
        h = x * x
        energy = (h * h).sum()
        h.copy_(3 * x)
        loss = (h * h).sum()
        return loss, energy

    return overwritten


def jax_net():
    def overwritten(params, x):
        h = x * x
        energy = (h * h).sum()
        h = h.at[:].set(3 * x)  # a new array
        loss = (h * h).sum()
        return loss, energy

    return overwritten
