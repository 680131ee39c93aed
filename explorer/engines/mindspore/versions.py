"""What depends on the version of MindSpore: since when each thing is there, and what stands in for it."""

from importlib import import_module
from typing import Any, Literal, NamedTuple

import mindspore as ms

Name = Literal[
    "dispatch modes",
    "identities of the tape's nodes",
    "saved_tensors_hooks",
    "the compiler's parser",
    "the parser's checker",
    "the compiler's cache",
]


class Feature(NamedTuple):
    """A part of MindSpore that some versions lack.

    ``since`` is the first version that has it, at ``place`` ("module:attribute"); before that there
    is ``fallback``.
    """

    since: tuple[int, int]
    place: str
    fallback: str


FEATURES: dict[Name, Feature] = {
    "dispatch modes": Feature(
        (2, 9),
        "mindspore.utils.ms_dispatch:MsDispatchMode",
        "explorer.engines.mindspore.watched_calls:WatchedCalls",
    ),
    "identities of the tape's nodes": Feature(
        (2, 9),
        "explorer.engines.mindspore.fallbacks:unique_id",
        "explorer.engines.mindspore.fallbacks:sequence_number",
    ),
    "saved_tensors_hooks": Feature(
        (2, 8),
        "mindspore:saved_tensors_hooks",
        "explorer.engines.mindspore.fallbacks:no_saved_tensors_hooks",
    ),
    "the compiler's parser": Feature(
        (2, 9),
        "mindspore.graph._parse.parser:Parser",
        "mindspore._extends.parse.parser:Parser",
    ),
    "the parser's checker": Feature(
        (2, 9),
        "mindspore.graph._parse.jit_fallback_modules.check_utils:ThirdPartyLibraryChecker",
        "mindspore._extends.parse.jit_fallback_modules.check_utils:ThirdPartyLibraryChecker",
    ),
    "the compiler's cache": Feature(
        (2, 9),
        "mindspore.graph.api:ms_compile_cache",
        "mindspore.common.api:ms_compile_cache",
    ),
}
"""All that depends on the version; nothing else asks for it."""

HERE = tuple(map(int, ms.__version__.split(".")[:2]))
"""The version that runs: (2, 10)."""


def has(name: Name) -> bool:
    """Whether this MindSpore has a feature itself."""
    return FEATURES[name].since <= HERE


def since(name: Name) -> str:
    """The first version that has a feature: "2.9"."""
    return ".".join(map(str, FEATURES[name].since))


def provided(name: Name) -> Any:
    """A feature of this MindSpore, or what stands in for it."""
    feature = FEATURES[name]
    module, _, path = (feature.place if has(name) else feature.fallback).partition(":")
    found: Any = import_module(module)
    for attribute in path.split("."):
        found = getattr(found, attribute)
    return found
