"""An input of integers that picks rows.

`rows = table[index]` looks up rows as an embedding does. The gradient with respect to the `table`
gathers what the rows receive: a row that was picked **twice** gets the sum, a row that was not
picked gets zeros. A scatter that writes instead of adding would be wrong here at row 2, and right
on every batch without repetition.

The index itself has no derivative, as nothing lies between two integers. MindSpore answers with
*integer* zeros, PyTorch refuses ("only Tensors of floating point dtype can require gradients"). So
`grad_position=1` by mistake is an error in the one framework, and in the other a gradient that
looks like one and trains nothing. The same holds for a mask. Central differences have nothing to
say about an integer.
"""

import numpy as np

EXPECTED_DIFFERENCES = [
    {
        "engines": ("torch", "jax"),
        "reason": "PyTorch and JAX refuse to differentiate by integers, MindSpore returns zeros",
        "when": {"position": 1},
    }
]


def inputs():
    return {
        "table": np.array([[1.0, -2.0], [3.0, 0.5], [-1.5, 4.0], [2.5, -0.5]], np.float32),
        "index": np.array([2, 0, 2], np.int32),
    }


def mindspore_net():
    def squares_of_rows(table, index):
        rows = table[index]
        return (rows * rows).sum()

    return squares_of_rows


def torch_net():
    def squares_of_rows(table, index):
        rows = table[index]
        return (rows * rows).sum()

    return squares_of_rows


def jax_net():
    def squares_of_rows(params, table, index):
        rows = table[index]
        return (rows * rows).sum()

    return squares_of_rows
