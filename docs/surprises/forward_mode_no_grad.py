"""The derivative of 3x·x where 3x is computed under `no_grad`, at 2: reverse mode and forward mode."""

import torch

X = torch.tensor(2.0)


def net(x):
    with torch.no_grad():
        scale = 3 * x
    return scale * x


def detached(x):
    scale = (3 * x).detach()
    return scale * x


def main():
    for name, function in (("no_grad", net), ("detach", detached)):
        print(f"PyTorch, {name}, jacrev:", torch.func.jacrev(function)(X).item())
        print(f"PyTorch, {name}, jacfwd:", torch.func.jacfwd(function)(X).item())


if __name__ == "__main__":
    main()
