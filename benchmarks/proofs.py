"""How many values of op nodes are proven, and what that takes.

Of each scenario the graphs of the case that asks for most, on all four engines; the workers start once.
What a proof takes are the seconds of a capture with it, less those of one without.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator

from benchmarks._figures import Figure, absent
from benchmarks._presenting import detail, parser, present
from explorer.model.engines import ENGINES, STANDARD
from explorer.model.errors import ExplorerError
from explorer.model.requests import CaseRequest, ProofScope
from explorer.model.results import Captured
from explorer.scenario.common_start import settle
from explorer.scenario.find import find, names
from explorer.scenario.load import load
from explorer.scenario.matrix import cases_of
from explorer.scenario.selection import main_case
from explorer.text.failures import typed
from explorer.words.proofs import proofs
from explorer.workers.protocol import Lost
from explorer.workers.workers import Workers

NAMES = ("dense_mse", "attention_block", "batch_norm_train", "lstm", "in_place_update", "kinks")
"""The scenarios where none are named."""


def requests(name: str, workers: Workers) -> Iterator[CaseRequest]:
    """The captures of a scenario's main case, one an engine."""
    scenario = load(find(name))
    engines = tuple(key for key in STANDARD if scenario.defines(ENGINES[key].framework))
    nets = settle(scenario, workers, engines, dict.fromkeys(engines, "cpu"))
    cases = cases_of(scenario, bool(nets.trainable))
    case = main_case(scenario, nets.has_auxiliary, bool(nets.trainable), cases)
    for net in nets.requests.values():
        yield CaseRequest(net, case)


def capture(request: CaseRequest, workers: Workers, prove: ProofScope) -> tuple[Captured, float]:
    """A capture, and the seconds that it took."""
    engine = ENGINES[request.net.engine]
    asked = CaseRequest(request.net, request.case, prove=prove)
    start = time.perf_counter()
    reply = workers.call(engine.captures_in, f"{engine.module}:capture", asked, Captured)
    seconds = time.perf_counter() - start
    if isinstance(reply, Lost):
        raise ExplorerError(typed(reply.failure))
    return reply, seconds


def counted(name: str, request: CaseRequest, workers: Workers) -> tuple[Counter[str], float]:
    """The op nodes of one capture, those proven and refuted, reasons of others; seconds of the proof."""
    engine = request.net.engine
    capture(request, workers, "all")  # what the framework loads once is no cost of a proof
    captured, proven_in = capture(request, workers, "all")
    _, plain_in = capture(request, workers, "none")
    if not captured.graphs:
        detail(f"{name} {engine}: no graph")
        return Counter(), 0.0
    counts = proofs(captured.graphs[-1])
    refuted = len(counts.refuted)
    detail(f"{name} {engine}: {counts.proven} of {counts.op_nodes} proven, {refuted} refuted")
    for reason, number in counts.unproven.items():
        detail(f"    {number} unproven: {reason}")
    found = Counter(op=counts.op_nodes, proven=counts.proven, refuted=refuted)
    return found, proven_in - plain_in


def measure(chosen: list[str]) -> Iterator[Figure]:
    """The share that is proven and the seconds of the proofs, a scenario after the other, and in all."""
    totals: Counter[str] = Counter()
    with Workers() as workers:
        for name in chosen:
            of_scenario: Counter[str] = Counter()
            spent = 0.0
            try:
                for request in requests(name, workers):
                    found, seconds = counted(name, request, workers)
                    of_scenario.update(found)
                    spent += seconds
            except ExplorerError as error:
                yield absent(name, "share", str(error).splitlines()[0])
                continue
            totals.update(of_scenario)
            yield share(name, of_scenario)
            yield Figure(name=f"{name}: proofs", unit="s", basis="wall", rounds=(spent,))
    yield share("in all", totals)


def share(name: str, counts: Counter[str]) -> Figure:
    """The share of op nodes that is proven."""
    proven, nodes = counts["proven"], counts["op"]
    return Figure(
        name=f"{name}: op nodes proven",
        unit="%",
        basis="share",
        rounds=(100 * proven / max(1, nodes),),
        wanted="high",
        note=f"{proven} of {nodes}, {counts['refuted']} refuted",
    )


def options() -> argparse.Namespace:
    """What was typed."""
    known = parser(__doc__)
    known.add_argument("names", nargs="*", default=NAMES, help="scenarios or files")
    known.add_argument("--all", action="store_true", help="every scenario of scenarios/")
    return known.parse_args()


if __name__ == "__main__":
    given = options()
    sys.exit(present(measure(list(names()) if given.all else given.names), given.figures))
