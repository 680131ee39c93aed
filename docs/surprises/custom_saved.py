"""x³ by a custom Function that saves x², or x: its gradient, and the gradient of x·(its gradient)."""

import torch

X = 2.0


class CubeBySquare(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        square = x * x
        ctx.save_for_backward(square)
        return square * x

    @staticmethod
    def backward(ctx, cotangent):
        (square,) = ctx.saved_tensors
        return 3 * square * cotangent


class CubeByInput(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, cotangent):
        (x,) = ctx.saved_tensors
        return 3 * x * x * cotangent


class CubeWithOutput(CubeBySquare):
    @staticmethod
    def forward(ctx, x):
        square = x * x
        ctx.save_for_backward(x, square)
        return square * x, square

    @staticmethod
    def backward(ctx, cotangent, of_square):
        x, square = ctx.saved_tensors
        return 3 * square * cotangent + 2 * x * of_square


FUNCTIONS = {
    "saves x * x": CubeBySquare.apply,
    "saves x": CubeByInput.apply,
    "returns x * x too": lambda x: CubeWithOutput.apply(x)[0],
}


def main():
    for name, cube in FUNCTIONS.items():
        x = torch.tensor(X, requires_grad=True)
        (first,) = torch.autograd.grad(cube(x), x, create_graph=True)
        # x times 3x² is 3x³, whose derivative is 9x².
        (second,) = torch.autograd.grad(x * first, x)
        print(f"PyTorch, {name}:", first.item(), second.item())


if __name__ == "__main__":
    main()
