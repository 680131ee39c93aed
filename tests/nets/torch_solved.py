"""A linear system and eigenvalues, which check for errors, and the energy of a spectrum."""

import numpy as np


def inputs():
    return {
        "a": np.array([[4.0, 1.0], [2.0, 3.0]], np.float32),
        "b": np.array([1.0, 2.0], np.float32),
    }


def torch_net():
    import torch

    def net(a, b):
        solution = torch.linalg.solve(a, b).sum()
        greatest = torch.linalg.eigvals(a).real.max()
        return solution + greatest + (torch.abs(torch.fft.rfft(torch.cat((b, b)))) ** 2).sum()

    return net
