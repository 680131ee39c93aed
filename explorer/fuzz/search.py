"""The search: random nets are run, reduced to what is wrong, and classified."""

import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from random import Random

import msgspec

from explorer.exploration.explore import explore
from explorer.fuzz.program import Program, Step, drawn, drawn_values, pruned, scenario_text
from explorer.fuzz.sightings import known_reasons, seen
from explorer.model.cases import GradCase
from explorer.model.engines import FRAMEWORKS, REFEREES, STANDARD, Framework, engine_named
from explorer.model.errors import ScenarioError, WorkerFaultError
from explorer.model.fuzz import FindingClass, Sighting
from explorer.scenario.load import load
from explorer.text.language import ENGLISH, said_in
from explorer.workers.workers import Workers

OURS = ("oracle", "graph", "fault", "lost")
"""Kinds of sightings for which the explorer may be wrong."""

QUIET = ("agrees", "refused")
"""Kinds of sightings that are no findings."""

NEIGHBOURS = 3
"""The number of nearby inputs on which a net is run again."""

LIFE = 150
"""The number of nets that the same workers run: frameworks keep something of each."""

SECONDS = 120.0
"""The limit of one request to a worker."""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """A net that shows something, reduced; ``number`` is that of the whole net."""

    number: int
    found: FindingClass
    sighting: Sighting
    program: Program
    reasons: tuple[str, ...] = ()
    operators: tuple[str, ...]


class NetResult(msgspec.Struct, frozen=True):
    """What one random net shows, and the finding if it shows one."""

    number: int
    sighting: Sighting
    operators: tuple[str, ...]
    finding: Finding | None = None


def frameworks_of(engines: Iterable[str]) -> tuple[Framework, ...]:
    """The frameworks that have a net: those of the engines, and one whose net the oracle can run."""
    asked = {engine_named(name).framework for name in engines}
    if asked.isdisjoint(REFEREES):
        asked.add(REFEREES[0])
    return tuple(framework for framework in FRAMEWORKS if framework in asked)


def search(
    numbers: range, seed: int, engines: tuple[str, ...] = STANDARD, corners: bool = False
) -> Iterator[NetResult]:
    """Run the nets with these numbers in turn; each is drawn from ``seed`` and its number.

    A net is made of operators that the frameworks of all ``engines`` have. With ``corners``, each has
    an input that is nan, infinite, tied, zero or empty.
    """
    with (
        tempfile.TemporaryDirectory(prefix="explorer-fuzz-") as folder,
        Workers(SECONDS) as workers,
    ):
        runner = NetRunner(workers, Path(folder), engines)
        for count, number in enumerate(numbers, 1):
            program = drawn(Random(f"{seed}/{number}"), runner.frameworks, corners)
            sighting = runner.run(program)
            finding = None
            if sighting.kind not in QUIET:
                finding = _finding(number, program, sighting, runner)
            yield NetResult(number, sighting, program.operators, finding)
            if count % LIFE == 0:
                workers.close()  # the next request starts fresh ones


class NetRunner:
    """Runs nets on engines, in workers; ``frameworks`` are those that have a net."""

    def __init__(self, workers: Workers, folder: Path, engines: tuple[str, ...] = STANDARD) -> None:
        self.frameworks = frameworks_of(engines)
        self._engines = engines
        self._workers = workers
        self._folder = folder
        self._count = 0

    @said_in(ENGLISH)  # errors are recorded in English
    def run(self, program: Program, graphs: bool = True) -> Sighting:
        """What a net shows; without ``graphs``, what its gradients alone show.

        A gradient of a gradient is run without graphs: they are large, and take several times as long.
        """
        self._count += 1
        # A name of its own: a module that was compiled before is not compiled again.
        file = self._folder / f"net_{self._count}.py"
        text = scenario_text(program, "A random net", "", self.frameworks)
        file.write_text(text, encoding="utf-8")
        label = GradCase("grad", 0, order=2).label if program.order == 2 else None
        known = set(sys.modules)
        try:
            report = explore(
                load(file),
                self._workers,
                engines=self._engines,
                graphs=graphs and program.order == 1,
                order=program.order,
                graph_case=label,
                selection="main",
            )
        except ScenarioError as error:
            return Sighting("refused", errors=(str(error),))
        except WorkerFaultError as error:
            return Sighting("fault", errors=(str(error).strip().rpartition("\n")[2],))
        finally:
            for name in set(sys.modules) - known:
                del sys.modules[name]
            file.unlink()
        return seen(report)


