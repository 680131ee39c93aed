"""The functions of the Python API: each uses stored results, or runs the nets in its own workers."""

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from msgspec import structs

from explorer import drawing
from explorer.api.results import (
    Claims,
    Difference,
    Exploration,
    Picture,
    Recorded,
    RecordedTraining,
    Study,
)
from explorer.drawing.formats import FormatName
from explorer.drawing.views import ViewName
from explorer.exploration import stored
from explorer.exploration.options import RunOptions, Wanted, engines_of
from explorer.model.errors import UsageError
from explorer.model.report import Report
from explorer.recording.files import is_training, read_trace, read_training
from explorer.report.recorded.fallback import (
    board_in_place,
    notice,
    report_in_place,
    study_in_place,
)
from explorer.scenario.declaration import Declaration
from explorer.scenario.devices import parse
from explorer.scenario.find import find
from explorer.scenario.own_nets import FOLDER, code_of, code_of_nets, own_nets, sent
from explorer.scenario.reader import read
from explorer.scenario.selection import Selection
from explorer.store.store import Store, to_stderr
from explorer.text.choices import refusal
from explorer.text.language import _
from explorer.topics import claims as every_claim
from explorer.topics import studies, study_topic
from explorer.topics.boards import board
from explorer.workers.workers import REQUEST_SECONDS, Workers

Value = TypeVar("Value")

Net = str | Path | Declaration
"""A shipped scenario's name, a scenario's file, or nets() of one's own package."""

CLAIM_SECONDS = 300.0
"""The time limit of one measurement for claims: some compile for a minute on a busy machine."""


def nets(
    *,
    mindspore: str = "",
    torch: str = "",
    jax: str = "",
    mindspore_arguments: Mapping[str, Any] | None = None,
    torch_arguments: Mapping[str, Any] | None = None,
    jax_arguments: Mapping[str, Any] | None = None,
    mindspore_python: str | Path = "",
    torch_python: str | Path = "",
    jax_python: str | Path = "",
    inputs: Mapping[str, Any] | str | Path,
    parameters: Mapping[str, Any] | str | Path | None = None,
    name: str = "",
    **declarations: Any,
) -> Declaration:
    """Nets that exist already, to be given to the other functions in a scenario's place.

    ``mindspore``, ``torch`` and ``jax`` are "package.module:function", of a package that
    can be imported here or in its environment; the function, or class, is called in a process of its
    own, with the keyword arguments in ``mindspore_arguments``, ``torch_arguments`` and
    ``jax_arguments``, which are literals. Any of them may be left out. What JAX's returns is a
    function of parameters by PyTorch's names and of the inputs, or a module of flax or equinox.
    ``mindspore_python``, ``torch_python`` and ``jax_python`` say in which environments they
    run: a name that ``explorer env`` knows, or the path of a Python. ``inputs`` are arrays
    of shape and dtype as the nets take them, by name, in the order of the
    arguments; or a file, .npz or .safetensors. ``parameters`` are the starting
    values by PyTorch's names: arrays, such a file, or a .ckpt, .pt or .pth,
    which its framework reads into its own net; none of them runs what a file
    says. Without them all start as PyTorch's net does. ``declarations`` are
    what a scenario file may say beside: train, outputs, constants, cases,
    parameter_names, buffers, layouts, same_dropout, tolerances,
    expected_differences and expected_findings.

    Raises UsageError for a function that cannot be found, an input that is not
    an array, a missing file, and an unknown or wrong declaration.
    """
    return own_nets(
        factories={"mindspore": mindspore, "torch": torch, "jax": jax},
        arguments={
            "mindspore": mindspore_arguments,
            "torch": torch_arguments,
            "jax": jax_arguments,
        },
        homes={
            "mindspore": str(mindspore_python),
            "torch": str(torch_python),
            "jax": str(jax_python),
        },
        inputs=inputs,
        parameters=parameters,
        name=name,
        declarations=declarations,
    )


