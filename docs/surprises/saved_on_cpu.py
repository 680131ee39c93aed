"""PyTorch's check for results changed in place, with and without hooks for saved tensors: Σ(eˣ + 1)."""

import torch


def net(x):
    y = torch.exp(x)
    y.add_(1.0)
    return y.sum()


def main():
    x = torch.tensor([0.0, 1.0, 2.0], requires_grad=True)
    try:
        print("plain:", torch.autograd.grad(net(x), x)[0].numpy())
    except RuntimeError as error:
        print("plain: RuntimeError:", str(error).partition(":")[0])
    with torch.autograd.graph.save_on_cpu():
        loss = net(x)
    print("under save_on_cpu:", torch.autograd.grad(loss, x)[0].numpy().round(4))
    print("right:", torch.exp(x).detach().numpy().round(4))


if __name__ == "__main__":
    main()
