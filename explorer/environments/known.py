"""The environments that are known by name, and which of them a framework is run in."""

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from explorer.environments.interpreters import interpreter, own, python_at, versions
from explorer.folders import SETTINGS, settings
from explorer.model.engines import (
    ENGINES,
    FRAMEWORK_LABELS,
    FRAMEWORKS,
    NEEDED,
    Framework,
    WorkerKind,
    environment_of,
    framework_of,
    placed,
)
from explorer.model.environments import Environment, EnvironmentFacts, Homes
from explorer.model.errors import UsageError
from explorer.text.choices import choose
from explorer.text.language import _, later
from explorer.text.reasons import reason
from explorer.whole_files import put_whole

FILE = "environments.json"

VARIABLES: dict[Framework, str] = {
    "mindspore": "EXPLORER_MINDSPORE_PYTHON",
    "torch": "EXPLORER_TORCH_PYTHON",
    "jax": "EXPLORER_JAX_PYTHON",
}
"""The variables that say in which Python a framework is run."""

PROJECT = "EXPLORER_PROJECT_FOLDER"
"""The variable by which workers that run elsewhere find the project of whoever started them."""

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def known() -> dict[str, Environment]:
    """All environments by name: a project's go before the user's own."""
    found = {}
    for name, python in _of_user().items():
        found[name] = Environment(name, python, "user")
    for name, python in _of_project().items():
        found[name] = Environment(name, python, "project")
    return found


def named(name: str) -> Environment:
    """The environment of a name, or of the path of a Python; "" is the explorer's own.

    Raises UsageError where there is none.
    """
    if not name:
        return own()
    if os.sep in name:
        return Environment(name, python_at(name), "given")
    environments = known()
    if not environments:
        text = _(
            "unknown environment {name!r}; none is known yet: `explorer env add {name} PYTHON`"
        )
        raise UsageError(text, name=name)
    return environments[choose(later("environment"), name, environments)]


def home_of(framework: Framework) -> Environment:
    """The environment that a framework is run in where none is named.

    It is the one that a variable names, else the explorer's own if the framework is installed there,
    else the first known one that has it.
    """
    given = os.environ.get(VARIABLES[framework], "")
    if given:
        return _by_variable(VARIABLES[framework], given)
    here = own()
    if has(here, framework):
        return here
    for environment in known().values():
        if _is_there(environment, framework):
            return environment
    return here


def _by_variable(variable: str, given: str) -> Environment:
    try:
        return Environment("", python_at(given), "variable")
    except UsageError as error:
        raise UsageError("{variable}: {error}", variable=variable, error=error) from error


def environment_for(kind: WorkerKind) -> Environment:
    """The environment in which a kind of worker runs; UsageError where there is none such."""
    name, framework = environment_of(kind), framework_of(kind)
    if name:
        return named(name)
    return home_of(framework) if framework else own()


def has(environment: Environment, framework: Framework) -> bool:
    """Whether a framework is installed in an environment."""
    return bool(versions(environment, (framework,)))


def _is_there(environment: Environment, framework: Framework) -> bool:
    """The same; False of one whose Python is gone."""
    try:
        return has(environment, framework)
    except UsageError:
        return False


def is_found(framework: Framework) -> bool:
    """Whether a framework is installed where it is run; a variable that names no Python is as if it were."""
    try:
        return has(home_of(framework), framework)
    except UsageError:  # whoever runs the framework is told what is the matter
        return True


def in_use() -> tuple[Framework, ...]:
    """The frameworks that every installation needs, and others where they are found."""
    return tuple(name for name in FRAMEWORKS if name in NEEDED or is_found(name))


def homes_of(names: Iterable[str]) -> Homes:
    """The environment of each framework that some environments have; UsageError for two with one."""
    homes: dict[Framework, str] = {}
    for name in names:
        for framework in _frameworks_in(name):
            if framework in homes:
                text = _("{one} and {other} both have {framework}; name one environment for each")
                label = FRAMEWORK_LABELS[framework]
                raise UsageError(
                    text, one=repr(homes[framework]), other=repr(name), framework=label
                )
            homes[framework] = name
    return homes


def _frameworks_in(name: str) -> list[Framework]:
    """The frameworks that are installed in an environment; UsageError where there is none."""
    inside = versions(named(name))
    found = [framework for framework in FRAMEWORKS if framework in inside]
    if not found:
        text = _(
            "environment {name} has none of MindSpore, PyTorch and JAX; `env list` says which has"
        )
        raise UsageError(text, name=repr(name))
    return found


