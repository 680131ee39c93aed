"""The gradient of a product of large numbers and two zeros, with and without `create_graph`: it is 0."""

import torch

X = [1e30, 1e30, 0.0, 0.0]


def gradient(product, dtype=torch.float32, **options):
    x = torch.tensor(X, dtype=dtype, requires_grad=True)
    return torch.autograd.grad(product(x), x, **options)[0].detach().numpy()


def main():
    print("PyTorch:", gradient(torch.prod))
    print("PyTorch, create_graph=True:", gradient(torch.prod, create_graph=True))
    in_double = gradient(torch.prod, torch.float64, create_graph=True)
    print("PyTorch, create_graph=True, float64:", in_double)


if __name__ == "__main__":
    main()
