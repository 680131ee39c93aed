"""What set_context says when it is to choose MindSpore's device."""

import logging

import mindspore as ms
from mindspore import hal
from mindspore.log import _get_logger

from explorer.model.measurement import Ask, Found
from explorer.text.messages import repeatable
from explorer.topics.attempts import attempt
from explorer.topics.devices.in_mindspore import KINDS
from explorer.topics.in_mindspore import set_style


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
