"""Row 65: the rates of two groups, 0.1 and 0.01, a step after a decay by 0.9 has begun."""

from typing import Any

from tests.independent.attempts import attempt


def closed_form() -> dict[str, Any]:
    """Where all groups decay, as in PyTorch; where a rate of one's own stays, as in MindSpore."""
    return {"of all": [0.9 * 0.1, 0.9 * 0.01], "of the first": [0.9 * 0.1, 0.01]}


def in_mindspore_tape() -> dict[str, Any]:
    """The kinds that get_lr_parameter gives, and where groups can be read."""
    import mindspore as ms
    from mindspore import nn
    from mindspore.experimental import optim

    kinds = {}
    for name, rate in {
        "number": 0.1,
        "list": [0.1, 0.09, 0.081],
        "Cell": nn.ExponentialDecayLR(0.1, 0.9, 1),
    }.items():
        groups, first = _groups(ms, rate)
        (given,) = nn.SGD(groups, 0.01).get_lr_parameter([first])
        kind = "Cell" if isinstance(given, nn.Cell) else type(given).__name__
        kinds[name] = {"kind": kind, "shape": list(getattr(given, "shape", ()))}
    read = attempt(lambda: nn.SGD(_groups(ms, 0.1)[0], 0.01).param_groups)
    rates = [float(group["lr"]) for group in optim.SGD(_groups(ms, 0.1)[0], 0.01).param_groups]
    return {"kinds": kinds, "param_groups": read, "experimental": rates}


def _groups(ms: Any, rate: Any) -> tuple[list[dict[str, Any]], Any]:
    first = ms.Parameter(ms.Tensor([1.0]), name="first")
    second = ms.Parameter(ms.Tensor([1.0]), name="second")
    return [{"params": [first], "lr": rate}, {"params": [second]}], first
