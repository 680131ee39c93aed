"""The options of the commands: each is declared once, and is a field of its commands' records."""

import math
import typing
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from explorer.model.engines import ENGINES
from explorer.model.errors import UsageError
from explorer.text.choices import choose
from explorer.text.language import _, later

ENGINES_HERE = "{engines}"
"""Where a text lists all engines."""


def listed(text: str) -> str:
    """A text with all engines where it lists them."""
    return text.replace(ENGINES_HERE, ", ".join(ENGINES))


def unlisted(text: str) -> str:
    """The text as it was given to ``listed``: the one that has translations."""
    return text.replace(", ".join(ENGINES), ENGINES_HERE)


def _option(usage: str, text: str) -> Any:
    """An option by its names and the name of its value: "-o --output FILE"."""
    names: list[str] = []
    metavar: list[str] = []
    for word in usage.split():
        (names if word.startswith("-") else metavar).append(word)
    return typer.Option(
        *names,
        help=listed(text),
        metavar=" ".join(metavar) or None,
        show_default="[default:" not in text,
    )


def _argument(metavar: str, text: str) -> Any:
    return typer.Argument(help=listed(text), metavar=metavar, show_default="[default:" not in text)


# Options that several commands have

SCENARIO_NAME = later("The name of a shipped scenario, or the path of a .py file.")
NAME = _argument("NAME_OR_FILE", SCENARIO_NAME)
Device = Annotated[
    str,
    _option(
        "--device DEVICE",
        later(
            "Device to run on: cpu, cuda[:N], mps, npu[:N], or auto for the best of each framework."
        ),
    ),
]
Timeout = Annotated[
    float,
    _option(
        "--timeout SECONDS",
        later(
            "Time limit for the whole run, in seconds; what is complete by then is reported."
            " [default: none]"
        ),
    ),
]
REQUEST_LIMIT = later("Time limit for one request to a worker, in seconds.")
RequestTimeout = Annotated[float, _option("--request-timeout SECONDS", REQUEST_LIMIT)]
AsJson = Annotated[bool, _option("--json", later("Print a JSON document and nothing else."))]
Case = Annotated[
    str | None,
    _option(
        "--case CASE",
        later("Case whose graphs are captured, such as 'grad(0)'. [default: the main case]"),
    ),
]
NestedOrder = Annotated[
    int,
    _option(
        "--order N",
        later(
            "Order of the gradient: 2 is the gradient of the gradient, with respect to the first"
            " input unless --case names another."
        ),
    ),
]
Prove = Annotated[
    bool,
    _option(
        "--prove",
        later(
            "Prove the value of every op by recomputing it, even in graphs of over 200 op nodes."
        ),
    ),
]
Engines = Annotated[
    list[str] | None,
    _option(
        "--engine ENGINE",
        later(
            "Engine to run, one of {engines};"
            " torch-tape@NAME runs it in an environment (see `env`)."
            " Repeat the option for more. [default: all]"
        ),
    ),
]
NoOracle = Annotated[
    bool,
    _option(
        "--no-oracle",
        later("Leave out central differences, which run the forward hundreds of times."),
    ),
]
Fresh = Annotated[
    bool, _option("--fresh", later("Run again instead of using stored results (see `cache`)."))
]
Language = Annotated[
    str,
    _option(
        "--lang LANGUAGE",
        later(
            "Language of reports and divergences: en or zh (中文), before or after the command."
            " [default: that of EXPLORER_LANG, else of the locale]"
        ),
    ),
]


# The options of each command, in the order in which its help lists them


class ScenarioOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of ``scenario``."""

    name: Annotated[str | None, NAME] = None
    device: Device = "cpu"
    engines: Engines = None
    order: Annotated[
        int, _option("--order N", later("Compute nested gradients up to this order too."))
    ] = 1
    case: Case = None
    out: Annotated[
        Path | None,
        _option(
            "--out DIR", later("Folder for pictures and reports; created if it does not exist.")
        ),
    ] = None
    formats: Annotated[
        list[str] | None,
        _option(
            "--format FORMAT[,…]",
            later(
                "Files to write into DIR: svg, png, dot, mermaid, json, markdown or html;"
                " separate several with commas. [default: svg,json]"
            ),
        ),
    ] = None
    as_json: AsJson = False
    cases: Annotated[
        str | None,
        _option(
            "--cases SELECTION",
            later(
                "Cases to run: all; structure (each API, position, form of weights and has_aux at"
                " least once); main (one case, and with --order the nested calls)."
                " [default: all; structure for a large scenario]"
            ),
        ),
    ] = None
    prove: Prove = False
    no_oracle: NoOracle = False
    fresh: Fresh = False
    timeout: Timeout = math.inf
    request_timeout: RequestTimeout = 60.0
    new: Annotated[
        str | None,
        _option("--new NAME", later("Write NAME.py, a commented scenario to start from.")),
    ] = None
    from_factories: Annotated[
        tuple[str, str] | None,
        _option(
            "--from-factories MINDSPORE TORCH",
            later(
                "With --new: the functions that create MindSpore's net and PyTorch's, each as"
                " package.module:function, or as package.module:function(classes=10)."
            ),
        ),
    ] = None
    inputs: Annotated[
        Path | None,
        _option(
            "--inputs FILE.npz",
            later("With --from-factories: the inputs of these nets, as arrays by name."),
        ),
    ] = None


class GraphOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of ``graph``."""

    name: Annotated[str, NAME]
    output: Annotated[
        Path, _option("-o --output FILE", later("File to write; its folder must exist."))
    ]
    engines: Annotated[
        list[str] | None,
        _option(
            "--engine ENGINE",
            later(
                "Engine whose graph to draw, one of {engines}."
                " Repeat the option for two side by side."
                " [default: mindspore-graph]"
            ),
        ),
    ] = None
    case: Case = None
    order: NestedOrder = 1
    view: Annotated[
        str,
        _option(
            "--view VIEW",
            later("ladder (each backward op beside its forward op) or flow (top to bottom)."),
        ),
    ] = "ladder"
    depth: Annotated[
        str,
        _option(
            "--depth N|all|fit",
            later(
                "Collapse modules below depth N; all: show every op; fit: what fits on a screen."
            ),
        ),
    ] = "fit"
    stage: Annotated[
        str | None,
        _option(
            "--stage PASS",
            later(
                "Stage of a compiler to draw: a pass of mindspore-graph's, or hlo. [default: the one that is"
                " compared]"
            ),
        ),
    ] = None
    file_format: Annotated[
        str | None,
        _option(
            "--format FORMAT",
            later("svg, png, dot, mermaid or json. [default: from FILE's ending]"),
        ),
    ] = None
    device: Device = "cpu"
    fresh: Fresh = False
    timeout: Timeout = math.inf
    request_timeout: RequestTimeout = 60.0


class DiffOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of ``diff``."""

    name: Annotated[str, NAME]
    left: Annotated[
        str,
        _argument(
            "LEFT",
            later(
                "An engine, one of {engines};"
                " torch-tape@NAME runs it in an environment (see `env`)."
            ),
        ),
    ]
    right: Annotated[str, _argument("RIGHT", later("The engine to compare with it."))] = ""
    case: Case = None
    order: NestedOrder = 1
    device: Device = "cpu"
    list_all: Annotated[
        bool, _option("--all", later("Print every divergence instead of only the first."))
    ] = False
    as_json: AsJson = False
    html: Annotated[
        Path | None,
        _option(
            "--html FILE", later("Of two trainings, also write a page with their pictures to FILE.")
        ),
    ] = None
    prove: Prove = False
    fresh: Fresh = False
    timeout: Timeout = math.inf
    request_timeout: RequestTimeout = 60.0


class MendOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of ``mend``."""

    name: Annotated[str, NAME]
    left: Annotated[
        str,
        _argument("LEFT", later("An engine; by default those of PyTorch's net and of the port.")),
    ] = ""
    right: Annotated[str, _argument("RIGHT", later("The engine to compare with it."))] = ""
    side: Annotated[
        str,
        _option(
            "--in SIDE",
            later(
                "The net that is mended: left, right or a framework."
                " [default: the one that is not PyTorch's]"
            ),
        ),
    ] = ""
    apply: Annotated[
        bool, _option("--apply", later("Write the patch into the file, after printing it."))
    ] = False
    as_json: AsJson = False
    device: Device = "cpu"
    fresh: Fresh = False
    timeout: Timeout = math.inf
    request_timeout: RequestTimeout = 60.0


class StudyOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of ``study``; ``timeout`` limits all measurements, ``request_timeout`` each."""

    name: Annotated[str | None, _argument("STUDY", later("The name of a study."))] = None
    scenario: Annotated[str | None, _argument("SCENARIO", SCENARIO_NAME)] = None
    device: Device = "cpu"
    out: Annotated[
        Path | None,
        _option(
            "--out DIR", later("Folder for charts and the record; created if it does not exist.")
        ),
    ] = None
    formats: Annotated[
        list[str] | None,
        _option(
            "--format FORMAT[,…]",
            later(
                "Files to write into DIR: svg, png, json or markdown; separate several with"
                " commas. [default: svg,json]"
            ),
        ),
    ] = None
    as_json: AsJson = False
    fresh: Fresh = False
    timeout: Timeout = math.inf
    request_timeout: Annotated[
        float | None,
        _option(
            "--request-timeout SECONDS",
            later("Time limit for one measurement, in seconds. [default: set by the study]"),
        ),
    ] = None


class ClaimsOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of ``claims``."""

    row: Annotated[
        str | None, _argument("ID", later("Number of one claim, to show it in full."))
    ] = None
    topic: Annotated[
        str | None,
        _option(
            "--topic TOPIC",
            later(
                "Check only the claims of one topic: gradients, 'loss scaling', training,"
                " 'tape and graph', networks, devices, operators, optimizers or parallel."
            ),
        ),
    ] = None
    verdict: Annotated[
        str | None,
        _option(
            "--verdict VERDICT",
            later(
                "Show only claims with one verdict: holds, 'holds with changes', outdated,"
                " 'does not hold', 'depends on style', 'not checkable here', 'not runnable here'"
                " or 'not judged'."
            ),
        ),
    ] = None
    on: Annotated[
        list[str] | None,
        _option(
            "--on ENV",
            later("Run a framework in this environment (see `env`); give it twice for two."),
        ),
    ] = None
    against: Annotated[
        str | None,
        _option(
            "--against FILE|ENV",
            later(
                "Board to compare with, as written by --json, or an environment to run it in;"
                " reports changed verdicts."
            ),
        ),
    ] = None
    versions: Annotated[
        bool,
        _option(
            "--versions",
            later("Judge the claims on every version that an environment has, and print changes."),
        ),
    ] = False
    as_json: AsJson = False
    as_markdown: Annotated[
        bool, _option("--markdown", later("Print the table of claims as Markdown."))
    ] = False
    as_html: Annotated[
        bool, _option("--html", later("Print the table of claims as an HTML page."))
    ] = False
    pages: Annotated[
        Path | None,
        _option("--pages DIR", later("Write a Markdown page for each claim into this folder.")),
    ] = None
    fresh: Fresh = False
    request_timeout: RequestTimeout = 300.0


class RunOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of ``run``."""

    script: Annotated[str, _argument("SCRIPT", later("The program, a Python file."))]
    arguments: Annotated[
        list[str] | None, _argument("ARGUMENTS", later("What the program is given."))
    ] = None
    record: Annotated[
        Path,
        _option(
            "--record FILE",
            later("The trace; of several steps the names get their numbers. [default: step.trace]"),
        ),
    ] = Path("step.trace")
    first: Annotated[int, _option("--first N", later("Record the first N steps. [default: 1]"))] = 1
    every: Annotated[
        int, _option("--every N", later("Record each N-th step as well. [default: none]"))
    ] = 0
    on: Annotated[str, _option("--on ENV", later("Run it in this environment (see `env`)."))] = ""


class CorrespondOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of ``correspond``."""

    name: Annotated[
        str | None,
        _argument(
            "NAME",
            later(
                "A function, layer or operator of either framework: nn.GELU, ops.gelu, aten.gelu,"
                " torch.nn.functional.gelu."
            ),
        ),
    ] = None
    as_json: AsJson = False
    as_markdown: Annotated[bool, _option("--markdown", later("Print Markdown."))] = False


class SweepOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of ``sweep``; without a ``count``, as many jobs run as there is room for."""

    patterns: Annotated[
        list[str] | None,
        _argument(
            "WHAT",
            later(
                'Names or patterns of shipped scenarios ("conv*", "real/*"), .py files, or folders'
                " of .py files. [default: all shipped scenarios except real/*]"
            ),
        ),
    ] = None
    studies: Annotated[
        bool, _option("--studies", later("Also run every study that takes a scenario."))
    ] = False
    count: Annotated[
        int | None,
        _option(
            "--jobs N",
            later("Number of jobs that run in parallel. [default: one for every two cores]"),
        ),
    ] = None
    out: Annotated[
        Path | None,
        _option(
            "--out DIR",
            later("Folder for sweep.html, sweep.json and junit.xml; created if it does not exist."),
        ),
    ] = None
    on: Annotated[
        list[str] | None,
        _option(
            "--on ENV",
            later("Run a framework in this environment (see `env`); give it twice for two."),
        ),
    ] = None
    against: Annotated[
        Path | None,
        _option(
            "--against FILE",
            later("Recorded sweep.json to compare with; reports what has changed."),
        ),
    ] = None
    scheduler: Annotated[
        str | None,
        _option(
            "--scheduler tcp://HOST:PORT",
            later("Run on a Dask cluster; the address of its scheduler."),
        ),
    ] = None
    device: Device = "cpu"
    fresh: Fresh = False
    as_json: AsJson = False
    timeout: Annotated[
        float, _option("--timeout SECONDS", later("Time limit for each job, in seconds."))
    ] = 900.0
    request_timeout: Annotated[
        float | None,
        _option(
            "--request-timeout SECONDS",
            later(
                "Time limit for one request to a worker, in seconds."
                " [default: 60 for a scenario, set by the study for a study]"
            ),
        ),
    ] = None


class FuzzOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of ``fuzz``."""

    cases: Annotated[int, _option("--cases N", later("Number of random nets."))] = 60
    seed: Annotated[int, _option("--seed S", later("Seed of the random nets."))] = 1
    start: Annotated[int, _option("--start K", later("Number of the first net."))] = 0
    corners: Annotated[
        bool,
        _option(
            "--corners",
            later("Give each net an input that is nan, infinite, tied, zero or empty."),
        ),
    ] = False
    engines: Engines = None
    out: Annotated[
        Path | None,
        _option(
            "--out DIR",
            later("Folder for a scenario file of each finding; created if it does not exist."),
        ),
    ] = None
    as_json: AsJson = False


class ShowOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of ``show``."""

    file: Annotated[Path, _argument("FILE", later("A .trace or .training file."))]


class TrainOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of ``train``."""

    name: Annotated[str, NAME]
    engines: Annotated[
        list[str] | None,
        _argument(
            "ENGINE",
            later(
                "Engines that train: mindspore-tape, torch-tape or jax-tape."
                " [default: the first two]"
            ),
        ),
    ] = None
    steps: Annotated[int, _option("--steps N", later("Number of steps."))] = 20
    device: Device = "cpu"
    out: Annotated[
        Path | None,
        _option(
            "--out DIR",
            later(
                "Folder for a file of each training; created if it does not exist."
                " [default: out/NAME]"
            ),
        ),
    ] = None
    as_json: AsJson = False
    timeout: Timeout = math.inf
    request_timeout: RequestTimeout = 600.0


class EmbedOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of ``embed``."""

    files: Annotated[list[Path], _argument("FILE…", later("Markdown files to fill."))]
    check: Annotated[
        bool, _option("--check", later("Write nothing; exit with 1 if a block is out of date."))
    ] = False
    fresh: Fresh = False


class DoctorOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of ``doctor``."""

    as_json: AsJson = False


class EnvOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of ``env``."""

    action: Annotated[
        str, _argument("ACTION", later("list, add, remove or check. [default: list]"))
    ] = "list"
    name: Annotated[
        str | None, _argument("NAME", later("The environment's name, of your choice: torch26."))
    ] = None
    python: Annotated[
        str | None,
        _argument(
            "PYTHON",
            later(
                "For add: the path of its Python, the folder of the environment, or the name of a"
                " conda environment."
            ),
        ),
    ] = None
    as_json: AsJson = False


class WarmOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of ``warm``."""

    only: Annotated[
        list[str] | None,
        _argument(
            "WHAT",
            later(
                "scenarios, studies, claims, or names of single scenarios and studies."
                " [default: everything]"
            ),
        ),
    ] = None


class CacheOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of ``cache``."""

    clear: Annotated[bool, _option("--clear", later("Delete all stored results."))] = False
    as_json: AsJson = False


class AppOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of ``app``: files and folders, and options of Streamlit."""

    arguments: Annotated[
        list[str] | None,
        _argument(
            "FILE_OR_FOLDER",
            later(
                "Your own scenarios, shown in addition to the shipped ones: .py files, or folders"
                " of .py files. The app opens with the first file, and runs a file again whenever"
                " it is saved."
            ),
        ),
    ] = None


# Checks that need no framework

FORMAT_ALIASES = {"md": "markdown", "mmd": "mermaid"}
"""Endings of files that are accepted as names of formats."""


def refuse_others(options: msgspec.Struct, allowed: Collection[str], text: str) -> None:
    """Raise UsageError for an option beside those of the fields ``allowed``.

    ``text`` says why it has no effect, with a place for ``{option}``.
    """
    hints = typing.get_type_hints(type(options), include_extras=True)
    for field in msgspec.structs.fields(options):
        if field.name in allowed or getattr(options, field.name) == field.default:
            continue
        (declared,) = hints[field.name].__metadata__
        # Typer takes the first name for a default where the option is an annotation.
        names = [declared.default, *declared.param_decls]
        raise UsageError(text.format(option=names[-1]))


def check_seconds(option: str, seconds: float | None) -> None:
    """Raise UsageError unless ``seconds`` can be a time limit; None is the default limit."""
    if seconds is not None and not seconds > 0:  # not greater: NaN too
        text = _("{option} must be a positive number of seconds, got {seconds}")
        raise UsageError(text.format(option=option, seconds=f"{seconds:g}"))


def chosen_formats(
    given: list[str] | None, folder: Path | None, allowed: Sequence[str], default: tuple[str, ...]
) -> tuple[str, ...]:
    """The formats given by one or more ``--format``, separated by commas, each once.

    Raises UsageError for an unknown format, and if there is no folder to write to.
    """
    if not given:
        return default
    if folder is None:
        raise UsageError(_("--format needs a folder to write the files into; add --out DIR"))
    formats: dict[str, None] = {}
    for name in ",".join(given).split(","):
        if name.strip():
            formats[chosen_format(name.strip(), allowed)] = None
    return tuple(formats)


def chosen_format(name: str, allowed: Sequence[str]) -> str:
    """The format called ``name``, or whose files end so; raises UsageError."""
    return choose(later("format"), FORMAT_ALIASES.get(name, name), allowed)
