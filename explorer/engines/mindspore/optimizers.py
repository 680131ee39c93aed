"""MindSpore's optimizers by PyTorch's names: the settings of each group of parameters, and the state."""

from collections.abc import Iterator, Mapping
from typing import Any

import mindspore as ms
import numpy as np

from explorer.model.graph import Arguments, Setting
from explorer.model.training import Group

SETTINGS = {
    "eps": "eps",
    "epsilon": "eps",
    "momentum": "momentum",
    "dampening": "dampening",
    "nesterov": "nesterov",
    "use_nesterov": "nesterov",
    "use_amsgrad": "amsgrad",
    "centered": "centered",
    "decay": "alpha",
    "alpha": "alpha",
    "lambd": "lambd",
}
"""The attributes of the optimizers of ``mindspore.nn`` that are settings: PyTorch's names (2.10.0)."""

STATE = {
    "moment1": "exp_avg",
    "moment2": "exp_avg_sq",
    "adam_m": "exp_avg",
    "adam_v": "exp_avg_sq",
    "accum": "momentum_buffer",
    "moments": "momentum_buffer",
    "moment": "momentum_buffer",
    "mean_square": "square_avg",
    "mean_grad": "grad_avg",
    "ax_": "ax",
}
"""How the names of an optimizer's own parameters begin: PyTorch's names of the same state (2.10.0)."""

STATE_OF = {("Adagrad", "accum"): "sum", ("AdaMax", "moment2"): "exp_inf"}
"""The same where an optimizer has something else under that name."""

USED_WITH = {
    "momentum_buffer": "momentum",
    "max_exp_avg_sq": "amsgrad",
    "grad_avg": "centered",
}
"""State that an optimizer holds always, and PyTorch's only with a setting."""

NO_STATE = frozenset(("stat",))
"""What is no state: a mark of nn.SGD that it has not updated yet."""

STEPS = ("global_step", "state_step", "step_t")
"""The attributes that count the updates."""

UNCOUNTED = ("SGD", "Momentum")
"""Optimizers whose updates PyTorch does not count."""


def groups(optimizer: Any, names: Mapping[int, str]) -> tuple[Group, ...]:
    """The groups of an optimizer with the settings of its next update; ``names`` are by id()."""
    if hasattr(optimizer, "param_groups"):
        return tuple(_experimental_groups(optimizer, names))
    members: dict[tuple[float, float], list[str]] = {}
    for parameter, rate, decay in zip(
        optimizer.parameters, _rates(optimizer), _decays(optimizer), strict=True
    ):
        members.setdefault((rate, decay), []).append(_name(parameter, names))
    common = _settings(optimizer)
    return tuple(
        Group(tuple(of_group), {"lr": rate, "weight_decay": decay, **common})
        for (rate, decay), of_group in members.items()
    )


def state(optimizer: Any, names: Mapping[int, str]) -> Iterator[tuple[str, str, Any]]:
    """What an optimizer holds for each parameter: its name, PyTorch's name of the state, the tensor."""
    kind = type(optimizer).__name__
    by_own_name = {parameter.name: _name(parameter, names) for parameter in optimizer.parameters}
    # The rate is not asked for: behind the last update a list of rates has none.
    settings = [_settings(optimizer)]
    if hasattr(optimizer, "param_groups"):
        settings = [group.settings for group in _experimental_groups(optimizer, names)]
    for held in optimizer.get_parameters():
        prefix, _dot, own_name = held.name.partition(".")
        if own_name not in by_own_name or held.name in by_own_name or prefix in NO_STATE:
            continue
        key = STATE_OF.get((kind, prefix), STATE.get(prefix, prefix))
        if any(of_group.get(USED_WITH.get(key, ""), True) for of_group in settings):
            yield by_own_name[own_name], key, held
    for attribute in STEPS:
        count = getattr(optimizer, attribute, None)
        if isinstance(count, ms.Tensor) and kind not in UNCOUNTED:
            for name in by_own_name.values():
                yield name, "step", ms.Tensor(np.float32(count.asnumpy().reshape(())))


def _experimental_groups(optimizer: Any, names: Mapping[int, str]) -> Iterator[Group]:
    for group in optimizer.param_groups:
        settings: Arguments = {}
        for key, value in group.items():
            if key in ("params", "grad_centralization"):
                continue
            is_several = isinstance(value, (tuple, list))
            settings[key] = tuple(map(_plain, value)) if is_several else _plain(value)
        yield Group(tuple(_name(parameter, names) for parameter in group["params"]), settings)


def _rates(optimizer: Any) -> list[float]:
    """The learning rate of each parameter in the next update."""
    rates = optimizer.get_lr()
    if not isinstance(rates, tuple):
        rates = (rates,) * len(optimizer.parameters)
    return [float(_plain(rate) or 0) for rate in rates]


def _decays(optimizer: Any) -> list[float]:
    """The weight decay of each parameter: by default, nn's optimizers leave out some by their names."""
    decays = optimizer.get_weight_decay()
    if not isinstance(decays, (tuple, list)):
        decays = (decays,) * len(optimizer.parameters)
    pairs = zip(decays, optimizer.decay_flags, strict=True)
    return [float(_plain(decay) or 0) if is_decayed else 0.0 for decay, is_decayed in pairs]


def _settings(optimizer: Any) -> Arguments:
    settings: Arguments = {}
    for attribute, name in SETTINGS.items():
        value = _plain(getattr(optimizer, attribute, None))
        if value is not None:
            settings.setdefault(name, value)
    if hasattr(optimizer, "beta1") and hasattr(optimizer, "beta2"):
        settings["betas"] = (_plain(optimizer.beta1), _plain(optimizer.beta2))
    if getattr(optimizer, "loss_scale", 1.0) != 1.0:
        settings["loss_scale"] = _plain(optimizer.loss_scale)
    return settings


def _plain(value: Any) -> Setting:
    """A setting as it was given: 0.9, which a tensor of float32 holds as 0.8999999761581421."""
    if isinstance(value, ms.Tensor):
        number = value.asnumpy().reshape(-1)
        return float(str(number[0])) if number.size == 1 else None
    return value if isinstance(value, (bool, int, float, str)) else None


def _name(parameter: Any, names: Mapping[int, str]) -> str:
    return names.get(id(parameter), parameter.name)
