"""The second derivative of a product of three numbers, summed over one input: x₂+x₃, x₁+x₃, x₁+x₂."""

import mindspore as ms
import torch
from mindspore import ops

WHOLE, WITH_ZERO = (1.0, 2.0, 3.0), (0.0, 2.0, 3.0)


def over_all(x):
    return ops.prod(x)


def over_axis(x):
    return ops.prod(x.reshape(1, 3), 1).sum()


def written_out(x):
    return (x[0:1] * x[1:2] * x[2:3]).sum()


FUNCTIONS = {"prod(x)": over_all, "prod(x, 1)": over_axis, "a * b * c": written_out}


def summed_slope(function):
    def slope(x):
        return ms.grad(function)(x).sum()

    return slope


def torch_slope(x):
    return torch.func.grad(torch.prod)(x).sum()


def main():
    for style, mode in (("tape", ms.PYNATIVE_MODE), ("graph", ms.GRAPH_MODE)):
        ms.set_context(mode=mode)
        for name, function in FUNCTIONS.items():
            for x in (WHOLE, WITH_ZERO):
                label = f"MindSpore, {style}, {name} at {x[0]:g}, 2, 3:"
                try:
                    second = ms.grad(summed_slope(function))(ms.Tensor(x))
                    print(label, second.asnumpy().round(4))
                except RuntimeError as error:
                    print(label, "RuntimeError:", str(error).partition(":")[0])
    for x in (WHOLE, WITH_ZERO):
        print(f"PyTorch at {x[0]:g}, 2, 3:", torch.func.grad(torch_slope)(torch.tensor(x)).numpy())


if __name__ == "__main__":
    main()
