"""Dropout in PyTorch: what its one parameter means, and whether its gradient has the forward's
mask.
"""

import inspect
from typing import Any

import torch
from torch import nn

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt_briefly
from explorer.topics.operators.in_torch_styles import placed, styled

ELEMENTS = 20_000
DRAWS = 400


@placed
def dropout_settings(ask: Ask) -> Found:
    """The share of ones that survive each way to ask for dropout, what a survivor becomes, and what
    inference makes of it.
    """
    figures: dict[str, Any] = {
        "p=0.3": attempt_briefly(_survival, p=0.3),
        "keep_prob=0.7": attempt_briefly(_survival, keep_prob=0.7),
        "0.3 alone": attempt_briefly(_survival, 0.3),
        "no argument": attempt_briefly(_survival),
        "p=0": attempt_briefly(_survival, p=0.0),
        "p=1": attempt_briefly(_survival, p=1.0),
    }
    return Found(figures | {"parameters": list(inspect.signature(nn.Dropout).parameters)})


def _survival(*arguments: float, **options: Any) -> dict[str, Any]:
    torch.manual_seed(0)
    layer = nn.Dropout(*arguments, **options).train()
    ones = torch.ones(ELEMENTS)
    made = layer(ones)
    still = bool((layer.eval()(ones) == 1).all())
    return {
        "kept": float((made != 0).double().mean()),
        "survivor": float(made.max()),
        "inference_is_identity": still,
    }


@placed
def dropout_draws(ask: Ask) -> Found:
    """The mean of many draws beside what went in, and when the seed makes the mask come again."""
    torch.manual_seed(0)
    given = torch.linspace(1, 8, 8)
    layer = nn.Dropout(p=0.3)
    draws = layer(given.repeat(DRAWS, 1))
    ones = torch.ones(64)
    torch.manual_seed(1)
    first = nn.Dropout(p=0.3)
    masks = [first(ones)]
    torch.manual_seed(1)
    masks += [first(ones)]
    torch.manual_seed(1)
    masks += [nn.Dropout(p=0.3)(ones)]
    return Found(
        {
            "draws": DRAWS,
            "ratio": (draws.double().mean(0) / given).cpu().numpy().round(6).tolist(),
            "same_layer_repeats_after_seed": torch.equal(masks[0], masks[1]),
            "new_layer_repeats_after_seed": torch.equal(masks[0], masks[2]),
        }
    )


@placed
def dropout_mask(ask: Ask) -> Found:
    """Output and gradient of one call of dropout on ones, in the style asked for: both are the mask
    times 1 / (1 - p).
    """
    torch.manual_seed(0)
    given = torch.ones(64, requires_grad=True)
    output = styled(nn.Dropout(p=0.3), ask.options["style"])(given)
    (gradient,) = torch.autograd.grad(output.sum(), given)
    return Found({"output": output.tolist(), "gradient": gradient.tolist()})
