"""The multilabel margin loss of four scores, of which label 1 is right; −1 ends the list of labels."""

import torch
from torch.nn.functional import multilabel_margin_loss

SCORES = [[0.1, 0.2, 0.4, 0.8]]
LABELS = [[1, -1, 0, 2]]


def loss(x):
    return multilabel_margin_loss(x, torch.tensor(LABELS))


def written_out(x):
    """The same, by a mask of the right labels before the first −1."""
    labels = torch.tensor(LABELS)
    is_listed = (labels < 0).cumsum(1) == 0
    is_right = torch.zeros(1, 4).scatter_add(1, labels.clamp(min=0), is_listed.float()) > 0
    margins = (1 - (x.unsqueeze(2) - x.unsqueeze(1))).clamp(min=0)
    pairs = is_right.unsqueeze(2) & ~is_right.unsqueeze(1)
    return torch.where(pairs, margins, 0.0).sum() / 4


def show(name, function):
    x = torch.tensor(SCORES, requires_grad=True)
    value = function(x)
    value.backward()
    print(f"PyTorch, {name}: {value.item():.4f}", x.grad.numpy())


def main():
    show("tape", loss)
    # Its decomposition is wrong, whatever the backend.
    show("compiled", torch.compile(loss, backend="aot_eager_decomp_partition"))
    show("written out", written_out)
    show("written out, compiled", torch.compile(written_out, backend="aot_eager_decomp_partition"))


if __name__ == "__main__":
    main()