def explore(
    net: Net,
    *,
    engines: tuple[str, ...] | None = None,
    device: str = "cpu",
    order: int = 1,
    case: str | None = None,
    cases: str | None = None,
    prove: bool = False,
    oracle: bool = True,
    fresh: bool = False,
    timeout: float = math.inf,
    request_timeout: float = REQUEST_SECONDS,
) -> Exploration:
    """Compute a net's gradients on every engine in all cases, as ``explorer scenario`` does.

    ``engines`` are all four by default, ``order`` n adds nested gradients up to
    that order. ``case`` is the one whose graphs are captured; ``cases`` is
    "all", "structure" or "main". Without ``oracle`` no gradient is estimated by
    central differences. ``fresh`` ignores stored results; both limits
    are in seconds. Raises ExplorerError: UsageError, ScenarioError,
    MissingFrameworkError; TimeLimitError if a limit was reached before the
    frameworks were loaded.
    """
    options = RunOptions(
        engines=engines,
        device=device,
        order=order,
        case=case,
        cases=cases,
        prove=prove,
        oracle=oracle,
        fresh=fresh,
        timeout=timeout,
        request_timeout=request_timeout,
    )
    options.check()
    with scenario_of(net, fresh=fresh) as scenario:
        report = _report(scenario, options, options.wanted(scenario))
        return Exploration(report, _code_of(net, scenario))


def _report(
    scenario: Declaration, options: RunOptions, wanted: Wanted, larger: Iterable[Wanted] = ()
) -> Report:
    """The report that is wanted, or a ``larger`` one that is stored.

    Of a net that cannot be run here it is what was recorded, with a line on stderr that says so.
    """
    store = Store(fresh=options.fresh)
    for one in (*larger, wanted):
        known = stored.stored_report(scenario, one, store, options.request_timeout)
        if known is not None:
            return known
    recorded = _noted(None if options.fresh else report_in_place(scenario, wanted))
    if recorded is not None:
        return recorded
    with Workers(options.request_timeout, options.timeout) as workers:
        return stored.explored(scenario, wanted, workers, store)


def _noted(recorded: Value | None) -> Value | None:
    if recorded is not None:
        to_stderr(notice())
    return recorded


LARGER: tuple[Selection | None, ...] = (None, "structure", "all", "main")
"""The selections of cases whose report has the graphs of the main case in all engines."""


def _captured(net: Net, options: RunOptions) -> Exploration:
    """The graphs of one case in some engines: of a report on more, where one is stored."""
    options.check()
    with scenario_of(net, fresh=options.fresh) as scenario:
        wanted = options.of_one_case(scenario).wanted(scenario)
        every = structs.replace(wanted, engines=engines_of(scenario))
        larger = [structs.replace(every, selection=selection) for selection in LARGER]
        report = _report(scenario, options, wanted, larger)
        return Exploration(report, _code_of(net, scenario))


def diff(
    net: Net,
    left: str = "torch-tape",
    right: str = "mindspore-graph",
    *,
    case: str | None = None,
    order: int = 1,
    device: str = "cpu",
    prove: bool = False,
    fresh: bool = False,
    timeout: float = math.inf,
    request_timeout: float = REQUEST_SECONDS,
) -> Difference:
    """Where the gradient graphs of two engines first differ, as ``explorer diff`` finds it.

    With ``order`` n, those of the gradient nested n times. Raises as explore() does.
    Where an engine has no graph the results alone are compared.
    """
    if left == right:
        raise UsageError(_("{engine!r} is given twice; give two different engines"), engine=left)
    options = RunOptions(
        engines=(left, right),
        device=device,
        order=order,
        case=case,
        cases="main",
        prove=prove,
        fresh=fresh,
        timeout=timeout,
        request_timeout=request_timeout,
    )
    left, right = _at_home(net, left), _at_home(net, right)
    return _captured(net, options).diff(left, right)


