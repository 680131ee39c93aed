"""What the doctor finds installed: as facts, and worded for a reader."""

from typing import Literal

import msgspec

from explorer.model.environments import EnvironmentFacts
from explorer.model.failures import Failure
from explorer.model.versions import VersionFacts

CheckKind = Literal[
    "python",
    "framework",
    "package",
    "too_new_numpy",
    "missing",
    "broken",
    "layout",
    "browser",
    "environment",
]
"""What a check is about, and what it found.

- "python": the version of Python
- "framework": a framework that runs, with its devices
- "package": an installed package
- "too_new_numpy": a numpy with which MindSpore crashes
- "missing": a package that is not installed
- "broken": a framework that cannot be used; ``error`` says why
- "layout": Graphviz, or the ``text`` on the layout that replaces it
- "browser": a browser that the app's tests can drive
- "environment": another Python that frameworks are run in
"""


class CheckFacts(msgspec.Struct, frozen=True, kw_only=True):
    """One check and what it found; without a ``required`` one nothing can be compared.

    ``frameworks`` are those of an environment, or the one that is checked.
    """

    kind: CheckKind
    name: str
    fine: bool
    required: bool = False
    version: str = ""
    devices: tuple[str, ...] = ()
    text: str = ""
    error: Failure | None = None
    environment: EnvironmentFacts | None = None
    frameworks: tuple[VersionFacts, ...] = ()


class LimitText(msgspec.Struct, frozen=True):
    """What an engine cannot give in an environment, and why."""

    environment: str
    engine: str
    text: str


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """A check as a reader sees it; ``remedy`` is how to mend what is not ``fine``.

    ``tried`` says whether the explorer was tried with the versions of frameworks that were found; None
    where there is none.
    """

    name: str
    fine: bool
    found: str
    remedy: str = ""
    required: bool = False
    tried: bool | None = None
    limits: tuple[LimitText, ...] = ()
