"""Environments: Pythons in which a framework is installed, and what is known of each."""

from collections.abc import Mapping
from typing import Literal

import msgspec

from explorer.model.engines import Framework, framework_of, placed
from explorer.model.versions import Limit

Origin = Literal["here", "variable", "project", "user", "given"]
"""Where an environment is named.

- "here": the Python that the explorer runs in
- "variable": EXPLORER_TORCH_PYTHON, EXPLORER_MINDSPORE_PYTHON or EXPLORER_JAX_PYTHON
- "project": ``[tool.explorer.environments]`` in a pyproject.toml
- "user": added by ``explorer env add``
- "given": a path in the place of a name
"""


Homes = Mapping[Framework, str]
"""The environments in which frameworks are run, by name, where any is named."""

NO_HOMES: Homes = {}


def at_home(name: str, homes: Homes) -> str:
    """An engine or a kind of worker in the environment of its framework, where one is named."""
    framework = framework_of(name)
    return placed(name, homes.get(framework, "")) if framework else name


class Environment(msgspec.Struct, frozen=True):
    """A Python by its name; ``python`` is the path of its executable."""

    name: str
    python: str
    origin: Origin


class Interpreter(msgspec.Struct, frozen=True):
    """What an environment's Python says of itself.

    ``version`` is "3.12.1", ``suffix`` ends the names of its compiled modules, ``paths`` are the
    folders and archives in which it looks for modules, ``prefix`` is the environment's folder.
    """

    version: str
    suffix: str
    paths: tuple[str, ...]
    prefix: str


class EnvironmentFacts(msgspec.Struct, frozen=True, kw_only=True):
    """An environment with what is installed in it.

    ``versions`` are keyed by package; ``runs`` are the frameworks that are run in it where no other
    is named. ``error`` says why it cannot be used; "" of one that can.
    """

    environment: Environment
    python: str = ""
    versions: dict[str, str] = {}
    runs: tuple[Framework, ...] = ()
    error: str = ""


class EnvironmentCheck(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a worker that imported a framework in an environment.

    ``framework`` is None where the environment has none. ``devices`` are those that the framework can
    use; ``tried`` and ``limits`` are those of its version. ``error`` says why it cannot be used, "" of
    one that can.
    """

    environment: Environment
    framework: Framework | None
    version: str = ""
    tried: bool = False
    limits: tuple[Limit, ...] = ()
    devices: tuple[str, ...] = ()
    error: str = ""

    @property
    def is_fine(self) -> bool:
        """Whether the framework can be used."""
        return not self.error
