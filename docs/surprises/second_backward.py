"""A second backward through a + e^b fails. What does it leave in .grad?"""

import torch


def main():
    a = torch.tensor(1.0, requires_grad=True)
    b = torch.tensor(0.0, requires_grad=True)
    loss = a + torch.exp(b)
    loss.backward()
    print("after the first backward:", a.grad.numpy(), b.grad.numpy())
    try:
        loss.backward()
    except RuntimeError as error:
        print("the second: RuntimeError:", str(error).partition(" (")[0])
    print("after the second backward:", a.grad.numpy(), b.grad.numpy())


if __name__ == "__main__":
    main()
