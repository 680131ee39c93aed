"""The table of engines, frameworks by two styles, in any environment, and what each is called."""

import functools
from collections.abc import Iterable
from typing import Literal

import msgspec

Framework = Literal["mindspore", "torch", "jax"]
Style = Literal["tape", "graph"]

PlainKind = Literal[
    "mindspore",
    "mindspore-second",
    "mindspore-plain",
    "mindspore-capture",
    "mindspore-passes",
    "torch",
    "jax",
    "scenario",
    "sweep",
]
"""What a worker process is for.

MindSpore reads from its environment, at its start, whether a tape waits for each operator
("mindspore"), whether it writes its graphs down ("mindspore-capture") or every compiler pass over
them ("mindspore-passes"). It gets a second process to compile in, since each case costs it a
compilation. Time and memory are measured in one that is started as a reader starts it
("mindspore-plain"). In "scenario" the text of a user's file is run, before any framework is asked. A
"sweep" runs a whole job, in workers of its own.
"""

WorkerKind = str
"""A kind of worker process: a PlainKind, and behind an @ the environment that it runs in.

"torch@torch26" is PyTorch's worker in the environment "torch26"; without an environment a framework's
worker runs where that framework is found first.
"""

AT = "@"
"""What stands between a name and that of an environment."""

FRAMEWORKS: tuple[Framework, ...] = ("mindspore", "torch", "jax")

NEEDED: tuple[Framework, ...] = ("mindspore", "torch")
"""The frameworks that every scenario is compared in; others join where they are installed."""

GIVEN: frozenset[Framework] = frozenset({"jax"})
"""The frameworks whose nets are functions of the parameters: they hold none, and take those of another."""

REFEREES: tuple[Framework, ...] = ("torch", "jax")
"""The frameworks whose nets central differences can take, the first choice first."""


LEADERS: tuple[Framework, ...] = ("torch", "mindspore", *sorted(GIVEN))
"""The frameworks by whose net parameters are named and ordered, the first that takes part."""

WATCHED: tuple[Framework, ...] = ("mindspore", "torch")
"""The frameworks of which the steps of a scenario's training are watched as they run, update included.

Of others a step's graph is that of its gradient, without the update.
"""


def plain(name: str) -> str:
    """An engine or a kind of worker without its environment: "torch-tape" of "torch-tape@torch26"."""
    return name.partition(AT)[0]


def environment_of(name: str) -> str:
    """The environment of an engine or a kind of worker: "torch26" of "torch-tape@torch26"; else ""."""
    return name.partition(AT)[2]


def placed(name: str, environment: str) -> str:
    """An engine or a kind of worker in an environment; as it is where that is ""."""
    return f"{name}{AT}{environment}" if environment else name


def framework_of(kind: WorkerKind) -> Framework | None:
    """The framework that a kind of worker imports; None where it imports none."""
    for framework in FRAMEWORKS:
        if plain(kind).partition("-")[0] == framework:
            return framework
    return None


FRAMEWORK_LABELS: dict[Framework, str] = {
    "mindspore": "MindSpore",
    "torch": "PyTorch",
    "jax": "JAX",
}
"""The frameworks' names as they write them themselves."""


PACKAGES: dict[Framework, tuple[str, ...]] = {
    "mindspore": ("mindspore",),
    "torch": ("torch",),
    "jax": ("jax", "jaxlib", "flax"),
}
"""The packages in which a framework's tensors, modules and nets are defined."""


class Engine(msgspec.Struct, frozen=True, kw_only=True):
    """One way to get a gradient: a framework in one of its styles, in one environment.

    ``module`` answers, captures and describes, and is imported by workers only. The engine's cases
    are shared among the workers ``answers_in``; its graphs are captured in ``captures_in``. ``how``
    names the call that it stands for. ``environment`` is "" where the framework is found first.
    """

    framework: Framework
    style: Style
    answers_in: tuple[WorkerKind, ...]
    captures_in: WorkerKind
    how: str
    environment: str = ""

    @property
    def name(self) -> str:
        """The name on the command line and in every record: "mindspore-graph", "torch-tape@torch26"."""
        return placed(f"{self.framework}-{self.style}", self.environment)

    @property
    def module(self) -> str:
        """The module that workers import for it."""
        return f"explorer.engines.{self.framework}.{self.style}"

    @property
    def label(self) -> str:
        """The engine's name in tables: "MindSpore, graph", "PyTorch, tape, torch26"."""
        parts = (FRAMEWORK_LABELS[self.framework], self.style, self.environment)
        return ", ".join(filter(None, parts))


# The order of every report: neighbours share a framework or a style.
_TABLE = (
    Engine(
        framework="mindspore",
        style="graph",
        answers_in=("mindspore", "mindspore-second"),
        captures_in="mindspore-capture",
        how="ms.grad, GRAPH_MODE",
    ),
    Engine(
        framework="mindspore",
        style="tape",
        answers_in=("mindspore",),
        captures_in="mindspore",
        how="ms.grad, PYNATIVE_MODE",
    ),
    Engine(
        framework="torch",
        style="tape",
        answers_in=("torch",),
        captures_in="torch",
        how="backward and autograd.grad",
    ),
    Engine(
        framework="torch",
        style="graph",
        answers_in=("torch",),
        captures_in="torch",
        how="AOTAutograd's joint graph",
    ),
    Engine(
        framework="jax",
        style="tape",
        answers_in=("jax",),
        captures_in="jax",
        how="jax.grad and jax.vjp",
    ),
    Engine(
        framework="jax",
        style="graph",
        answers_in=("jax",),
        captures_in="jax",
        how="jax.jit of jax.grad",
    ),
)

ENGINES: dict[str, Engine] = {engine.name: engine for engine in _TABLE}

STANDARD: tuple[str, ...] = tuple(
    name for name, engine in ENGINES.items() if engine.framework in NEEDED
)
"""The engines that every scenario is put to."""


@functools.cache
def engine_named(name: str) -> Engine:
    """The engine of a name, in the environment that it names; KeyError where there is none."""
    engine, environment = ENGINES[plain(name)], environment_of(name)
    return msgspec.structs.replace(
        engine,
        environment=environment,
        answers_in=tuple(placed(kind, environment) for kind in engine.answers_in),
        captures_in=placed(engine.captures_in, environment),
    )


def in_order(names: Iterable[str]) -> list[str]:
    """Engines in the order of every report, those of one framework and style by environment."""
    ranks = {name: rank for rank, name in enumerate(ENGINES)}
    return sorted(names, key=lambda name: (ranks[plain(name)], environment_of(name)))


def beside(name: str, style: Style) -> str:
    """The engine of the same framework and environment in a style."""
    engine = engine_named(name)
    return placed(f"{engine.framework}-{style}", engine.environment)
