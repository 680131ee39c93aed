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
        "Compare the gradients that MindSpore and PyTorch compute for the same net, "
        "in tape and in graph style, and find where they differ."
    ),
    epilog=(
        "Exit codes: 0 everything as expected, 1 an unexpected difference, 2 a usage error, "
        "3 a framework is missing, or a worker died or timed out, 130 interrupted by Ctrl-C."
    ),
)

Device = Annotated[
    str,
    typer.Option(
        "--device",
        help="Device to run on: cpu, cuda[:N], mps, npu[:N], or auto for the best of each framework.",
        metavar="DEVICE",
    ),
]
Timeout = Annotated[
    float,
    typer.Option(
        "--timeout",
        help=(
            "Time limit for the whole run, in seconds; what is complete by then is reported. "
            "[default: none]"
        ),
        metavar="SECONDS",
        show_default=False,
    ),
]
RequestTimeout = Annotated[
    float,
    typer.Option(
        "--request-timeout",
        help="Time limit for one request to a worker, in seconds.",
        metavar="SECONDS",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print a JSON document and nothing else.")]
Case = Annotated[
    str | None,
    typer.Option(
        "--case",
        help="Case whose graphs are captured, such as 'grad(0)'. [default: the main case]",
        metavar="CASE",
    ),
]
Order = Annotated[
    int,
    typer.Option("--order", help="Compute nested gradients up to this order too.", metavar="N"),
]
ENGINES = "mindspore-graph, mindspore-tape, torch-tape or torch-graph"
Engines = Annotated[
    list[str] | None,
    typer.Option(
        "--engine",
        help=f"Engine to run: {ENGINES}. Repeat the option for more. [default: all]",
        metavar="ENGINE",
    ),
]
DrawnEngines = Annotated[
    list[str] | None,
    typer.Option(
        "--engine",
        help=(
            f"Engine whose graph to draw: {ENGINES}. Repeat the option for two side by side. "
            "[default: mindspore-graph]"
        ),
        metavar="ENGINE",
    ),
]
Formats = Annotated[
    list[str] | None,
    typer.Option(
        "--format",
        help=(
            "Files to write into DIR: svg, png, dot, mermaid, json, markdown or html; "
            "separate several with commas. [default: svg,json]"
        ),
        metavar="FORMAT[,…]",
    ),
]
Prove = Annotated[
    bool,
    typer.Option(
        "--prove",
        help="Prove the value of every op by recomputing it, even in graphs of over 200 op nodes.",
    ),
]
Fresh = Annotated[
    bool,
    typer.Option("--fresh", help="Run again instead of using stored results (see `cache`)."),
]
Language = Annotated[
    str,
    typer.Option(
        "--lang",
        help=(
            "Language of reports and divergences: en or zh (中文), before or after the command. "
            "[default: that of EXPLORER_LANG, else of the locale]"
        ),
        metavar="LANGUAGE",
        show_default=False,
    ),
]
NAME = typer.Argument(
    help="The name of a shipped scenario, or the path of a .py file.", metavar="NAME_OR_FILE"
)


@app.callback(invoke_without_command=True)
def explorer(context: typer.Context, lang: Language = "") -> None:
    """Print the help if no command is given."""
    del lang  # taken from the arguments before they come here: it may follow a command too
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
            "--out",
            help="Folder for pictures and reports; created if it does not exist.",
            metavar="DIR",
        ),
    ] = None,
    formats: Formats = None,
    as_json: AsJson = False,
    cases: Annotated[
        str | None,
        typer.Option(
            "--cases",
            help=(
                "Cases to run: all; structure (each API, position, form of weights and has_aux at "
                "least once); main (one case). [default: all; structure for a large scenario]"
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
        typer.Option(
            "--new", help="Write NAME.py, a commented scenario to start from.", metavar="NAME"
        ),
    ] = None,
    from_factories: Annotated[
        tuple[str, str] | None,
        typer.Option(
            "--from-factories",
            help=(
                "With --new: the functions that create MindSpore's net and PyTorch's, each as "
                "package.module:function."
            ),
            metavar="MINDSPORE TORCH",
        ),
    ] = None,
    inputs: Annotated[
        Path | None,
        typer.Option(
            "--inputs",
            help="With --from-factories: the inputs of these nets, as arrays by name.",
            metavar="FILE.npz",
        ),
    ] = None,
) -> int:
    """Compare the engines on a scenario, or list the scenarios.

    Runs the main case on every engine and captures its graphs, then runs the other cases. Without a
    name, lists the shipped scenarios.
    """
    if new is not None:
        if name is not None:
            raise UsageError(f"--new writes a file and runs no scenario; leave out {name!r}")
        from explorer.cli.new import write_new

        return write_new(new, from_factories, inputs)
    if from_factories or inputs:
        raise UsageError(
            "--from-factories and --inputs need --new NAME, which writes the scenario; add it"
        )
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
            "-o",
            "--output",
            help="File to write; its folder must exist.",
            metavar="FILE",
        ),
    ],
    engine: DrawnEngines = None,
    case: Case = None,
    view: Annotated[
        str,
        typer.Option(
            "--view",
            help="ladder (each backward op beside its forward op) or flow (top to bottom).",
            metavar="VIEW",
        ),
    ] = "ladder",
    depth: Annotated[
        str,
        typer.Option(
            "--depth",
            help="Collapse modules below depth N; all: show every op; fit: what fits on a screen.",
            metavar="N|all|fit",
        ),
    ] = "fit",
    stage: Annotated[
        str | None,
        typer.Option(
            "--stage",
            help="Compiler pass whose result to draw, of mindspore-graph. [default: the last]",
            metavar="PASS",
        ),
    ] = None,
    file_format: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="svg, png, dot, mermaid or json. [default: from FILE's ending]",
            metavar="FORMAT",
        ),
    ] = None,
    device: Device = "cpu",
    fresh: Fresh = False,
    timeout: Timeout = math.inf,
    request_timeout: RequestTimeout = 60.0,
) -> int:
    """Draw one gradient graph, or two side by side.

    Two graphs side by side need a file in SVG or PNG format.
    """
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
    left: Annotated[str, typer.Argument(help=f"An engine: {ENGINES}.", metavar="LEFT")],
    right: Annotated[str, typer.Argument(help="The engine to compare with it.", metavar="RIGHT")],
    case: Case = None,
    device: Device = "cpu",
    list_all: Annotated[
        bool, typer.Option("--all", help="Print every divergence instead of only the first.")
    ] = False,
    as_json: AsJson = False,
    prove: Prove = False,
    fresh: Fresh = False,
    timeout: Timeout = math.inf,
    request_timeout: RequestTimeout = 60.0,
) -> int:
    """Find where the gradient graphs of two engines first differ.

    Aligns the graphs of one case by the values of their nodes. Exits with 1 if they differ.
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
    name: Annotated[
        str | None, typer.Argument(help="The name of a study.", metavar="STUDY")
    ] = None,
    scenario: Annotated[
        str | None,
        typer.Argument(
            help="The name of a shipped scenario, or the path of a .py file.", metavar="SCENARIO"
        ),
    ] = None,
    device: Device = "cpu",
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="Folder for charts and the record; created if it does not exist.",
            metavar="DIR",
        ),
    ] = None,
    formats: Annotated[
        list[str] | None,
        typer.Option(
            "--format",
            help=(
                "Files to write into DIR: svg, png, json or markdown; separate several with commas. "
                "[default: svg,json]"
            ),
            metavar="FORMAT[,…]",
        ),
    ] = None,
    as_json: AsJson = False,
    fresh: Fresh = False,
    timeout: Timeout = math.inf,
    request_timeout: Annotated[
        float | None,
        typer.Option(
            "--request-timeout",
            help="Time limit for one measurement, in seconds. [default: set by the study]",
            metavar="SECONDS",
            show_default=False,
        ),
    ] = None,
) -> int:
    """Run a study, or list the studies.

    A study measures what a single gradient call cannot show, such as training steps or memory of the
    tape, on both frameworks, and prints findings and tables. Without a name, lists the studies.
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
        str | None, typer.Argument(help="Number of one claim, to show it in full.", metavar="ID")
    ] = None,
    topic: Annotated[
        str | None,
        typer.Option("--topic", help="Check only the claims of this topic.", metavar="TOPIC"),
    ] = None,
    verdict: Annotated[
        str | None,
        typer.Option("--verdict", help="Show only claims with this verdict.", metavar="VERDICT"),
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option(
            "--against",
            help="Board to compare with, as written by --json; reports changed verdicts.",
            metavar="FILE",
        ),
    ] = None,
    as_json: AsJson = False,
    as_markdown: Annotated[
        bool, typer.Option("--markdown", help="Print the table of claims as Markdown.")
    ] = False,
    as_html: Annotated[
        bool, typer.Option("--html", help="Print the table of claims as an HTML page.")
    ] = False,
    pages: Annotated[
        Path | None,
        typer.Option(
            "--pages",
            help="Write a Markdown page for each claim into this folder.",
            metavar="DIR",
        ),
    ] = None,
    fresh: Fresh = False,
    request_timeout: RequestTimeout = 300.0,
) -> int:
    """Check what the migration guides say.

    Tests each statement on the installed versions and prints a verdict with evidence. Exits with 1
    if a verdict differs from the board given with --against.
    """
    from explorer.cli.claims import ClaimsOptions, DocumentFormat, check_claims

    # They exclude each other; all are passed on, so that the error can name those given.
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
                'Names or patterns of shipped scenarios ("conv*", "real/*"), .py files, or folders '
                "of .py files. [default: all shipped scenarios except real/*]"
            ),
            metavar="WHAT",
            show_default=False,
        ),
    ] = None,
    studies: Annotated[
        bool, typer.Option("--studies", help="Also run every study that takes a scenario.")
    ] = False,
    count: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            help="Number of jobs that run in parallel. [default: one for every two cores]",
            metavar="N",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="Folder for sweep.html, sweep.json and junit.xml; created if it does not exist.",
            metavar="DIR",
        ),
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option(
            "--against",
            help="Recorded sweep.json to compare with; reports what has changed.",
            metavar="FILE",
        ),
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(
            "--scheduler",
            help="Run on a Dask cluster; the address of its scheduler.",
            metavar="tcp://HOST:PORT",
        ),
    ] = None,
    device: Device = "cpu",
    fresh: Fresh = False,
    as_json: AsJson = False,
    timeout: Annotated[
        float,
        typer.Option("--timeout", help="Time limit for each job, in seconds.", metavar="SECONDS"),
    ] = 900.0,
    request_timeout: Annotated[
        float | None,
        typer.Option(
            "--request-timeout",
            help=(
                "Time limit for one request to a worker, in seconds. "
                "[default: 60 for a scenario, set by the study for a study]"
            ),
            metavar="SECONDS",
            show_default=False,
        ),
    ] = None,
) -> int:
    """Run many scenarios and report on all of them.

    Continues after failures and resumes interrupted runs: stored results are not run again. Exits
    with 1 if a job shows an unexpected difference, or with --against, if a result has changed since
    the recorded sweep.
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
    cases: Annotated[int, typer.Option("--cases", help="Number of random nets.", metavar="N")] = 60,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the random nets.", metavar="S")] = 1,
    start: Annotated[
        int, typer.Option("--start", help="Number of the first net.", metavar="K")
    ] = 0,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="Folder for a scenario file of each finding; created if it does not exist.",
            metavar="DIR",
        ),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Search for wrong gradients in random nets.

    Runs each net on all engines and checks the gradients against central differences. A wrong
    gradient is reduced to a small scenario file and classified. Exits with 1 if one is found that is
    not known.
    """
    from explorer.cli.fuzz import FuzzOptions, run_fuzz

    options = FuzzOptions(cases=cases, seed=seed, start=start, out=out, as_json=as_json)
    return run_fuzz(options)


