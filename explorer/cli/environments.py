"""The command ``env``: the environments that frameworks are run in."""

from collections.abc import Callable

from explorer.blocks.terminal import show
from explorer.cli import exit_codes
from explorer.cli.options import EnvOptions
from explorer.cli.output import print_document
from explorer.cli.terminal import console, progress
from explorer.environments import known
from explorer.exploration.installed import checked
from explorer.model.errors import UsageError
from explorer.report.environments import (
    check_blocks,
    checks_document,
    environments_blocks,
    environments_document,
)
from explorer.text.choices import choose
from explorer.text.clean import clean
from explorer.text.language import _, later
from explorer.words.environments import in_a_line
from explorer.workers.workers import Workers


def manage(options: EnvOptions) -> int:
    """List, add, remove or check environments."""
    action = choose(later("action"), options.action, ACTIONS)
    if options.python is not None and action != "add":
        text = _("`env {action}` takes no Python, got {python}; only `env add NAME PYTHON` does")
        raise UsageError(text.format(action=action, python=repr(options.python)))
    return ACTIONS[action](options)


def _list(options: EnvOptions) -> int:
    if options.name is not None:
        text = _("`env list` takes no name, got {name}; `env check {name}` checks one environment")
        raise UsageError(text.format(name=options.name))
    environments = known.every()
    if options.as_json:
        print_document(environments_document(environments))
    else:
        show(environments_blocks(environments), console())
    return exit_codes.AS_EXPECTED


def _add(options: EnvOptions) -> int:
    if options.name is None or options.python is None:
        raise UsageError(_("`env add` needs a name and a Python: `env add torch26 PYTHON`"))
    facts = known.add(options.name, options.python)
    if options.as_json:
        print_document(environments_document([facts]))
    else:
        print(clean(in_a_line(facts)))
    return exit_codes.AS_EXPECTED


def _remove(options: EnvOptions) -> int:
    if options.name is None:
        raise UsageError(_("`env remove` needs the name of an environment; `env list` has them"))
    known.remove(options.name)
    if not options.as_json:
        text = _("environment {name} is forgotten; nothing of it was touched")
        print(text.format(name=options.name))
    return exit_codes.AS_EXPECTED


def _check(options: EnvOptions) -> int:
    wanted = known.every()
    if options.name is not None:
        wanted = [known.facts(known.named(options.name))]
    with Workers() as workers, progress() as step:
        checks = checked(wanted, workers, step)
    if options.as_json:
        print_document(checks_document(checks))
    else:
        show(check_blocks(checks), console())
    are_fine = all(check.is_fine for check in checks)
    return exit_codes.AS_EXPECTED if are_fine else exit_codes.LOST


ACTIONS: dict[str, Callable[[EnvOptions], int]] = {
    "list": _list,
    "add": _add,
    "remove": _remove,
    "check": _check,
}
