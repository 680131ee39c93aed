"""Views and overlapping slices.

`x` is viewed as one row of six; the sum of products of neighbours takes two slices that overlap in
all but their ends, and a third, strided one squares every other element. The gradient of a slice is
its own gradient laid into zeros of the full shape, and where slices overlap these are **added**:
each element collects from its left neighbour, its right neighbour, and twice itself where the
stride meets it. The view costs nothing, and its gradient is the view back.

To read, slices are alike everywhere. To *write* through them they are not. A slice of PyTorch
shares memory with what it was cut from, and so does one in MindSpore's tape style: `v = h[1:]` and
then `v[0] = 9` changes `h`. In MindSpore's graph style a slice is a copy (`StridedSlice`), and `h`
stays as it was: the same program, another number, and the style decides. `view` of a transposed
tensor raises in PyTorch, which asks for `reshape`; MindSpore copies silently.
"""

import numpy as np


def inputs():
    return {"x": np.array([[1.0, -2.0, 0.5], [3.0, 4.0, -1.0]])}


def mindspore_net():
    def neighbours(x):
        row = x.view(6)
        early = row[:-1]
        late = row[1:]
        every_other = row[::2]
        return (early * late).sum() + (every_other * every_other).sum()

    return neighbours


def torch_net():
    def neighbours(x):
        row = x.view(6)
        early = row[:-1]
        late = row[1:]
        every_other = row[::2]
        return (early * late).sum() + (every_other * every_other).sum()

    return neighbours


def jax_net():
    def neighbours(params, x):
        row = x.reshape(6)
        early = row[:-1]
        late = row[1:]
        every_other = row[::2]
        return (early * late).sum() + (every_other * every_other).sum()

    return neighbours
