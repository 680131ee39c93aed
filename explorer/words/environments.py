"""Environments as text: what is installed in one, and what is run in it."""

from collections.abc import Iterable

from explorer.model.doctor import LimitText
from explorer.model.engines import FRAMEWORK_LABELS
from explorer.model.environments import Environment, EnvironmentFacts, Origin
from explorer.model.versions import Limit, LimitKind, every_version
from explorer.text.language import _, later, named

ORIGINS: dict[Origin, str] = {
    "here": later("the explorer's own"),
    "variable": later("named by a variable"),
    "project": later("of this project"),
    "user": later("added by you"),
    "given": later("given by its path"),
}


LIMITS: dict[LimitKind, str] = {
    "gradient_in_forward": later(
        "no answer and no graph of a net whose forward calls torch.autograd.grad: Dynamo refuses the"
        " call before PyTorch {since}"
    ),
    "written_leaf": later(
        "no answer and no graph of a net that writes to an input or weight that is differentiated by:"
        " AOTAutograd's export refuses it before PyTorch {since}"
    ),
    "tape_graph": later(
        "answers without a graph: Python does not see the nodes of the tape before MindSpore {since}"
    ),
    "backward_operators": later(
        "the graph has one backward node for each operator of the forward: Python does not see which"
        " operators run in the backward before MindSpore {since}"
    ),
    "noise": later(
        "rounding noise is not measured and results are compared by tolerances only: operators of the"
        " backward cannot be intercepted before MindSpore {since}"
    ),
}
"""What an engine cannot give, and the reason."""


def name_of(environment: Environment) -> str:
    """What an environment is called; one without a name by where it is named."""
    return environment.name or _(ORIGINS[environment.origin])


def installed(facts: EnvironmentFacts) -> str:
    """What is installed in an environment: "Python 3.12.1, PyTorch 2.6.0 (tried), numpy 2.1.0"."""
    if facts.error:
        return facts.error
    packages = [f"Python {facts.python}"]
    for known in every_version(facts.versions):
        label = FRAMEWORK_LABELS[known.framework]
        packages.append(with_mark(f"{label} {known.version}", tried=known.tried))
    if "numpy" in facts.versions:
        packages.append(f"numpy {facts.versions['numpy']}")
    return ", ".join(packages)


def with_mark(version: str, *, tried: bool) -> str:
    """A version, and whether the explorer was tried with it: "PyTorch 2.6.0 (tried)"."""
    text = _("{version} (tried)") if tried else _("{version} (not tried)")
    return text.format(version=version)


def runs(facts: EnvironmentFacts) -> str:
    """The frameworks that are run in it where no environment is named."""
    if not facts.runs:
        return _("none")
    return named([FRAMEWORK_LABELS[framework] for framework in facts.runs])


def in_a_line(facts: EnvironmentFacts) -> str:
    """An environment in a sentence."""
    text = _("environment {name}: {installed}")
    return text.format(name=name_of(facts.environment), installed=installed(facts))


def limit_texts(environment: str, limits: Iterable[Limit]) -> tuple[LimitText, ...]:
    """What engines cannot give in an environment, in the reader's language."""
    texts = []
    for limit in limits:
        since = ".".join(map(str, limit.since))
        texts.append(
            LimitText(environment, limit.engine, _(LIMITS[limit.what]).format(since=since))
        )
    return tuple(texts)


def by_limit(texts: Iterable[LimitText]) -> dict[tuple[str, str], list[str]]:
    """The environments in which an engine has a limit, by the engine and the text."""
    found: dict[tuple[str, str], list[str]] = {}
    for limit in texts:
        found.setdefault((limit.engine, limit.text), []).append(limit.environment)
    return found
