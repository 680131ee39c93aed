"""The table of commands.

What a command needs beyond parsing is imported when it runs. That keeps ``--help`` fast: it
loads neither numpy nor rich, let alone a framework.
"""

import importlib
import inspect
import typing
from collections.abc import Callable
from typing import Any

import msgspec
import typer

from explorer.cli import options
from explorer.cli.help_pages import HelpfulCommand, HelpfulGroup
from explorer.text.language import later


class Command(msgspec.Struct, frozen=True):
    """A command: its options are a record, which the function ``runs`` takes.

    ``runs`` is "module:function" in explorer.cli; ``summary`` and ``details`` are its help. It takes
    unknown options where it ``passes_unknown`` ones on, and all behind its first argument where it
    ``passes_rest``.
    """

    name: str
    options: type[msgspec.Struct]
    runs: str
    summary: str
    details: str = ""
    epilog: str = ""
    passes_unknown: bool = False
    passes_rest: bool = False

    @property
    def help(self) -> str:
        """The summary and the details."""
        return "\n\n".join(filter(None, (self.summary, self.details)))


COMMANDS = (
    Command(
        "scenario",
        options.ScenarioOptions,
        "listings:scenario",
        later("Compare the engines on a scenario, or list the scenarios."),
        later(
            "Runs the main case on every engine and captures its graphs, then runs the other"
            " cases. The main case differentiates with respect to all floating inputs and all"
            " weights, or as nearly as CASES of the file allows. Without a name, lists the"
            " shipped scenarios."
        ),
    ),
    Command(
        "graph",
        options.GraphOptions,
        "graph:write_graph",
        later("Draw one gradient graph, or two side by side."),
        later(
            "Two graphs side by side need a file in SVG or PNG format. In the place of a scenario a"
            " trace may be given, which explorer.record() has written."
        ),
    ),
    Command(
        "diff",
        options.DiffOptions,
        "traces:diff",
        later("Find where the gradient graphs of two engines first differ."),
        later(
            "Aligns the graphs of one case by the values of their nodes. Exits with 1 if they"
            " differ. Of steps that explorer.record() has recorded: diff A.trace B.trace, or"
            " diff A.trace NAME_OR_FILE ENGINE. Of two trainings: diff A.training B.training finds the first"
            " step at which they differ, and the rule that differs."
        ),
    ),
    Command(
        "mend",
        options.MendOptions,
        "mend:mend",
        later("Write the patch that makes two nets give the same, proven by running it."),
        later(
            "Changes of the port's file are tried in a copy, the likeliest by the causes of `diff` first. A"
            " patch is shown where every case then matches and no divergence is left; `git apply` takes it."
            " Exits with 0 if there is one, or nothing to mend, and with 1 if none was found."
        ),
    ),
    Command(
        "show",
        options.ShowOptions,
        "traces:show",
        later("Print what was recorded of a step or of a training."),
        later(
            "FILE is one that explorer.record(), explorer.recorder(), `run` or `train` has written."
        ),
    ),
    Command(
        "train",
        options.TrainOptions,
        "train:train",
        later("Train the nets of a scenario, and record each step."),
        later(
            "Both nets start from the same weights. The scenario's file may define"
            " torch_optimizer(net), mindspore_optimizer(net), batches(), scalers, schedules and"
            " CLIP_NORM; without them each step is gradient descent on the inputs. Prints the losses and"
            " what differs first, and writes a file for each engine. Exits with 1 if the trainings"
            " differ, and with 3 if one ended early."
        ),
    ),
    Command(
        "run",
        options.RunOptions,
        "run:run",
        later("Run a training program, and record steps of it."),
        later(
            "The program is not changed and computes what it computes otherwise. A step begins with"
            " its forward and ends with an optimizer's update. Exits with the program's exit code."
        ),
        passes_rest=True,
    ),
    Command(
        "study",
        options.StudyOptions,
        "listings:study",
        later("Run a study, or list the studies."),
        later(
            "A study measures what a single gradient call cannot show, such as training steps or"
            " memory of the tape, on both frameworks, and prints findings and tables. Without a"
            " name, lists the studies."
        ),
    ),
    Command(
        "claims",
        options.ClaimsOptions,
        "claims:check_claims",
        later("Check what the migration guides say."),
        later(
            "Tests each statement on the installed versions and prints a verdict with evidence."
            " Exits with 1 if a verdict differs from the board given with --against."
        ),
    ),
    Command(
        "correspond",
        options.CorrespondOptions,
        "correspond:correspond",
        later("Show what a function or layer is in the other framework."),
        later(
            "Prints which argument is which, how its value is translated, what differs by default,"
            " and what to write to get the same. Without a name, lists all."
        ),
    ),
    Command(
        "sweep",
        options.SweepOptions,
        "sweep:run_sweep",
        later("Run many scenarios and report on all of them."),
        later(
            "Continues after failures and resumes interrupted runs: stored results are not run"
            " again. Exits with 1 if a job shows an unexpected difference, or with --against, if"
            " a result has changed since the recorded sweep."
        ),
    ),
    Command(
        "fuzz",
        options.FuzzOptions,
        "fuzz:run_fuzz",
        later("Search for wrong gradients in random nets."),
        later(
            "Runs each net on all engines and checks the gradients against central differences. A"
            " wrong gradient is reduced to a small scenario file and classified. Exits with 1 if"
            " one is found that is not known."
        ),
    ),
    Command(
        "embed",
        options.EmbedOptions,
        "embed:embed",
        later("Fill the blocks of Markdown files with pictures and tables."),
        later(
            "A block begins with <!-- explorer: gradient-graph dense_mse --> and ends with"
            " <!-- /explorer -->. Its kind is gradient-graph, gradient-diff, gradient-table or"
            " gradient-claim."
        ),
    ),
    Command(
        "doctor",
        options.DoctorOptions,
        "installation:diagnose",
        later("Report what is installed and what is missing."),
    ),
    Command(
        "env",
        options.EnvOptions,
        "environments:manage",
        later("List, add, remove or check the environments that frameworks are run in."),
        later(
            "An environment is a Python in which a framework is installed; nothing is ever written"
            " into it. An engine is run in one by torch-tape@NAME. A framework that is not"
            " installed beside the explorer is run in the first environment that has it."
        ),
    ),
    Command(
        "warm",
        options.WarmOptions,
        "installation:fill_store",
        later("Run everything that is shipped, and store the results."),
        later(
            "Later commands and the app use the stored results at once. What is stored already is"
            " not run again."
        ),
    ),
    Command(
        "cache",
        options.CacheOptions,
        "installation:show_store",
        later("Show what is stored, where, and its size; or clear it."),
    ),
    Command(
        "app",
        options.AppOptions,
        "app:start_app",
        later("Start the web app, on this machine only."),
        later("Its address is http://127.0.0.1:8501."),
        epilog=later(
            "Other options are passed to Streamlit, such as --server.port=8600;"
            ' "python -m streamlit run --help" lists them.'
        ),
        passes_unknown=True,
    ),
)