def graph(
    net: Net,
    *engines: str,
    case: str | None = None,
    order: int = 1,
    view: ViewName = "ladder",
    depth: drawing.Depth = "fit",
    stage: str | None = None,
    format: FormatName = "svg",
    prefix: str = "",
    device: str = "cpu",
    fresh: bool = False,
    timeout: float = math.inf,
    request_timeout: float = REQUEST_SECONDS,
) -> Picture:
    """The gradient graph of one engine as a picture, or of two side by side, as ``explorer graph``.

    With ``order`` n, the graph of the gradient nested n times.
    ``depth`` collapses modules below it: a number, "all" or "fit". ``prefix``
    begins every id of an SVG, so that several can be in one page. Raises as
    explore() does, and NoGraphError if an engine has no graph.
    """
    chosen = engines or ("mindspore-graph",)
    if len(chosen) > 2:
        raise UsageError(
            _("a picture shows the graphs of one or two engines, got {n}"), n=len(chosen)
        )
    options = RunOptions(
        engines=chosen,
        device=device,
        order=order,
        case=case,
        cases="main",
        fresh=fresh,
        timeout=timeout,
        request_timeout=request_timeout,
    )
    return _captured(net, options).graph(
        *(_at_home(net, engine) for engine in chosen),
        view=view,
        depth=depth,
        stage=stage,
        format=format,
        prefix=prefix,
    )


def load(path: str | Path) -> Recorded | RecordedTraining:
    """What ``record`` or ``recorder`` has written, as data: nothing in it is run.

    Raises UsageError for a file that cannot be read, or is not whole.
    """
    path = Path(path)
    if is_training(path):
        return RecordedTraining(read_training(path), path)
    return Recorded(read_trace(path), path)


def study(
    name: str,
    net: Net | None = None,
    *,
    device: str = "cpu",
    fresh: bool = False,
    timeout: float = math.inf,
    request_timeout: float | None = None,
) -> Study:
    """Run a study on both frameworks, as ``explorer study`` does.

    Raises UsageError for an unknown study, and for a net that it cannot be run
    on.
    """
    topic = study_topic(name)
    parse(device)
    limit = topic.seconds if request_timeout is None else request_timeout
    with _file_of(net) as file, Workers(limit, timeout) as workers:
        target = studies.target(topic, file, device)
        record = _noted(None if fresh else study_in_place(topic, target))
        if record is None:
            record = studies.study(topic, target, workers, store=Store(fresh=fresh))
    return Study(record)


def claims(*rows: int, fresh: bool = False, request_timeout: float = CLAIM_SECONDS) -> Claims:
    """What the migration guides say, run on the installed versions and judged, as ``explorer claims``.

    All claims, or those of some numbers. Raises UsageError for a number that no
    claim has.
    """
    known = every_claim()
    for row in rows:
        if row not in known:
            allowed = _("numbers from {first} to {last}").format(first=min(known), last=max(known))
            fact = _("unknown claim {given!r}").format(given=row)
            raise UsageError(refusal(fact, str(row), [allowed]))
    chosen = [known[row] for row in rows] if rows else list(known.values())
    recorded = _noted(None if fresh else board_in_place(chosen))
    if recorded is not None:
        return Claims(recorded)
    with Workers(request_timeout) as workers:
        return Claims(board(chosen, workers, store=Store(fresh=fresh)))


def _at_home(net: Net, engine: str) -> str:
    return net.at_home(engine) if isinstance(net, Declaration) else engine


def _code_of(net: Net, scenario: Declaration) -> tuple[Path, ...]:
    """Where the lines of nets are."""
    return code_of_nets(scenario) if isinstance(net, Declaration) else code_of(scenario.path)


@contextmanager
def scenario_of(net: Net, *, fresh: bool = False) -> Iterator[Declaration]:
    """The declaration of a net; files that workers need are there inside the context."""
    if isinstance(net, Declaration):
        with TemporaryDirectory(prefix=FOLDER) as folder:
            yield sent(net, Path(folder))
    else:
        yield read(find(str(net)), fresh=fresh)


@contextmanager
def _file_of(net: Net | None) -> Iterator[str | None]:
    """A scenario's name or the path of its file; of one's own nets that of the file sent to workers."""
    if isinstance(net, Declaration):
        with scenario_of(net) as declaration:
            yield declaration.file
    else:
        yield None if net is None else str(net)
