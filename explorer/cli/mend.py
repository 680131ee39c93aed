"""``mend``: the patch with which two nets give the same, tried and proven before it is shown."""

from collections.abc import Iterator
from pathlib import Path

from explorer.cli import exit_codes
from explorer.cli.options import MendOptions, check_seconds
from explorer.cli.output import print_document
from explorer.exploration.options import RunOptions, engines_of
from explorer.mending.mend import mend as find_patch
from explorer.model.engines import engine_named
from explorer.model.errors import UsageError
from explorer.model.graph import SideName
from explorer.model.patch import Patch
from explorer.model.report import Report
from explorer.report.diff import do_differ
from explorer.report.patch import patch_lines, unified
from explorer.scenario.declaration import Declaration
from explorer.scenario.find import find
from explorer.scenario.reader import read
from explorer.store.store import Store, to_stderr
from explorer.text.choices import choose
from explorer.text.language import _
from explorer.whole_files import put_whole
from explorer.words.headlines import headline
from explorer.workers.workers import Workers


def mend(options: MendOptions) -> int:
    """Print the patch that mends a net, or write it into the file with --apply."""
    check_seconds("--timeout", options.timeout)
    check_seconds("--request-timeout", options.request_timeout)
    scenario = read(find(options.name), fresh=options.fresh)
    engines = _engines(scenario, options)
    RunOptions(engines=engines, device=options.device).check()
    with Workers(options.request_timeout, options.timeout) as workers:
        store = Store(fresh=options.fresh)
        side = _side(engines, options.side)
        report, patch = find_patch(scenario, engines, workers, store, side, options.device)
    is_mended = patch is not None or not do_differ(report)
    if options.as_json:
        print_document(_document(scenario, patch, is_mended=is_mended))
    else:
        for line in patch_lines(patch, engines) if patch else _without_patch(report):
            print(line)
    if patch and options.apply:
        apply(patch)
    return exit_codes.AS_EXPECTED if is_mended else exit_codes.DIFFERENT


def _without_patch(report: Report) -> Iterator[str]:
    """That nothing is to be mended, or that no patch was found."""
    line = headline(report.cases[0])
    if not do_differ(report):
        yield _("nothing to mend: {line}").format(line=line)
        return
    yield line
    yield _("no patch was found that makes both nets equal; `diff` says where and why they differ")


def _engines(scenario: Declaration, options: MendOptions) -> tuple[str, str]:
    """The two engines that are named, or the tapes of the first two frameworks with a net."""
    if options.left and options.right:
        if options.left == options.right:
            text = _("{engine} is given twice; give two different engines")
            raise UsageError(text.format(engine=repr(options.left)))
        return options.left, options.right
    if options.left:
        text = _("{left} is the only engine given; give a second one to compare it with")
        raise UsageError(text.format(left=repr(options.left)))
    tapes = [it for it in engines_of(scenario) if engine_named(it).style == "tape"]
    tapes = sorted((it for it in tapes if scenario.defines(engine_named(it).framework)), key=_order)
    if len(tapes) < 2:
        text = _("scenario {name} defines one net; a patch needs two to make them equal")
        raise UsageError(text.format(name=scenario.name))
    return tapes[0], tapes[1]


def _order(engine: str) -> int:
    return ("torch", "mindspore", "jax").index(engine_named(engine).framework)


def _side(engines: tuple[str, str], given: str) -> SideName | None:
    """The side that --in names, by a framework or as left or right; None where it names none."""
    if not given:
        return None
    frameworks = [engine_named(it).framework for it in engines]
    choose("side", given, ("left", "right", *frameworks))
    if given in ("left", "right"):
        return "left" if given == "left" else "right"
    return "left" if frameworks[0] == given else "right"


def _document(scenario: Declaration, patch: Patch | None, *, is_mended: bool) -> dict[str, object]:
    """What was found as plain data; "patch" is null where there is none, or nothing to mend."""
    proof = patch.proof if patch else None
    return {
        "file": str(scenario.path),
        "is_mended": is_mended,
        "patch": "".join(f"{line}\n" for line in unified(patch)) if patch else None,
        "tried": patch.tried if patch else None,
        "proof": proof
        and {"engines": proof.engines, "cases": proof.cases, "matching": proof.matching},
    }


def apply(patch: Patch) -> None:
    """Write the patched text into the file; UsageError where it was changed meanwhile."""
    path = Path(patch.file)
    if path.read_bytes() != patch.before.encode():
        text = _("{file} was changed meanwhile, and is left as it is; run it again")
        raise UsageError(text.format(file=path))
    try:
        put_whole(path, patch.after.encode())
    except OSError as error:
        text = _("{file} cannot be written: {reason}")
        raise UsageError(text.format(file=path, reason=error.strerror)) from error
    to_stderr(_("{file} is mended").format(file=path))