def engines_in(names: Iterable[str]) -> list[str]:
    """The engines of the frameworks that some environments have; UsageError where there is none."""
    found = []
    for name in names:
        there = _frameworks_in(name)
        found += [placed(key, name) for key, engine in ENGINES.items() if engine.framework in there]
    return found


def every() -> list[EnvironmentFacts]:
    """The explorer's own environment, those that variables name, and all known ones."""
    homes: dict[str, list[Framework]] = {}
    environments = {own().python: own()}
    for environment in known().values():
        environments.setdefault(environment.python, environment)
    for framework in in_use():
        try:
            home = home_of(framework)
        except UsageError:  # facts() says what is the matter with it
            home = Environment("", os.environ[VARIABLES[framework]], "variable")
        environments.setdefault(home.python, home)
        homes.setdefault(home.python, []).append(framework)
    return [
        facts(environment, tuple(homes.get(environment.python, ())))
        for environment in environments.values()
    ]


def facts(environment: Environment, runs: tuple[Framework, ...] = ()) -> EnvironmentFacts:
    """What is installed in an environment, or why it cannot be used."""
    try:
        python, inside = interpreter(environment).version, versions(environment)
        there = tuple(name for name in runs if name in inside)
        return EnvironmentFacts(environment=environment, python=python, versions=inside, runs=there)
    except UsageError as error:
        return EnvironmentFacts(environment=environment, runs=runs, error=str(error))


# The user's own


def add(name: str, place: str) -> EnvironmentFacts:
    """Keep an environment under a name; UsageError for a name or a place that cannot be one."""
    if not NAME.fullmatch(name):
        text = _("{name!r} cannot name an environment; use letters, digits, '.', '-' and '_'")
        raise UsageError(text, name=name)
    found = Environment(name, python_at(place), "user")
    interpreter(found)
    _keep({**_of_user(), name: found.python})
    return facts(found)


def remove(name: str) -> None:
    """Forget an environment; nothing of it is touched. UsageError where the user has added none such."""
    environments = _of_user()
    if name in _of_project() and name not in environments:
        text = _("environment {name!r} is named in {file}; remove it there")
        raise UsageError(text, name=name, file=repr(str(_project_file())))
    choose(later("environment"), name, environments)
    _keep({key: python for key, python in environments.items() if key != name})


def _of_user() -> dict[str, str]:
    file = settings() / FILE
    try:
        return msgspec.json.decode(file.read_bytes(), type=dict[str, str])
    except FileNotFoundError:
        return {}
    except (OSError, msgspec.MsgspecError) as error:
        why = reason(error) if isinstance(error, OSError) else str(error)
        text = _("the list of environments {file!r} cannot be read: {reason}; mend or delete it")
        raise UsageError(text, file=str(file), reason=why) from error


def _keep(environments: Mapping[str, str]) -> None:
    file = settings() / FILE
    content = msgspec.json.format(msgspec.json.encode(environments)) + b"\n"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        put_whole(file, content)
    except OSError as error:
        text = _(
            "the list of environments {file!r} cannot be written: {reason}; set {variable} to"
            " another folder"
        )
        raise UsageError(text, file=str(file), reason=reason(error), variable=SETTINGS) from error


# A project's


def _of_project() -> dict[str, str]:
    """The environments of the nearest pyproject.toml that names any; paths are relative to it."""
    file = _project_file()
    if file is None:
        return {}
    found = {}
    for name, place in _table(file).items():
        if not isinstance(place, str) or not NAME.fullmatch(name):
            text = _(
                "{file}: [tool.explorer.environments] has {name!r} = {place!r}; write"
                ' name = "path of its Python"'
            )
            raise UsageError(text, file=str(file), name=name, place=place)
        path = Path(place).expanduser()
        found[name] = str(path if path.is_absolute() else file.parent / path)
    return found


def _project_file() -> Path | None:
    here = Path(os.environ.get(PROJECT) or Path.cwd())
    return next((file for file in _project_files(here) if _table(file)), None)


def _project_files(folder: Path) -> Iterator[Path]:
    for parent in (folder, *folder.parents):
        file = parent / "pyproject.toml"
        if file.is_file():
            yield file


def _table(file: Path) -> dict[str, Any]:
    """What a pyproject.toml says of environments; {} of one that cannot be read."""
    # Here: a worker, which may have no such package, reads none.
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
        table = content.get("tool", {}).get("explorer", {}).get("environments", {})
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, AttributeError):
        return {}  # it is another program's to complain about
    return table if isinstance(table, dict) else {}
