"""Environments as text: what is installed in one, and what is run in it."""

from explorer.model.engines import FRAMEWORK_LABELS, FRAMEWORKS
from explorer.model.environments import Environment, EnvironmentFacts, Origin
from explorer.text.language import _, later, named

ORIGINS: dict[Origin, str] = {
    "here": later("the explorer's own"),
    "variable": later("named by a variable"),
    "project": later("of this project"),
    "user": later("added by you"),
    "given": later("given by its path"),
}


def name_of(environment: Environment) -> str:
    """What an environment is called; one without a name by where it is named."""
    return environment.name or _(ORIGINS[environment.origin])


def installed(facts: EnvironmentFacts) -> str:
    """What is installed in an environment: "Python 3.12.1, PyTorch 2.6.0, numpy 2.1.0"."""
    if facts.error:
        return facts.error
    labels: dict[str, str] = {name: FRAMEWORK_LABELS[name] for name in FRAMEWORKS}
    labels["numpy"] = "numpy"
    versions = facts.versions
    packages = [f"{labels[name]} {versions[name]}" for name in labels if name in versions]
    return ", ".join([f"Python {facts.python}", *packages])


def runs(facts: EnvironmentFacts) -> str:
    """The frameworks that are run in it where no environment is named; "" of none."""
    return named([FRAMEWORK_LABELS[framework] for framework in facts.runs]) if facts.runs else ""


def in_a_line(facts: EnvironmentFacts) -> str:
    """An environment in a sentence."""
    text = _("environment {name}: {installed}")
    return text.format(name=name_of(facts.environment), installed=installed(facts))
