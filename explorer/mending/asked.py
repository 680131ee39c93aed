"""What is asked of ``mend``: two engines, and the side that is mended; and a patch written into its files."""

from pathlib import Path
from typing import NamedTuple

from explorer.exploration.options import RunOptions, engines_of
from explorer.model.engines import engine_named
from explorer.model.errors import UsageError
from explorer.model.graph import SideName
from explorer.model.patch import Patch
from explorer.scenario.declaration import Declaration
from explorer.text.choices import choose
from explorer.text.language import _
from explorer.whole_files import put_whole


class Asked(NamedTuple):
    """Two engines, and the side that is named; None where none is."""

    engines: tuple[str, str]
    side: SideName | None


def asked(scenario: Declaration, left: str, right: str, side: str, device: str) -> Asked:
    """What is asked of a scenario's nets; UsageError where that cannot be."""
    left, right = _engines(scenario, left, right)
    RunOptions(engines=(left, right), device=device).check()
    engines = scenario.at_home(left), scenario.at_home(right)
    return Asked(engines, _side(engines, side))


def _engines(scenario: Declaration, left: str, right: str) -> tuple[str, str]:
    """The two engines that are named, or the tapes of the first two frameworks with a net."""
    if left and right:
        if left == right:
            text = _("{engine} is given twice; give two different engines")
            raise UsageError(text.format(engine=repr(left)))
        return left, right
    if left or right:
        text = _("{left} is the only engine given; give a second one to compare it with")
        raise UsageError(text.format(left=repr(left or right)))
    tapes = [it for it in engines_of(scenario) if engine_named(it).style == "tape"]
    tapes = sorted((it for it in tapes if scenario.defines(engine_named(it).framework)), key=_order)
    if len(tapes) < 2:
        text = _("scenario {name} defines one net; a patch needs two to make them equal")
        raise UsageError(text.format(name=scenario.name))
    return tapes[0], tapes[1]


def _order(engine: str) -> int:
    return ("torch", "mindspore", "jax").index(engine_named(engine).framework)


def _side(engines: tuple[str, str], given: str) -> SideName | None:
    """The side that is named by a framework or as left or right; None where none is named."""
    if not given:
        return None
    frameworks = [engine_named(it).framework for it in engines]
    choose("side", given, ("left", "right", *frameworks))
    if given in ("left", "right"):
        return "left" if given == "left" else "right"
    return "left" if frameworks[0] == given else "right"


def apply(patch: Patch) -> None:
    """Write the patched texts into the files; UsageError where one was changed meanwhile."""
    for mended in patch.files:
        if Path(mended.file).read_bytes() != mended.before.encode():
            text = _("{file} was changed meanwhile, and is left as it is; run it again")
            raise UsageError(text.format(file=mended.file))
    for mended in patch.files:
        _write(Path(mended.file), mended.after)


def _write(file: Path, text: str) -> None:
    try:
        put_whole(file, text.encode())
    except OSError as error:
        said = _("{file} cannot be written: {reason}")
        raise UsageError(said.format(file=file, reason=error.strerror)) from error
