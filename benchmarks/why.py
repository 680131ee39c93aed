"""What it costs to say why two nets part, and what else differs behind that.

Compares nets as ``diff`` does, with workers that are started for it, and the same without any trial and
without going on as if what was found were mended. Nets are those of planted mistakes, and some without.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks._figures import Figure
from benchmarks._presenting import parser, present
from benchmarks._records import ROOT
from explorer.folders import STORE
from explorer.scenario.find import find
from tests.planted.library import LIBRARY
from tests.planted.mistake import plant_all

TAPES = ("torch-tape", "mindspore-tape")

MISTAKES = (
    "causal_attention-approximate_gelu",
    "causal_attention-softmax_over_queries",
    "gru_by_hand-update_gate_first",
    "inverted_residual-residual_left_out",
    "lstm_by_hand-memory_starts_at_one",
    "padded_classifier-same_padding",
    "upsampling_unet-nearest_for_bilinear",
    "velocity_diffusion-silu_left_out",
)

CLEAN = ("dense_mse", "attention_block", "lstm", "bottleneck")

BAR_DIFFERENT, BAR_EQUAL = 1.3, 1.05
"""The most that a comparison may take with the reasons, where without them it takes 1."""

ROUNDS = 3

COMMAND = """
import sys
from explorer.cli.entry import run
sys.exit(run(sys.argv[1:]))
"""

WITHOUT = """
from explorer.compare.causes.explanations import Explanations
from explorer.exploration.stages import Exploration
Explanations.trials = lambda self: {}
Exploration.look_up_values = Exploration.mend = lambda self: None
"""
"""Leaves out all trials, and the runs that go on as if what was found were mended."""


def seconds(path: Path, why: bool) -> float:
    """The seconds of one `diff` in the shell, with workers and a store of its own."""
    program = COMMAND if why else WITHOUT + COMMAND
    command = [sys.executable, "-c", program, "diff", str(path), *TAPES]
    with tempfile.TemporaryDirectory() as store:
        own = {**os.environ, STORE: store}
        start = time.perf_counter()
        done = subprocess.run(command, cwd=ROOT, env=own, capture_output=True, check=False)
        taken = time.perf_counter() - start
    if done.returncode > 1:
        raise SystemExit(done.stderr.decode())
    return taken


def ratio(path: Path) -> float:
    """How much longer it takes with the reasons."""
    without = seconds(path, why=False)
    return seconds(path, why=True) / without


def measure(rounds: int) -> Iterator[Figure]:
    """The ratios of nets that differ, and of nets that do not, round by round their medians."""
    with tempfile.TemporaryDirectory() as folder:
        different = [plant_all((LIBRARY[name],), Path(folder))[0].path for name in MISTAKES]
        equal = [find(name) for name in CLEAN]
        for name, paths, bar in (
            ("diff with the reasons, beside without: nets that differ", different, BAR_DIFFERENT),
            ("diff with the reasons, beside without: nets that agree", equal, BAR_EQUAL),
        ):
            seconds(paths[0], why=True)  # the first one reads files that the others find read
            medians = [statistics.median(map(ratio, paths)) for _ in range(rounds)]
            yield Figure(
                name=name,
                unit="×",
                basis="ratio of wall times",
                rounds=tuple(medians),
                bar=bar,
                note=f"the median of {len(paths)} nets",
            )


def options() -> argparse.Namespace:
    """What was typed."""
    known = parser(__doc__)
    known.add_argument("--rounds", type=int, default=ROUNDS, help="how often each is compared")
    return known.parse_args()


if __name__ == "__main__":
    given = options()
    sys.exit(present(measure(given.rounds), given.figures))
