"""The doctor's checks as text: what was found, and how to mend it."""

from itertools import chain

from explorer.environments.interpreters import own
from explorer.exploration.installed import PYTHONS
from explorer.model.doctor import Check, CheckFacts, LimitText
from explorer.model.engines import FRAMEWORKS
from explorer.text.failures import message
from explorer.text.language import _
from explorer.text.messages import one_line
from explorer.text.program_name import program
from explorer.text.remedies import framework_remedy
from explorer.text.remedies import remedy as install
from explorer.words.environments import installed, limit_texts, name_of, with_mark


def check(facts: CheckFacts) -> Check:
    """A check in the reader's language."""
    return Check(
        name=_name(facts),
        fine=facts.fine,
        found=_found(facts),
        remedy="" if facts.fine else _remedy(facts),
        required=facts.required,
        tried=_tried(facts),
        limits=_limits(facts),
    )


def _tried(facts: CheckFacts) -> bool | None:
    return all(known.tried for known in facts.frameworks) if facts.frameworks else None


def _limits(facts: CheckFacts) -> tuple[LimitText, ...]:
    """What is limited in an environment, which of a framework's own check is the explorer's."""
    where = facts.name if facts.kind == "environment" else name_of(own())
    return limit_texts(where, chain.from_iterable(known.limits for known in facts.frameworks))


def _name(facts: CheckFacts) -> str:
    if facts.kind == "environment":
        return _("environment {name}").format(name=facts.name)
    return facts.name


def _found(facts: CheckFacts) -> str:
    if facts.kind == "framework":
        devices = ", ".join(facts.devices)
        version = with_mark(facts.version, tried=bool(_tried(facts)))
        return _("{version} on {devices}").format(version=version, devices=devices)
    if facts.kind == "too_new_numpy":
        text = _("{version}; MindSpore needs numpy 1 and crashes with a newer one")
        return text.format(version=facts.version)
    if facts.kind == "missing":
        return _("not installed")
    if facts.environment:
        return installed(facts.environment)
    if facts.error:
        return one_line(message(facts.error))
    if facts.kind == "layout":
        return facts.text or _("Graphviz works")
    if facts.kind == "browser":
        if facts.fine:
            return _("present (needed only to test the app's pages)")
        return _("not found (needed only to test the app's pages)")
    return facts.version


def _remedy(facts: CheckFacts) -> str:
    if facts.kind == "python":
        first, last = (".".join(map(str, version)) for version in PYTHONS)
        return _("use Python {first} to {last}").format(first=first, last=last)
    if facts.kind == "environment":
        return f"{program()} env remove {facts.name}"
    if facts.kind == "browser":
        return "apt-get install chromium"
    if facts.kind == "missing" and facts.name in FRAMEWORKS:
        return framework_remedy(facts.name)
    return install("pygraphviz" if facts.kind == "layout" else facts.name)
