"""One rank of two: ``python rank.py MODULE FOLDER`` writes what the module's rank_figures() are."""

import sys

from explorer.topics.data_parallel.processes import write_answer
from explorer.workers.garbage_collection import imported, paused

if __name__ == "__main__":
    module, folder = sys.argv[1:]
    with paused():  # the rank of PyTorch imports its compiler too, once it needs it
        write_answer(folder, imported(module).rank_figures())
