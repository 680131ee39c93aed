"""The worker's side of a measurement: runs one measuring function and records its outcome."""

import inspect
import sys
import traceback
from pathlib import Path

import msgspec

from explorer.model.engines import FRAMEWORKS, WorkerKind
from explorer.model.errors import MissingNetError, RecordedError
from explorer.model.failures import Failure
from explorer.model.measurement import Ask, Found, Measured, Measurement
from explorer.scenario.find import SHIPPED, names, real_names
from explorer.shipped import PACKAGE
from explorer.text.numbers import plain
from explorer.text.programs import WIDTH, in_order, literal, merged, reached, read
from explorer.workers.garbage_collection import imported

ARGUMENT = " " * 12
"""What stands before an argument of a call that is broken into lines."""

SAVING_GRAPHS: tuple[WorkerKind, ...] = ("mindspore-capture", "mindspore-passes")
"""The kinds of worker in which MindSpore writes its graphs to files."""

VARIABLES = (
    "# Start Python with the environment variables that worker_environment('{kind}', FOLDER) of\n"
    "# explorer.workers.environments returns: MindSpore reads them at its start."
)


MASKING = ("explorer.engines.torch.functional_dropout", "explorer.engines.mindspore.dropout")
"""The modules that give masks to a framework's dropout functions, for nets of scenarios."""


def run(request: Measurement) -> Measured:
    """The figures of the function called ``request.target``, or what it raised; with its source.

    Raises ImportError when a framework is missing: the worker answers for that.
    """
    name_of_module, _, name = request.target.partition(":")
    try:
        module = imported(name_of_module)
    except ImportError as error:
        return _lacking(error)
    function = getattr(module, name)
    # First, so that a program that raises is shown too.
    ask = Ask(request.scenario, request.device, request.options)
    text = inspect.getsource(module)
    code = source(text, name, ask, request.kind)
    printed = listing(text, request.printed) if request.printed else ""
    meant = listing(text, request.meant) if request.meant else ""
    _without_masks()
    try:
        found: Found = function(ask)
    except ImportError as error:
        return _lacking(error, code)
    except MissingNetError as error:
        failure = Failure(type(error).__name__, str(error))
        return Measured(outcome="not_defined", error=failure, code=code)
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{frame.filename}:{frame.lineno}"
        failure = Failure(type(error).__name__, str(error).strip(), place)
        if isinstance(error, RecordedError):
            failure = msgspec.structs.replace(error.failure, source=place)
        return Measured(outcome="raised", error=failure, code=code, printed=printed, meant=meant)
    return Measured(
        outcome="ok",
        figures=plain(found.figures),
        timings=found.timings,
        graphs=found.graphs,
        code=code,
        printed=printed,
        meant=meant,
    )


def _lacking(error: ImportError, code: str = "") -> Measured:
    """The outcome of a program that needs what is not installed; raises where that is a framework."""
    package = (error.name or "").partition(".")[0]
    if package in sys.modules:
        failure = Failure(type(error).__name__, kind="no_module", details=(str(error),))
    elif package and package not in FRAMEWORKS:
        failure = Failure(type(error).__name__, kind="no_package", details=(package,))
    else:
        raise error  # a framework is missing, which is the worker's business
    return Measured(outcome="unsupported", error=failure, code=code)


def _without_masks() -> None:
    """Let the dropout functions draw: a net that ran in this worker may have given them masks."""
    for name in MASKING:
        if name in sys.modules:
            sys.modules[name].give_masks(False)


def source(module: str, name: str, ask: Ask, kind: WorkerKind) -> str:
    """A program that can be pasted: what a function reaches in its module, and the call that runs it.

    ``module`` is the module's text. Helpers of other modules are imported from the explorer. Where
    the worker of its ``kind`` has variables that MindSpore reads at its start, a comment says so.
    """
    called = read(_call(name, ask, kind))
    # The call needs names too, some of which are imported for it alone.
    program = reached(
        merged((read(module), called)), (name, *(each.name for each in called.imports))
    )
    return merged((program, called)).text


def listing(module: str, name: str) -> str:
    """A function or a class, and the functions and classes that it reaches in its module.

    They are in an order in which Python can run them. Code that a guide prints must have no helper
    too many.
    """
    pieces = in_order(reached(read(module), (name,)).pieces)
    return "\n\n\n".join(piece.text for piece in pieces if not piece.is_constant) + "\n"


def _call(name: str, ask: Ask, kind: WorkerKind) -> str:
    """The statements that import what a call needs, call a measuring function and print its figures."""
    imports = ["from explorer.model.measurement import Ask"]
    arguments: dict[str, str] = {}
    if ask.scenario:
        needed, arguments["scenario"] = _scenario(Path(ask.scenario))
        imports.extend(needed)
    if ask.device != Ask().device:
        arguments["device"] = literal(ask.device)
    if ask.options:
        arguments["options"] = literal(ask.options)
    written = ", ".join(f"{argument}={value}" for argument, value in arguments.items())
    call = f"print({name}(Ask({written})).figures)"
    if len(call) > WIDTH:
        if ask.options:
            arguments["options"] = literal(ask.options, len(ARGUMENT), len("options=,"))
        lines = "".join(f"{ARGUMENT}{argument}={value},\n" for argument, value in arguments.items())
        call = f"print(\n    {name}(\n        Ask(\n{lines}        )\n    ).figures\n)"
    if kind in SAVING_GRAPHS:
        call = f"{VARIABLES.format(kind=kind)}\n{call}"
    return "\n".join((*imports, call))


def _scenario(path: Path) -> tuple[list[str], str]:
    """The imports and the expression for a scenario's file, wherever the explorer is installed."""
    for name, known in {**names(SHIPPED), **real_names()}.items():
        if known == path:
            return ["from explorer.scenario.find import find"], f"str(find({literal(name)}))"
    if path.is_relative_to(PACKAGE):
        within = path.relative_to(PACKAGE).as_posix()
        return ["from explorer.shipped import PACKAGE"], f"str(PACKAGE / {literal(within)})"
    return [], literal(str(path))
