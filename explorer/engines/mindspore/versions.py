"""What depends on the version of MindSpore: since when each thing is there, and what stands in for it."""

from importlib import import_module
from typing import Any, Literal, NamedTuple

import mindspore as ms

from explorer.model.errors import UncapturedError
from explorer.model.versions import Version, first_with

Name = Literal[
    "MsDispatchMode",
    "_grad_node._unique_id",
    "Tensor._grad_node",
    "saved_tensors_hooks",
    "graph._parse.parser",
    "graph._parse.jit_fallback_modules",
    "graph.api.ms_compile_cache",
]


class Feature(NamedTuple):
    """A part of MindSpore that some versions lack.

    ``since`` is the first version that has it, at ``place`` ("module:attribute"); before that there
    is ``fallback``.
    """

    since: Version
    place: str
    fallback: str


FEATURES: dict[Name, Feature] = {
    "MsDispatchMode": Feature(
        first_with("backward_operators"),
        "mindspore.utils.ms_dispatch:MsDispatchMode",
        "explorer.engines.mindspore.watched_calls:WatchedCalls",
    ),
    "_grad_node._unique_id": Feature(
        (2, 9),
        "explorer.engines.mindspore.fallbacks:unique_id",
        "explorer.engines.mindspore.fallbacks:sequence_number",
    ),
    "Tensor._grad_node": Feature(
        first_with("tape_graph"),
        "explorer.engines.mindspore.fallbacks:tape_node",
        "explorer.engines.mindspore.fallbacks:no_tape_node",
    ),
    "saved_tensors_hooks": Feature(
        (2, 8),
        "mindspore:saved_tensors_hooks",
        "explorer.engines.mindspore.fallbacks:no_saved_tensors_hooks",
    ),
    "graph._parse.parser": Feature(
        (2, 9),
        "mindspore.graph._parse.parser:Parser",
        "mindspore._extends.parse.parser:Parser",
    ),
    "graph._parse.jit_fallback_modules": Feature(
        (2, 9),
        "mindspore.graph._parse.jit_fallback_modules.check_utils:ThirdPartyLibraryChecker",
        "mindspore._extends.parse.jit_fallback_modules.check_utils:ThirdPartyLibraryChecker",
    ),
    "graph.api.ms_compile_cache": Feature(
        (2, 9),
        "mindspore.graph.api:ms_compile_cache",
        "mindspore.common.api:ms_compile_cache",
    ),
}
"""All that depends on the version, by the names of the API; nothing else asks for it.

Without dispatch modes the operators that Python calls are seen, which are those of the forward: the
tape's graph has one node of backward for each of them, and noise is not measured. Without nodes of the
tape it has no graph.
"""

HERE = tuple(map(int, ms.__version__.split(".")[:2]))
"""The version that runs: (2, 10)."""


def has(name: Name) -> bool:
    """Whether this MindSpore has a feature itself."""
    return FEATURES[name].since <= HERE


def since(name: Name) -> str:
    """The first version that has a feature: "2.9"."""
    return ".".join(map(str, FEATURES[name].since))


def lacks(name: Name) -> UncapturedError:
    """The error for what cannot be done without a feature that this MindSpore does not have."""
    return UncapturedError("older_version", "MindSpore", ms.__version__, name, since(name))


def require(name: Name) -> None:
    """Raise UncapturedError where this MindSpore does not have a feature."""
    if not has(name):
        raise lacks(name)


def provided(name: Name) -> Any:
    """A feature of this MindSpore, or what stands in for it."""
    feature = FEATURES[name]
    module, _, path = (feature.place if has(name) else feature.fallback).partition(":")
    found: Any = import_module(module)
    for attribute in path.split("."):
        found = getattr(found, attribute)
    return found
