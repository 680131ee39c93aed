"""Devices in MindSpore: which there are, where tensors live, what moves them, reading them."""

import logging
from typing import Any

import mindspore as ms
from mindspore import hal, nn
from mindspore.log import _get_logger

from explorer.engines.mindspore.about import about
from explorer.model.measurement import Ask, Found
from explorer.model.requests import Nothing
from explorer.text.messages import first_clause, repeatable
from explorer.topics.attempts import attempt, raised
from explorer.topics.in_mindspore import numbers, set_style
from explorer.topics.scenario_nets import covering_answers

KINDS = ("CPU", "Ascend", "GPU")
"""The kinds of device that `set_device` has names for (2.10.0)."""


def sees(ask: Ask) -> Found:
    """Which kinds of device there are here, and which can be used."""
    set_style("tape")
    available: dict[str, Any] = {}
    for kind in KINDS:
        available[kind] = attempt(hal.is_available, kind)
    return Found({"usable": about(Nothing()).devices, "available": available})


def lives(ask: Ask) -> Found:
    """Where tensor, parameter, result and gradient are when no device is named."""
    # The style alone: the device that a study was given is for its matrix.
    set_style("tape")
    x, net = ms.Tensor([1.0, 2.0]), nn.Dense(2, 1, "ones")
    return Found(
        {
            "tensor": attempt(device_of, x),
            "parameter": attempt(device_of, net.weight),
            "result": attempt(device_of, net(x)),
            "gradient": attempt(device_of, ms.grad(net)(x)),
        }
    )


def device_of(tensor: Any) -> str:
    """The device that a tensor says it is on."""
    return str(tensor.device)


def moves(ask: Ask) -> Found:
    """What choosing another device does before and after use, and what moves tensors and nets."""
    set_style("tape")
    x, net = ms.Tensor([1.0, 2.0]), nn.Dense(2, 1)
    movers = sorted(ask.options["movers"])
    here = ms.get_context("device_target")
    others = [kind for kind in KINDS if kind != here]
    available = [kind for kind in others if attempt(hal.is_available, kind) is True]
    moved = {kind: moved_to(kind) for kind in KINDS}
    move_to_same = attempt(numbers_after_move, x, here)
    move_to_other = {kind: attempt(device_after_move, x, kind) for kind in others}
    # Last, since a set_device that is taken would move everything after it.
    set_device_again = attempt(ms.set_device, here, 1)
    set_device_other = {kind: attempt(ms.set_device, kind) for kind in others}
    return Found(
        {
            "target": here,
            "available": available,
            "moved": moved,
            "tensor_api": [name for name in movers if hasattr(x, name)],
            "net_api": [name for name in movers if hasattr(net, name)],
            "move_to_same": move_to_same,
            "move_to_other": move_to_other,
            "set_device_again": set_device_again,
            "set_device_other": set_device_other,
        }
    )


def moved_to(kind: str) -> Any:
    """Where a tensor and a net's weight are after each call that could take them to a kind of device."""
    x, net = ms.Tensor([1.0, 2.0]), nn.Dense(2, 1)
    calls = {
        "Tensor.to": lambda: device_of(x.to(kind)),
        "Tensor.move_to": lambda: device_of(x.move_to(kind)),
        "Cell.to": lambda: device_of(net.to(kind).weight),
    }
    figures = {}
    for name, call in calls.items():
        figure = attempt(call)
        if raised(figure):
            # What follows names libraries of this machine that were looked for (2.10.0).
            figure = {**figure, "message": first_clause(figure["message"])}
        figures[name] = figure
    return figures


def numbers_after_move(tensor: Any, kind: str) -> Any:
    """The numbers of a tensor once ``move_to`` has taken it to a kind of device."""
    return numbers(tensor.move_to(kind))


def device_after_move(tensor: Any, kind: str) -> str:
    """Where a tensor is once ``move_to`` has taken it to a kind of device."""
    return device_of(tensor.move_to(kind))


def host(ask: Ask) -> Found:
    """What reads a result as numbers of the host at once."""
    set_style("tape")
    # Given weights, since what is read is a figure of the record and must be the same at every run.
    net = nn.Dense(2, 1, "ones", "zeros")
    result = net(ms.Tensor([1.0, 2.0]))
    gradient = ms.grad(net)(ms.Tensor([1.0, 2.0]))
    return Found(
        {
            "result": attempt(read, result),
            "parameter": attempt(read, net.weight),
            "gradient": attempt(read, gradient),
        }
    )


def read(tensor: Any) -> Any:
    """The numbers that ``asnumpy`` gives."""
    return tensor.asnumpy().tolist()


def matrix(ask: Ask) -> Found:
    """Cases on the device of the process: MindSpore 2.10 keeps to one."""
    engine = f"mindspore-{ask.options['style']}"
    return Found(covering_answers(ask, engine, (ask.device,)))


class Warnings(logging.Handler):
    """Keeps what MindSpore warns of."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the text of a warning."""
        self.texts.append(repeatable(record.getMessage()))


def as_printed() -> str:
    """The guide's line, and the device that there is after it."""
    ms.set_context(device_target="Ascend", device_id=0)
    return str(ms.get_context("device_target"))


def as_meant(target: str) -> str:
    """The same line for the device that is here."""
    ms.set_context(device_target=target, device_id=0)
    return str(ms.get_context("device_target"))


def set_context(ask: Ask) -> Found:
    """What set_context does with the guide's device and with the one here, and what it warns of."""
    set_style("tape", ask.device)
    here = ms.get_context("device_target")
    printed = attempt(as_printed)
    logger, warnings = _get_logger(), Warnings()
    level = logger.level
    logger.addHandler(warnings)
    logger.setLevel(logging.WARNING)  # workers are told to keep warnings to themselves
    try:
        meant = attempt(as_meant, here)
    finally:
        logger.setLevel(level)
        logger.removeHandler(warnings)
    return Found(
        {
            "here": here,
            "kinds": [kind for kind in KINDS if attempt(hal.is_available, kind) is True],
            "as printed": printed,
            "as meant": meant,
            "warnings": warnings.texts,
        }
    )


def outputs(ask: Ask) -> Found:
    """Where an output is, what writing to it does, and what writing to its array does."""
    set_style(ask.options["style"], ask.device)
    net = nn.Dense(3, 2, "ones", "zeros")
    x = ms.Tensor([[1.0, 2.0, 3.0]])
    return Found(
        {
            "target": ms.get_context("device_target"),
            "device": attempt(device_of, net(x)),
            "element written": attempt(write_element, net(x)),
            "array written": attempt(write_array, net(x)),
        }
    )


def write_element(output: Any) -> Any:
    """The output after one of its elements was set."""
    output[0, 0] = 7.0
    return numbers(output)


def write_array(output: Any) -> Any:
    """The output after an element was set of the array that asnumpy gives."""
    output.asnumpy()[0, 0] = 7.0
    return numbers(output)
