"""``mend``: the patch with which two nets give the same, tried and proven before it is shown."""

from explorer.cli import exit_codes
from explorer.cli.options import MendOptions, check_seconds
from explorer.cli.output import print_document
from explorer.mending.asked import apply, asked
from explorer.mending.mend import mend as find_patch
from explorer.model.patch import Patch
from explorer.report.diff import do_differ
from explorer.report.patch import mend_lines, unified
from explorer.scenario.declaration import Declaration
from explorer.scenario.find import find
from explorer.scenario.reader import read
from explorer.store.store import Store, to_stderr
from explorer.text.language import _
from explorer.workers.workers import Workers


def mend(options: MendOptions) -> int:
    """Print the patch that mends a net, or write it into the file with --apply."""
    check_seconds("--timeout", options.timeout)
    check_seconds("--request-timeout", options.request_timeout)
    scenario = read(find(options.name), fresh=options.fresh)
    engines, side = asked(scenario, options.left, options.right, options.side, options.device)
    with Workers(options.request_timeout, options.timeout) as workers:
        store = Store(fresh=options.fresh)
        report, patch = find_patch(scenario, engines, workers, store, side, options.device)
    is_mended = patch is not None or not do_differ(report)
    if options.as_json:
        print_document(_document(scenario, patch, is_mended=is_mended))
    else:
        for line in mend_lines(report, patch, engines):
            print(line)
    if patch and options.apply:
        apply(patch)
        for mended in patch.files:
            to_stderr(_("{file} is mended").format(file=mended.file))
    return exit_codes.AS_EXPECTED if is_mended else exit_codes.DIFFERENT


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
