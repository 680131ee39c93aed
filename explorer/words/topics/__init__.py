"""The texts of studies and claims, a module for each topic: messages, and what to do about a claim.

A module has ``TEXTS``, by the names of messages without the topic's, and ``ADVICE``, by the numbers of
claims and a verdict, or a name that the claim's judge gives. A text of one form for 1 and another for
other numbers is a pair; its value ``n`` decides.
"""

import importlib
import pkgutil
from functools import cache

Template = str | tuple[str, str]


@cache
def texts() -> dict[str, Template]:
    """All texts of messages, by their whole names."""
    found: dict[str, Template] = {}
    for name, module in _modules().items():
        for key, template in getattr(module, "TEXTS", {}).items():
            found[f"{name}.{key}"] = template
    return found


@cache
def advice() -> dict[tuple[int, str], str]:
    """All advice on claims, by their numbers, and verdicts or names."""
    found: dict[tuple[int, str], str] = {}
    for module in _modules().values():
        found.update(getattr(module, "ADVICE", {}))
    return found


@cache
def _modules() -> dict[str, object]:
    names = [module.name for module in pkgutil.iter_modules(__path__)]
    return {name: importlib.import_module(f"{__name__}.{name}") for name in names}
