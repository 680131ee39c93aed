"""Reads what a scenario's file declares in a separate process, so that this one never runs its text.

Whatever a text does where it is run — it exits, crashes, loops, prints, changes the working directory —
it does there.
"""

from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import numpy as np

from explorer.model.arrays import AnyArray, Array, pack, unpack
from explorer.model.errors import ScenarioError, UnreadScenarioError, UsageError
from explorer.scenario.declaration import Scenario
from explorer.scenario.find import SHIPPED
from explorer.scenario.imported_files import files_read
from explorer.scenario.load import NETS, load
from explorer.store.keys import key_of
from explorer.store.store import Store
from explorer.workers.protocol import Lost
from explorer.workers.workers import Workers

SECONDS = 60.0
"""Seconds that a file may take to be read, with its inputs() and parameters()."""


class File(msgspec.Struct, frozen=True):
    """The path of a scenario's file."""

    path: str


class Reading(msgspec.Struct, frozen=True):
    """What came of reading a file: the MessagePack of a Scenario."""

    scenario: bytes


class Functions(msgspec.Struct, frozen=True):
    """What a file's functions are, and what those give that need no framework.

    ``inputs`` are places in ``arrays``, by name: an array that stands under two names is one.
    """

    nets: tuple[str, ...]
    arrays: tuple[Array, ...]
    inputs: dict[str, int]
    parameters: dict[str, Array] | None


def read(path: Path | str, *, fresh: bool = False, seconds: float = SECONDS) -> Scenario:
    """The scenario in a file, as load() gives it, but its nets cannot be made of it.

    The text of a shipped one is trusted, and run here. What was read before is taken from the store,
    unless ``fresh``. Raises ScenarioError as load() does, and UnreadScenarioError where the process that
    ran the text died, took longer than ``seconds``, or used too much memory.
    """
    path = Path(path).resolve()
    if path.parent in SHIPPED:
        return load(path)
    try:
        key = key_of("reading", path.stem, files_read(path))
    except OSError:
        return load(path)  # it says that the file cannot be read
    store = Store(fresh=fresh, tell=_nobody)
    known = store.get(key, bytes)
    if known is None:
        known = _in_own_process(path, seconds)
        store.put(key, known)
    return _scenario(path, known)


def _nobody(_: str) -> None:
    """Ignores the message: whoever stores the results reports that nothing can be stored."""


def _in_own_process(path: Path, seconds: float) -> bytes:
    with Workers(job_seconds=seconds) as workers:
        target = f"{__name__}:in_this_process"
        try:
            reading = workers.call("scenario", target, File(str(path)), Reading)
        except UsageError as error:
            raise ScenarioError(str(error)) from error
    if isinstance(reading, Reading):
        return reading.scenario
    raise UnreadScenarioError(
        f"{path}: the scenario file cannot be read: {_loss(reading, seconds)}"
    )


def _loss(lost: Lost, seconds: float) -> str:
    if lost.outcome == "crashed":
        return lost.detail
    return f"importing it and calling inputs() and parameters() took more than {seconds:g} s"


def in_this_process(file: File) -> Reading:
    """Run a scenario file and return what it declares; for a worker. Raises what load() raises."""
    return Reading(msgspec.msgpack.encode(load(file.path), enc_hook=_record))


def _record(value: Any) -> Any:
    """A part of a Scenario that is not a record, as one."""
    if isinstance(value, ModuleType):
        return _functions(value)
    if isinstance(value, np.generic):
        return value.item()
    return str(value)  # a path; nothing else that has a meaning


def _functions(module: ModuleType) -> Functions:
    arrays: dict[int, AnyArray] = {}
    names: dict[str, int] = {}
    for name, array in module.inputs().items():
        arrays.setdefault(id(array), array)
        names[name] = list(arrays).index(id(array))
    parameters = None
    if getattr(module, "parameters", None) is not None:
        parameters = {name: pack(value) for name, value in module.parameters().items()}
    return Functions(
        nets=tuple(sorted(name for name in NETS if hasattr(module, name))),
        arrays=tuple(pack(array) for array in arrays.values()),
        inputs=names,
        parameters=parameters,
    )


def _scenario(path: Path, content: bytes) -> Scenario:
    try:
        scenario = msgspec.msgpack.decode(content, type=Scenario, dec_hook=_part)
    except msgspec.MsgspecError as error:
        raise ScenarioError(
            f"{path}: a name in the scenario file has a value of the wrong type: {error}"
        ) from error
    return replace(
        scenario,
        path=path,  # the same files may have been read elsewhere
        expected=tuple(
            replace(entry, when=_with_tuples(entry.when)) for entry in scenario.expected
        ),
        tolerances=tuple(
            replace(entry, when=_with_tuples(entry.when)) for entry in scenario.tolerances
        ),
        cases=_cases(scenario.cases),
    )


def _part(kind: type, value: Any) -> Any:
    """The part of a Scenario that is not a record."""
    if kind is ModuleType:
        return _stand_in(msgspec.convert(value, Functions))
    return kind(value)  # a path


def _stand_in(functions: Functions) -> ModuleType:
    """A module whose functions give what the file's have given; its nets are made by workers alone."""
    module = ModuleType("explorer_scenario_read")
    arrays = [unpack(array) for array in functions.arrays]
    inputs = {name: arrays[place] for name, place in functions.inputs.items()}
    module.inputs = lambda: inputs  # type: ignore[attr-defined]
    if functions.parameters is not None:
        parameters = {name: unpack(value) for name, value in functions.parameters.items()}
        module.parameters = lambda: parameters  # type: ignore[attr-defined]
    for name in functions.nets:
        setattr(module, name, _made_by_workers)
    return module


def _made_by_workers() -> Any:
    raise RuntimeError(
        "nets can be created only in a worker, where load() has run the scenario file"
    )


def _cases(
    entries: tuple[str | dict[str, Any], ...] | None,
) -> tuple[str | dict[str, Any], ...] | None:
    if entries is None:
        return None
    return tuple(entry if isinstance(entry, str) else _with_tuples(entry) for entry in entries)


def _with_tuples(when: dict[str, Any]) -> dict[str, Any]:
    """Attributes of cases as these have them: MessagePack makes lists of tuples."""
    return {
        name: tuple(value) if isinstance(value, list) else value for name, value in when.items()
    }