def _finding(number: int, program: Program, sighting: Sighting, runner: NetRunner) -> Finding:
    """A sighting of a net, reduced and classified."""
    operators = program.operators
    reasons = known_reasons(program, sighting)
    found: FindingClass = "known"
    if not reasons:
        found = "unsteady"
        needs_graphs = sighting.kind not in ("differs", "raises")

        def shows(candidate: Program) -> bool:
            """Whether a smaller net shows the same."""
            return runner.run(candidate, needs_graphs).is_like(sighting)

        smaller = shrunk(program, shows)
        again = runner.run(smaller)
        if again.is_like(sighting):
            program, sighting = smaller, again
            reasons = known_reasons(program, sighting)
            found = "known" if reasons else _class(program, sighting, runner)
    return Finding(
        number=number,
        found=found,
        sighting=sighting,
        program=program,
        reasons=reasons,
        operators=operators,
    )


def _class(program: Program, sighting: Sighting, runner: NetRunner) -> FindingClass:
    """The class of a finding that is not on the list."""
    if sighting.kind in ("differs", "oracle", "values"):
        is_elsewhere = False
        for near in neighbours(program, NEIGHBOURS):
            is_elsewhere |= runner.run(near).is_like(sighting)
        if not is_elsewhere:
            return "ill_conditioned"
    return "ours" if sighting.kind in OURS else "framework"


# Reducing a net to a smaller one that shows the same

Shows = Callable[[Program], bool]
"""Whether a net still shows what is looked for."""

LOOKS = 40
"""The number of smaller nets that are tried for one finding."""


def shrunk(program: Program, shows: Shows) -> Program:
    """A smaller net that ``shows`` the same; the greatest reductions are tried first."""
    looks = 0
    is_smaller = True
    while is_smaller:
        is_smaller = False
        for candidate in candidates(program):
            looks += 1
            if looks > LOOKS:
                return program
            if shows(candidate):
                program = candidate
                is_smaller = True
                break
    return program


def candidates(program: Program) -> Iterator[Program]:
    """Smaller nets, each by one cut."""
    if program.order > 1:
        yield msgspec.structs.replace(program, order=1)
    for step in program.steps[:-1]:
        yield _ending_with(program, step)
    if len(program.results) > 1:
        for name, how in program.results.items():
            yield pruned(msgspec.structs.replace(program, results={name: how}))
    for step in reversed(program.steps):
        # A net that begins with the input itself loses nothing by another one.
        if any(operand not in program.inputs for operand in step.operands):
            yield _beginning_at(program, step)
    yield from _without_a_step(program)
    if program.dtype != "float32":
        yield msgspec.structs.replace(program, dtype="float32")
    for name, how in program.results.items():
        if how != "sum":
            yield msgspec.structs.replace(program, results={**program.results, name: "sum"})


def _without_a_step(program: Program) -> Iterator[Program]:
    """Nets in which an operand replaces a result of a step that has the same shape."""
    for step in program.steps:
        for operand in dict.fromkeys(step.operands):
            if _shape(program, operand) == step.shape:
                yield _without(program, step, operand)


def _ending_with(program: Program, step: Step) -> Program:
    """The net whose only result is that of an earlier step."""
    return pruned(msgspec.structs.replace(program, results={step.name: "squares"}))


def _beginning_at(program: Program, step: Step) -> Program:
    """The net in which inputs take the place of what a step is made of."""
    inputs, values = dict(program.inputs), dict(program.values)
    names: dict[str, str] = {}
    for operand in dict.fromkeys(step.operands):
        if operand not in program.inputs:
            names[operand] = f"x{len(inputs)}"
            inputs[names[operand]] = _shape(program, operand)
            values[names[operand]] = drawn_values(_shape(program, operand), Random(operand))
    begun = _renamed(step, names)
    place = program.steps.index(step)
    steps = (*program.steps[:place], begun, *program.steps[place + 1 :])
    return pruned(msgspec.structs.replace(program, inputs=inputs, values=values, steps=steps))


def _without(program: Program, step: Step, operand: str) -> Program:
    """The net in which an operand of a step, of the same shape, replaces its result."""
    names = {step.name: operand}
    others = [other for other in program.steps if other is not step]
    steps = [_renamed(other, names) for other in others]
    results: dict[str, str] = {}
    for name, how in program.results.items():
        results.setdefault(names.get(name, name), how)
    return pruned(msgspec.structs.replace(program, steps=tuple(steps), results=results))


def _renamed(step: Step, names: dict[str, str]) -> Step:
    operands = tuple(names.get(operand, operand) for operand in step.operands)
    return msgspec.structs.replace(step, operands=operands)


def _shape(program: Program, name: str) -> tuple[int, ...]:
    for step in program.steps:
        if step.name == name:
            return step.shape
    return program.inputs[name]


def neighbours(program: Program, count: int) -> Iterator[Program]:
    """The same net at nearby inputs: each value moved by up to a hundredth of itself."""
    for number in range(count):
        rng = Random(number)
        values: dict[str, tuple[float, ...]] = {}
        for name, numbers in program.values.items():
            moved = [value * (1 + rng.uniform(-0.01, 0.01)) for value in numbers]
            values[name] = tuple(moved)
        yield msgspec.structs.replace(program, values=values)
