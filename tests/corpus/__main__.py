"""Writes the corpus anew, or compares it: ``python -m tests.corpus [NAME …] [--compare]``."""

import argparse
import sys

from explorer.exploration.explore import explore
from explorer.scenario.load import load
from explorer.scenario.selection import Selection
from explorer.workers.workers import Workers
from tests.corpus import folder


def main() -> int:
    """Explores the named scenarios, or all of them; returns 1 where the corpus differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.corpus", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="scenarios; all by default")
    parser.add_argument("--compare", action="store_true", help="print a diff, and write nothing")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.names if name not in folder.SCENARIOS]
    if unknown:
        parser.error(
            f"no scenario is called {unknown[0]!r}; allowed: {', '.join(folder.SCENARIOS)}"
        )
    others = folder.other_versions()
    # One scenario of other versions would make a corpus of two kinds.
    if others and (arguments.compare or arguments.names):
        print(f"{others}; install those, or record all of it with `make corpus`", file=sys.stderr)
        return 1

    found = False
    with Workers() as workers:
        for name in arguments.names or folder.SCENARIOS:
            selection: Selection = "main" if name in folder.MODELLED else "all"
            report = explore(load(folder.SCENARIOS[name]), workers, selection=selection)
            if arguments.compare:
                diff = folder.differences(report)
                found = found or bool(diff)
                print(diff, end="", flush=True)
            else:
                folder.write(report)
            print(name, file=sys.stderr, flush=True)
    if not (arguments.compare or arguments.names):
        folder.remove_others({path.stem for path in folder.SCENARIOS.values()})
        folder.write_versions()
    return int(found)


if __name__ == "__main__":
    sys.exit(main())
