"""One rank of two: ``python rank.py MODULE:FUNCTION FOLDER`` writes what the function returns."""

import sys

from explorer.topics.data_parallel.processes import write_answer
from explorer.workers.garbage_collection import imported, paused

if __name__ == "__main__":
    figures, folder = sys.argv[1:]
    module, _, function = figures.partition(":")
    with paused():  # the rank of PyTorch imports its compiler too, once it needs it
        write_answer(folder, getattr(imported(module), function)())