@app.command()
def embed(
    files: Annotated[
        list[Path],
        typer.Argument(help="Markdown files to fill.", metavar="FILE…", show_default=False),
    ],
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit with 1 if a block is out of date.")
    ] = False,
    fresh: Fresh = False,
) -> int:
    """Fill the blocks of Markdown files with pictures and tables.

    A block begins with <!-- explorer: gradient-graph dense_mse --> and ends with <!-- /explorer -->.
    Its kind is gradient-graph, gradient-diff, gradient-table or gradient-claim.
    """
    from explorer.cli.embed import embed

    return embed(files, check, fresh)


@app.command()
def doctor(as_json: AsJson = False) -> int:
    """Report what is installed and what is missing."""
    from explorer.cli.doctor import diagnose

    return diagnose(as_json)


@app.command()
def warm(
    only: Annotated[
        list[str] | None,
        typer.Argument(
            help=(
                "scenarios, studies, claims, or names of single scenarios and studies. "
                "[default: everything]"
            ),
            metavar="WHAT",
        ),
    ] = None,
) -> int:
    """Run everything that is shipped, and store the results.

    Later commands and the app use the stored results at once. What is stored already is not run
    again.
    """
    from explorer.cli.warm import fill_store

    return fill_store(tuple(only or ()))


@app.command()
def cache(
    clear: Annotated[bool, typer.Option("--clear", help="Delete all stored results.")] = False,
    as_json: AsJson = False,
) -> int:
    """Show what is stored, where, and its size; or clear it."""
    from explorer.cli.cache import show_store

    return show_store(clear, as_json)


@app.command(
    name="app",
    context_settings={"ignore_unknown_options": True},  # they are Streamlit's
    epilog=(
        "Other options are passed to Streamlit, such as --server.port=8600; "
        '"python -m streamlit run --help" lists them.'
    ),
)
def streamlit_app(
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            help=(
                "Your own scenarios, shown in addition to the shipped ones: .py files, or folders "
                "of .py files. The app opens with the first file, and runs a file again whenever "
                "it is saved."
            ),
            metavar="FILE_OR_FOLDER",
        ),
    ] = None,
) -> int:
    """Start the web app, on this machine only.

    Its address is http://127.0.0.1:8501.
    """
    from explorer.cli.app import start_app

    start_app(arguments or ())


def names() -> list[str]:
    """The names of all commands."""
    # Typer names a command after its function unless a name is given.
    commands = []
    for command in app.registered_commands:
        function = command.callback
        commands.append(command.name or (function.__name__ if function else ""))
    return commands
