"""The gradient by an integer tensor: Tensor([1, 2, 3]) is one."""

import mindspore as ms
import torch


def halves(x):
    return (x * 0.5).sum()


def main():
    for style, mode in (("tape", ms.PYNATIVE_MODE), ("graph", ms.GRAPH_MODE)):
        ms.set_context(mode=mode)
        whole = ms.grad(halves)(ms.Tensor([1, 2, 3]))
        print(f"MindSpore, {style}, Tensor([1, 2, 3]):", whole, whole.dtype)
        real = ms.grad(halves)(ms.Tensor([1.0, 2.0, 3.0]))
        print(f"MindSpore, {style}, Tensor([1.0, 2.0, 3.0]):", real, real.dtype)
    try:
        print("PyTorch:", torch.func.grad(halves)(torch.tensor([1, 2, 3])))
    except RuntimeError as error:
        print("PyTorch: RuntimeError:", error)


if __name__ == "__main__":
    main()
