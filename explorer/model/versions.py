"""Versions of the frameworks: which were tried, and what engines cannot give in older ones."""

import re
from collections.abc import Iterator, Mapping
from typing import Literal

import msgspec

from explorer.model.engines import FRAMEWORKS, Framework, framework_of

Version = tuple[int, int]
"""The first two numbers of a version: (2, 10)."""

LimitKind = Literal[
    "gradient_in_forward", "written_leaf", "tape_graph", "backward_operators", "noise"
]
"""What an engine cannot give.

- "gradient_in_forward": an answer or a graph where the forward calls torch.autograd.grad
- "written_leaf": the same where the forward writes to what is differentiated by
- "tape_graph": a graph of the tape
- "backward_operators": nodes for the operators of the backward; there is one for each of the forward
- "noise": how much its numbers vary by rounding
"""


class Limit(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something that an engine cannot give before the version ``since``.

    Where ``begins`` is given, still older versions lack more, which another limit says.
    """

    engine: str
    what: LimitKind
    since: Version
    begins: Version = (0, 0)


LIMITS = (
    # Dynamo refuses torch.autograd.grad; it takes torch.func.grad (2.6 to 2.15).
    Limit("torch-graph", "gradient_in_forward", (2, 11)),
    # The older export refuses it.
    Limit("torch-graph", "written_leaf", (2, 10)),
    # Tensor._grad_node.
    Limit("mindspore-tape", "tape_graph", (2, 8)),
    # MsDispatchMode; before, only the operators that Python calls are seen.
    Limit("mindspore-tape", "backward_operators", (2, 9), begins=(2, 8)),
    Limit("mindspore-tape", "noise", (2, 9)),
)
"""What engines cannot give in older versions; whoever asks for it gets the reason."""

TRIED: dict[Framework, tuple[Version, ...]] = {
    "mindspore": ((2, 7), (2, 8), (2, 9), (2, 10)),
    "torch": ((2, 2), (2, 4), (2, 6), (2, 8), (2, 10), (2, 13), (2, 14), (2, 15)),
    "jax": ((0, 6),),
}
"""The versions that the explorer was tried with, as docs/reference/versions.md records."""


class VersionFacts(msgspec.Struct, frozen=True):
    """A version of a framework: whether it was tried, and what is limited with it."""

    framework: Framework
    version: str
    tried: bool
    limits: tuple[Limit, ...]


def first_with(what: LimitKind) -> Version:
    """The first version that gives something."""
    return next(limit.since for limit in LIMITS if limit.what == what)


def version_facts(framework: Framework, version: str) -> VersionFacts:
    """What is known of a version: "2.13.0+cpu". Of one that is not a number no limit is known."""
    numbers = re.match(r"(\d+)\.(\d+)", version)
    if numbers is None:
        return VersionFacts(framework, version, tried=False, limits=())
    short = int(numbers[1]), int(numbers[2])
    own = [limit for limit in LIMITS if framework_of(limit.engine) == framework]
    limits = tuple(limit for limit in own if limit.begins <= short < limit.since)
    return VersionFacts(framework, version, short in TRIED[framework], limits)


def every_version(versions: Mapping[str, str]) -> Iterator[VersionFacts]:
    """What is known of each framework among some packages."""
    for framework in FRAMEWORKS:
        if framework in versions:
            yield version_facts(framework, versions[framework])
