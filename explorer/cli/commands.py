"""The table of commands with their options.

What commands need beyond parsing is imported when they run. That keeps ``--help`` fast: it loads
neither numpy nor rich, let alone a framework.
"""

import math
from pathlib import Path
from typing import Annotated

import typer

from explorer.model.errors import UsageError

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,  # with it, the help would load rich and frame every line
    pretty_exceptions_enable=False,  # which error a person sees, and how, is decided in entry.py
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help=(
        "What does this gradient mean, in MindSpore and in PyTorch, "
        "on the tape and in the graph, and why?"
    ),
    epilog=(
        "Exit codes: 0 as expected, 1 an unexpected difference, 2 a usage error, "
        "3 a framework is missing or a worker died."
    ),
)

Device = Annotated[
    str, typer.Option("--device", help="cpu, cuda[:N], mps, npu[:N] or auto.", metavar="DEVICE")
]
Timeout = Annotated[
    float,
    typer.Option(
        "--timeout",
        help="Limit of the whole job, in seconds; what is there by then is reported. [default: none]",
        metavar="SECONDS",
        show_default=False,
    ),
]
RequestTimeout = Annotated[
    float,
    typer.Option(
        "--request-timeout", help="Limit of one request to a worker, in seconds.", metavar="SECONDS"
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
Case = Annotated[
    str | None,
    typer.Option("--case", help="Whose graphs to capture: a label or short name.", metavar="CASE"),
]
Order = Annotated[
    int, typer.Option("--order", help="Nested gradients up to this order.", metavar="N")
]
Engines = Annotated[
    list[str] | None,
    typer.Option(
        "--engine",
        help=(
            "mindspore-graph, mindspore-tape, torch-tape or torch-graph; "
            "may be given more than once."
        ),
    ),
]
Formats = Annotated[
    list[str] | None,
    typer.Option(
        "--format",
        help=(
            "svg, png, dot, mermaid, json, markdown, html; separated by commas. [default: svg,json]"
        ),
    ),
]
Prove = Annotated[
    bool,
    typer.Option(
        "--prove",
        help="Compute every op again to prove its value, also in graphs of over 200 op nodes.",
    ),
]
Fresh = Annotated[
    bool, typer.Option("--fresh", help="Ask again, also what is stored (see `explorer cache`).")
]
NAME = typer.Argument(help="A scenario's name, or a .py file.", metavar="NAME_OR_FILE")


@app.callback(invoke_without_command=True)
def explorer(context: typer.Context) -> None:
    """Print the help where no command is given."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command()
def scenario(
    name: Annotated[str | None, NAME] = None,
    device: Device = "cpu",
    engine: Engines = None,
    order: Order = 1,
    case: Case = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", help="Folder for pictures and reports; made if it is not there.", metavar="DIR"
        ),
    ] = None,
    formats: Formats = None,
    as_json: AsJson = False,
    cases: Annotated[
        str | None,
        typer.Option(
            "--cases",
            help=(
                "all; structure: as few as show each way to ask once; main: the one that asks for "
                "most. [default: all, of a large scenario structure]"
            ),
            metavar="SELECTION",
        ),
    ] = None,
    prove: Prove = False,
    fresh: Fresh = False,
    timeout: Timeout = math.inf,
    request_timeout: RequestTimeout = 60.0,
    new: Annotated[
        str | None,
        typer.Option("--new", help="Write NAME.py, a commented scenario.", metavar="NAME"),
    ] = None,
    from_factories: Annotated[
        tuple[str, str] | None,
        typer.Option(
            "--from-factories",
            help="With --new: MindSpore's net and PyTorch's, each as package.module:function.",
            metavar="MINDSPORE TORCH",
        ),
    ] = None,
    inputs: Annotated[
        Path | None,
        typer.Option("--inputs", help="With --from-factories: their inputs.", metavar="FILE.npz"),
    ] = None,
) -> int:
    """Compare the engines on a scenario, or list the scenarios.

    Asks every engine the case that asks for most, then the others; without a name, lists the
    scenarios there are.
    """
    if new is not None:
        if name is not None:
            raise UsageError(f"--new writes a file and runs nothing; leave out {name!r}")
        from explorer.cli.new import write_new

        return write_new(new, from_factories, inputs)
    if from_factories or inputs:
        raise UsageError("--from-factories and --inputs say what --new is to write; give it too")
    # Other options than --json say nothing about a list, and are ignored.
    if name is None:
        from explorer.cli.listings import list_scenarios

        return list_scenarios(as_json)
    from explorer.cli.options import ScenarioOptions
    from explorer.cli.scenario import compare_engines

    options = ScenarioOptions(
        name=name,
        device=device,
        engines=engine,
        order=order,
        case=case,
        cases=cases,
        prove=prove,
        fresh=fresh,
        timeout=timeout,
        request_timeout=request_timeout,
    )
    return compare_engines(options, out, formats, as_json)


@app.command()
def graph(
    name: Annotated[str, NAME],
    output: Annotated[
        Path,
        typer.Option(
            "-o", "--output", help="The file to write, in a folder that is there.", metavar="FILE"
        ),
    ],
    engine: Engines = None,
    case: Case = None,
    view: Annotated[str, typer.Option("--view", help="ladder or flow.")] = "ladder",
    depth: Annotated[
        str,
        typer.Option(
            "--depth",
            help="Collapse modules below this depth; all: every op; fit: as a screen holds.",
            metavar="N|all|fit",
        ),
    ] = "fit",
    stage: Annotated[
        str | None,
        typer.Option("--stage", help="A compiler pass; by default the last.", metavar="PASS"),
    ] = None,
    file_format: Annotated[
        str | None,
        typer.Option("--format", help="svg, png, dot, mermaid, json; by default FILE's."),
    ] = None,
    device: Device = "cpu",
    fresh: Fresh = False,
    timeout: Timeout = math.inf,
    request_timeout: RequestTimeout = 60.0,
) -> int:
    """Write one gradient graph as a file, or two in one SVG or PNG."""
    from explorer.cli.graph import DrawingOptions, write_graph
    from explorer.cli.options import ScenarioOptions

    options = ScenarioOptions(
        name=name,
        device=device,
        engines=engine,
        case=case,
        cases="main",
        fresh=fresh,
        timeout=timeout,
        request_timeout=request_timeout,
    )
    return write_graph(options, output, DrawingOptions(view, depth, stage, file_format))


@app.command()
def diff(
    name: Annotated[str, NAME],
    left: Annotated[str, typer.Argument(help="An engine.", metavar="LEFT")],
    right: Annotated[str, typer.Argument(help="Another engine.", metavar="RIGHT")],
    case: Case = None,
    device: Device = "cpu",
    list_all: Annotated[
        bool, typer.Option("--all", help="Print every divergence, not the first alone.")
    ] = False,
    as_json: AsJson = False,
    prove: Prove = False,
    fresh: Fresh = False,
    timeout: Timeout = math.inf,
    request_timeout: RequestTimeout = 60.0,
) -> int:
    """Say where two engines first part.

    Aligns their graphs of one case by value; exits with 1 when they part.
    """
    from explorer.cli.diff import diff_engines
    from explorer.cli.options import ScenarioOptions

    options = ScenarioOptions(
        name=name,
        device=device,
        engines=[left, right],
        case=case,
        cases="main",
        prove=prove,
        fresh=fresh,
        timeout=timeout,
        request_timeout=request_timeout,
    )
    return diff_engines(options, list_all, as_json)


@app.command()
def study(
    name: Annotated[str | None, typer.Argument(help="A study's name.", metavar="STUDY")] = None,
    scenario: Annotated[
        str | None, typer.Argument(help="A scenario's name, or a .py file.", metavar="SCENARIO")
    ] = None,
    device: Device = "cpu",
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="Folder for pictures and the record; made if it is not there.",
            metavar="DIR",
        ),
    ] = None,
    formats: Annotated[
        list[str] | None,
        typer.Option(
            "--format", help="svg, png, json, markdown; separated by commas. [default: svg,json]"
        ),
    ] = None,
    as_json: AsJson = False,
    fresh: Fresh = False,
    timeout: Timeout = math.inf,
    request_timeout: Annotated[
        float | None,
        typer.Option(
            "--request-timeout",
            help="Limit of one measurement, in seconds. [default: the study's own]",
            metavar="SECONDS",
            show_default=False,
        ),
    ] = None,
) -> int:
    """Ask a question beyond the matrix, or list the studies.

    Measures it on both frameworks, and prints findings and tables.
    """
    if name is None:
        from explorer.cli.listings import list_studies

        return list_studies(as_json)
    from explorer.cli.study import StudyOptions, run_study

    options = StudyOptions(
        name=name,
        scenario=scenario,
        device=device,
        out=out,
        formats=formats,
        as_json=as_json,
        fresh=fresh,
        timeout=timeout,
        request_timeout=request_timeout,
    )
    return run_study(options)


@app.command()
def claims(
    row: Annotated[
        str | None, typer.Argument(help="One claim's number, to see it in full.", metavar="ID")
    ] = None,
    topic: Annotated[
        str | None, typer.Option("--topic", help="Only the claims of one topic.", metavar="TOPIC")
    ] = None,
    verdict: Annotated[
        str | None, typer.Option("--verdict", help="Show only one verdict.", metavar="VERDICT")
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option(
            "--against",
            help="A board written by --json: say what has changed since.",
            metavar="FILE",
        ),
    ] = None,
    as_json: AsJson = False,
    as_markdown: Annotated[
        bool, typer.Option("--markdown", help="Print the board as a Markdown page.")
    ] = False,
    as_html: Annotated[
        bool, typer.Option("--html", help="Print the board as one HTML page.")
    ] = False,
    pages: Annotated[
        Path | None,
        typer.Option(
            "--pages", help="Write Markdown into a folder, a page for each claim.", metavar="DIR"
        ),
    ] = None,
    fresh: Fresh = False,
    request_timeout: RequestTimeout = 300.0,
) -> int:
    """Check what the migration guides say.

    Runs each statement on the installed versions and prints a verdict with evidence; exits with 1
    when one has changed.
    """
    from explorer.cli.claims import ClaimsOptions, DocumentFormat, check_claims

    # They exclude each other; all are handed on, so that the refusal can name those given.
    chosen: list[DocumentFormat] = []
    if as_json:
        chosen.append("json")
    if as_markdown:
        chosen.append("markdown")
    if as_html:
        chosen.append("html")
    options = ClaimsOptions(
        row=row,
        topic=topic,
        verdict=verdict,
        against=against,
        formats=tuple(chosen),
        pages=pages,
        fresh=fresh,
        request_timeout=request_timeout,
    )
    return check_claims(options)


@app.command()
def sweep(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            help=(
                'Shipped scenarios by name or pattern ("conv*", "real/*"), .py files, folders. '
                "[default: the shipped ones but those of real/]"
            ),
            metavar="WHAT",
            show_default=False,
        ),
    ] = None,
    studies: Annotated[
        bool, typer.Option("--studies", help="Run every study that takes a scenario, too.")
    ] = False,
    count: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            help="So many side by side. [default: one for two cores]",
            metavar="N",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="Folder for sweep.html, sweep.json and junit.xml; made if it is not there.",
            metavar="DIR",
        ),
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option(
            "--against", help="A recorded sweep.json: say what has changed since.", metavar="FILE"
        ),
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(
            "--scheduler",
            help="Run on the Dask cluster of this scheduler.",
            metavar="tcp://HOST:PORT",
        ),
    ] = None,
    device: Device = "cpu",
    fresh: Fresh = False,
    as_json: AsJson = False,
    timeout: Annotated[
        float, typer.Option("--timeout", help="Limit of each job, in seconds.", metavar="SECONDS")
    ] = 900.0,
    request_timeout: Annotated[
        float | None,
        typer.Option(
            "--request-timeout",
            help="Limit of one request to a worker, in seconds. [default: 60, of a study its own]",
            metavar="SECONDS",
            show_default=False,
        ),
    ] = None,
) -> int:
    """Run many scenarios, and report on all of them.

    Goes on past what fails; what is stored is not run again, so that a sweep that was stopped is
    taken up where it was. Exits with 1 where something is different, or has changed since the
    recorded sweep.
    """
    from explorer.cli.sweep import SweepOptions, run_sweep

    options = SweepOptions(
        patterns=what or [],
        studies=studies,
        count=count,
        out=out,
        against=against,
        scheduler=scheduler,
        device=device,
        fresh=fresh,
        as_json=as_json,
        timeout=timeout,
        request_timeout=request_timeout,
    )
    return run_sweep(options)


@app.command()
def fuzz(
    cases: Annotated[int, typer.Option("--cases", help="How many random nets.", metavar="N")] = 60,
    seed: Annotated[int, typer.Option("--seed", help="Another seed, other nets.", metavar="S")] = 1,
    start: Annotated[
        int, typer.Option("--start", help="The number of the first net.", metavar="K")
    ] = 0,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="Folder for a scenario of each finding; made if it is not there.",
            metavar="DIR",
        ),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Search for wrong gradients in random nets.

    Each net is asked of all engines and of the oracle, in both frameworks; what is wrong is cut down to
    a small scenario file, and classed. Exits with 1 where something is found that is not known.
    """
    from explorer.cli.fuzz import FuzzOptions, run_fuzz

    options = FuzzOptions(cases=cases, seed=seed, start=start, out=out, as_json=as_json)
    return run_fuzz(options)


@app.command()
def embed(
    files: Annotated[
        list[Path], typer.Argument(help="Markdown files.", metavar="FILE…", show_default=False)
    ],
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit with 1 where something is stale.")
    ] = False,
    fresh: Fresh = False,
) -> int:
    """Fill the blocks of Markdown files with pictures and tables.

    A block is what stands between <!-- explorer: gradient-graph dense_mse --> and <!-- /explorer -->;
    the kinds are gradient-graph, gradient-diff, gradient-table and gradient-claim.
    """
    from explorer.cli.embed import embed

    return embed(files, check, fresh)


@app.command()
def doctor(as_json: AsJson = False) -> int:
    """Say what is installed, and what is missing."""
    from explorer.cli.doctor import diagnose

    return diagnose(as_json)


@app.command()
def warm(
    only: Annotated[
        list[str] | None,
        typer.Argument(
            help="scenarios, studies, claims, or names of scenarios and studies; all where none is given.",
            metavar="WHAT",
        ),
    ] = None,
) -> int:
    """Ask everything shipped once, and store it.

    Later commands and the app answer from the store; what is there is not asked again.
    """
    from explorer.cli.warm import fill_store

    return fill_store(tuple(only or ()))


@app.command()
def cache(
    clear: Annotated[bool, typer.Option("--clear", help="Remove all stored results.")] = False,
    as_json: AsJson = False,
) -> int:
    """Say what is stored, where, and how large it is; or clear it."""
    from explorer.cli.cache import show_store

    return show_store(clear, as_json)


@app.command(
    name="app",
    context_settings={"ignore_unknown_options": True},  # they are Streamlit's
    epilog=(
        "Any other option goes to Streamlit, --server.port=8600 for one; "
        '"python -m streamlit run --help" lists them.'
    ),
)
def streamlit_app(
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            help=(
                "Scenarios of one's own, which the app offers beside the shipped ones: a .py file, "
                "or a folder with such files. It opens with the first file named, and runs a file "
                "again when it is saved."
            ),
            metavar="FILE_OR_FOLDER",
        ),
    ] = None,
) -> int:
    """Start the Streamlit app, on this machine alone: http://127.0.0.1:8501."""
    from explorer.cli.app import start_app

    start_app(arguments or ())


def names() -> list[str]:
    """The commands there are."""
    # Typer names a command after its function where it is given no name.
    commands = []
    for command in app.registered_commands:
        function = command.callback
        commands.append(command.name or (function.__name__ if function else ""))
    return commands
