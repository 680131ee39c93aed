"""Keys of what is kept: a digest of everything that a result depends on."""

import functools
import hashlib
import os
import platform
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec

from explorer.environments.interpreters import PACKAGES, interpreter, is_own, own, versions
from explorer.environments.known import home_of, named
from explorer.model.engines import NEEDED, Framework, environment_of, framework_of
from explorer.model.environments import Environment
from explorer.model.errors import UsageError
from explorer.shipped import PACKAGE

VARIABLES = ("CUDA_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES", "ASCEND_HOME_PATH")
"""The variables that say which devices a framework sees."""

FACES = (
    "api",
    "blocks",
    "cli",
    "documents",
    "drawing",
    "mkdocs",
    "pair",
    "pytest_plugin",
    "report",
    "sphinx",
    "web",
    "words",
)
"""The parts of the package that show results: none is made by them, so that a change there keeps all."""

DRIVER = Path("/proc/driver/nvidia/version")


class Key(msgspec.Struct, frozen=True):
    """The key of one result.

    ``kind`` is what sort it is ("scenario", "measurement", "versions"), ``name`` what a person calls
    it; ``digest`` is of all that it depends on, in 64 hexadecimal digits.
    """

    kind: str
    name: str
    digest: str


def key_of(kind: str, name: str, *parts: Any, engines: Iterable[str] = ()) -> Key:
    """The key of a result that depends on the installation and on ``parts``.

    Parts are records, or plain values of which MessagePack has an equal. What is installed in the
    environments that some ``engines`` name counts too, and where others run that join.
    """
    # In order: two dicts with the same entries are one part.
    inside = dict(filter(None, map(_installed, engines)))
    content = [kind, name, installation(), *parts, *((inside,) if inside else ())]
    digest = hashlib.sha256(msgspec.msgpack.encode(content, order="sorted")).hexdigest()
    return Key(kind, name, digest)


def key_in(environment: Environment, kind: str, name: str, *parts: Any) -> Key:
    """The key of what a worker in an environment replies; ``parts`` tell which code it runs.

    Beside them it depends on what is installed there, and on the class of the machine.
    """
    content = [kind, name, _in_one(environment), machine(), *parts]
    digest = hashlib.sha256(msgspec.msgpack.encode(content, order="sorted")).hexdigest()
    return Key(kind, name, digest)


def installation() -> dict[str, str]:
    """The explorer's code, the versions of the packages that take part, and the class of the machine.

    The version of a framework is that in the environment where it is run.
    """
    facts = {**_here(), **versions_here()}
    for framework in NEEDED:
        home = _home(framework)
        if home and not is_own(home):
            facts[f"{framework} in"] = _in_one(home)
    return facts


def versions_here() -> dict[str, str]:
    """The versions of the packages that results depend on, "none" of what is not installed.

    Those of a framework are of the environment where it is run.
    """
    found = {**dict.fromkeys(PACKAGES, "none"), **versions(own())}
    for framework in NEEDED:
        home = _home(framework)
        if home:
            found[framework] = versions(home, (framework,)).get(framework, "none")
    return found


def _home(framework: Framework) -> Environment | None:
    """Where a framework is run; None where a variable names no Python, as whoever runs it is told."""
    try:
        home = home_of(framework)
        interpreter(home)
    except UsageError:
        return None
    return home


def _installed(engine: str) -> tuple[str, str] | None:
    """What is installed where an engine runs; None of one of which installation() tells it."""
    name, framework = environment_of(engine), framework_of(engine)
    if name:
        return name, _in_one(named(name))
    if framework is None or framework in NEEDED:
        return None
    home = _home(framework)
    return framework, _in_one(home) if home else ""


def _in_one(environment: Environment) -> str:
    """What is installed in an environment, as one text: the same Python elsewhere gives the same."""
    parts = {"python": interpreter(environment).version, **versions(environment)}
    return " ".join(f"{name} {version}" for name, version in parts.items())


@functools.cache
def _here() -> dict[str, str]:
    """What cannot change while this process runs."""
    return {"explorer": _digest_of_code(), "python": platform.python_version(), **machine()}


def _digest_of_code() -> str:
    # A version alone would keep what an older checkout of the same version has found.
    return _digest_of_files(path for path in _code() if not _is_of(path, FACES))


@functools.cache
def digest_of_parts(*parts: str) -> str:
    """The digest of some parts of the package, such as "drawing", for what is kept of their work."""
    return _digest_of_files(path for path in _code() if _is_of(path, parts))


def _code() -> Iterator[Path]:
    """The modules of the package, and the tables that they read."""
    for pattern in ("*.py", "*.toml"):
        yield from PACKAGE.rglob(pattern)


def _is_of(path: Path, parts: tuple[str, ...]) -> bool:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py") in parts


def _digest_of_files(paths: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in sorted(paths):
        digest.update(str(path.relative_to(PACKAGE)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def machine() -> dict[str, str]:
    """What the last digits of a result depend on: the processor's vector units, and the devices."""
    # By its name: the types of neither numpy 1 nor 2 know it.
    features = import_module("numpy._core._multiarray_umath").__cpu_features__
    units = " ".join(sorted(name for name, has_it in features.items() if has_it))
    facts = {"system": platform.system(), "machine": platform.machine(), "units": units}
    for name in VARIABLES:
        facts[name] = os.environ.get(name, "")
    facts["driver"] = DRIVER.read_text() if DRIVER.is_file() else ""
    return facts
