"""What a benchmark does with its figures: prints its part of the table, or hands them to the run."""

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

import msgspec

from benchmarks._figures import Figure
from benchmarks._table import table
from explorer.model.engines import ENGINES, plain
from explorer.model.errors import ExplorerError


def parser(description: str | None) -> argparse.ArgumentParser:
    """The options that every benchmark has; ``description`` is its docstring."""
    text = argparse.RawDescriptionHelpFormatter
    options = argparse.ArgumentParser(description=description, formatter_class=text)
    options.add_argument(
        "--figures",
        type=Path,
        metavar="FILE",
        help="add the figures to a file, a line of JSON each",
    )
    return options


def add_engines(options: argparse.ArgumentParser, default: tuple[str, ...]) -> None:
    """Let two engines be named, as ``diff`` names them."""
    options.add_argument(
        "--engines",
        nargs=2,
        type=_engine,
        default=default,
        metavar=("LEFT", "RIGHT"),
        help=f"the two that are compared; {' and '.join(default)} without",
    )


def _engine(name: str) -> str:
    if plain(name) not in ENGINES:
        raise argparse.ArgumentTypeError(f"no engine {name}; there are: {', '.join(ENGINES)}")
    return name


def present(figures: Iterable[Figure], file: Path | None) -> int:
    """Print the table of figures, or add each to a file as soon as it is there; the exit status.

    It is 1 where the table has a missed bar, and 2 where what was asked for cannot be measured. A
    run, which reads the file, judges bars itself, and takes any other status than 0 for a benchmark
    that broke.
    """
    benchmark = Path(sys.argv[0]).stem
    measured = []
    try:
        for figure in figures:
            whole = msgspec.structs.replace(figure, benchmark=benchmark)
            measured.append(whole)
            if file:
                _add(whole, file)
    except ExplorerError as error:
        detail(str(error))
        return 2
    if file:
        return 0
    print(table(measured))
    return int(any(figure.verdict == "missed" for figure in measured))


def _add(figure: Figure, file: Path) -> None:
    with file.open("ab") as lines:
        lines.write(msgspec.json.encode(figure) + b"\n")


def detail(text: str) -> None:
    """Say something that is no figure: on stderr, which a run keeps in a file."""
    print(text, file=sys.stderr, flush=True)