def names() -> list[str]:
    """The names of all commands."""
    return [command.name for command in COMMANDS]


app = typer.Typer(
    cls=HelpfulGroup,
    add_completion=False,
    rich_markup_mode=None,  # with it, the help would load rich and frame every line
    pretty_exceptions_enable=False,  # errors are printed by entry.py
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help=later(
        "Compare the gradients that MindSpore and PyTorch compute for the same net, in tape and in"
        " graph style, and find where they differ."
    ),
    epilog=later(
        "Exit codes: 0 everything as expected, 1 an unexpected difference, 2 a usage error, 3 a"
        " framework is missing, or a worker died or timed out, 130 interrupted by Ctrl-C."
    ),
)


@app.callback(invoke_without_command=True)
def explorer(context: typer.Context, lang: options.Language = "") -> None:
    """Print the help if no command is given."""
    del lang  # entry.py has read it: it may also follow the command
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def _callback(command: Command) -> Callable[..., int]:
    """A function with a parameter for each option, as Typer reads them."""

    def run(**values: Any) -> int:
        module, _, function = command.runs.partition(":")
        runs = getattr(importlib.import_module(f"explorer.cli.{module}"), function)
        exit_code: int = runs(command.options(**values))
        return exit_code

    types = typing.get_type_hints(command.options, include_extras=True)
    parameters: list[inspect.Parameter] = []
    for field in msgspec.structs.fields(command.options):
        default = inspect.Parameter.empty if field.required else field.default
        parameters.append(
            inspect.Parameter(
                field.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=default,
                annotation=types[field.name],
            )
        )
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return run


for _command in COMMANDS:
    app.command(
        _command.name,
        cls=HelpfulCommand,
        help=_command.help,
        epilog=_command.epilog or None,
        context_settings={
            "ignore_unknown_options": _command.passes_unknown or _command.passes_rest,
            "allow_interspersed_args": not _command.passes_rest,
        },
    )(_callback(_command))
