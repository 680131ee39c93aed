"""The pages of reference that are made from the code: commands, studies, tolerances, schemas."""

import io
from collections.abc import Iterable, Iterator, Mapping
from contextlib import redirect_stdout

from explorer.blocks.markdown import escape, markdown
from explorer.blocks.records import Table, columns
from explorer.cli import commands
from explorer.cli.entry import run
from explorer.compare.graphs import sameness
from explorer.compare.graphs.sameness import CLEAR, NEAR
from explorer.report.claims.wording import verdict_name
from explorer.report.json import encode
from explorer.report.schemas import DOCUMENTS, schema
from explorer.topics import STUDIES, study_topic
from explorer.words.claims import MEANINGS


def pages() -> Iterator[tuple[str, str]]:
    """Each page by its path."""
    yield "reference/commands.md", _commands()
    yield "reference/studies.md", _studies()
    yield "reference/tolerances.md", _tolerances()
    yield "reference/schemas.md", _schemas()
    for kind in DOCUMENTS:
        yield f"reference/{kind}.schema.json", encode(schema(kind)).decode()


def _commands() -> str:
    parts = [
        "# Options of the commands",
        "What `python -m explorer COMMAND --help` prints. What the commands do is on the page of"
        " the [command line](command-line.md).",
    ]
    for name in commands.names():
        # What the app is started with is handed on to Streamlit, its --help too.
        shown = commands.COMMANDS[-1].help if name == "app" else _printed([name, "--help"])
        parts += [f"## {name}", f"```text\n{shown}\n```"]
    return "\n\n".join(parts)


def _printed(arguments: list[str]) -> str:
    text = io.StringIO()
    with redirect_stdout(text):
        run(["--lang", "en", *arguments])
    return text.getvalue().rstrip()


def _studies() -> str:
    parts = [
        "# Studies",
        "Each study answers one question by measurements on both frameworks:\n"
        "`python -m explorer study NAME`.",
    ]
    for name in STUDIES:
        topic = study_topic(name)
        on = "It has nets of its own."
        if topic.default_scenario:
            on = f"It takes a scenario, by default `{topic.default_scenario}`."
        measured = [
            (question.name, ", ".join(question.asks)) for question in topic.questions.values()
        ]
        parts += [
            f"## {name}",
            f"*{escape(topic.title)}.* {escape(topic.question)} {on}",
            f"One measurement may take {topic.seconds:.0f} seconds. What it measures, and in what:",
            _table(("measurement", "in"), measured),
        ]
    return "\n\n".join(parts)


def _tolerances() -> str:
    verdicts = [(verdict_name(verdict), meaning) for verdict, meaning in MEANINGS.items()]
    return "\n\n".join(
        (
            "# Verdicts and tolerances",
            (
                "Two answers *match* where structure, shapes and dtypes are the same and every element is"
                f" within {NEAR:g} times the noise of both, and are *close* within {CLEAR:g} times. The"
                " noise is how far rounding moves an element, measured by running the nets"
                " again on inputs moved by a unit of rounding, with every operator's result rounded"
                " to a neighbour at random. A report also says whether they are within the frameworks'"
                " own tables; that does not decide."
            ),
            "## PyTorch's table (`torch.testing.assert_close`)",
            _table_of(sameness.TORCH_TABLE),
            "## MindSpore's table",
            _table_of(sameness.MINDSPORE_TABLE),
            "## Verdicts on claims",
            _table(("verdict", "meaning"), verdicts),
        )
    )


def _table(names: Iterable[str], rows: Iterable[tuple[str, ...]]) -> str:
    return markdown([Table(columns(names), tuple(rows))])


def _table_of(by_dtype: Mapping[str, tuple[float, float]]) -> str:
    rows = [(dtype, f"{rtol:g}", f"{atol:g}") for dtype, (rtol, atol) in by_dtype.items()]
    return _table(("dtype", "rtol", "atol"), rows)


def _schemas() -> str:
    parts = [
        "# JSON documents",
        "What `--json` prints and `--format json` writes, as JSON Schema (draft 2020-12).",
    ]
    for kind in DOCUMENTS:
        made = schema(kind)
        parts.append(f"- [{kind}]({kind}.schema.json), `{made['$id']}`")
    return "\n\n".join((*parts[:2], "\n".join(parts[2:])))
