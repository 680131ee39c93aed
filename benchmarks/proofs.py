"""Prints how many values of op nodes are proven: python benchmarks/proofs.py [NAME_OR_FILE ...]

Of every shipped scenario in scenarios/, or of those named, the graphs of the case that asks for
most, on all four engines; the workers start once. Beside the counts it prints what the proof costs:
the seconds of a capture with it, less those of one without.
"""

import sys
import time
from collections import Counter
from collections.abc import Iterator

from explorer.model.engines import ENGINES
from explorer.model.errors import ExplorerError
from explorer.model.requests import CaseRequest, ProofScope
from explorer.model.results import Captured
from explorer.report.proofs import proofs
from explorer.scenario.find import find, names
from explorer.scenario.load import load
from explorer.scenario.matrix import cases_of
from explorer.scenario.selection import main_case
from explorer.scenario.settling import settle
from explorer.workers.protocol import Lost
from explorer.workers.workers import Workers


def requests(name: str, workers: Workers) -> Iterator[CaseRequest]:
    """The captures of a scenario's main case, one an engine."""
    scenario = load(find(name))
    engines = tuple(key for key, value in ENGINES.items() if scenario.defines(value.framework))
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
        raise ExplorerError(reply.failure.text)
    return reply, seconds


def row(name: str, request: CaseRequest, workers: Workers, reasons: Counter[str]) -> Counter[str]:
    """Print the counts of one capture; ``reasons`` grow by those of unproven nodes."""
    engine = request.net.engine
    capture(request, workers, "all")  # what the framework loads once is no cost of a proof
    captured, proven_in = capture(request, workers, "all")
    _, plain_in = capture(request, workers, "none")
    if not captured.graphs:
        print(f"{name:28} {engine:16} no graph")
        return Counter()
    counts = proofs(captured.graphs[-1])
    reasons.update(counts.unproven)
    unproven = sum(counts.unproven.values())
    print(
        f"{name:28} {engine:16} {counts.op_nodes:5} {counts.proven:5} {len(counts.refuted):5}"
        f" {unproven:5} {proven_in - plain_in:8.2f}  {'; '.join(counts.unproven)}",
        flush=True,
    )
    return Counter(op=counts.op_nodes, proven=counts.proven, refuted=len(counts.refuted))


def rows(name: str, workers: Workers, reasons: Counter[str]) -> Counter[str]:
    """Print the counts of a scenario on all engines; the sum of them."""
    totals: Counter[str] = Counter()
    try:
        for request in requests(name, workers):
            totals += row(name, request, workers, reasons)
    except ExplorerError as error:
        print(f"{name:28} {error}")
    return totals


def main() -> None:
    """Print the table, and the share that is proven in all."""
    totals: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    print(f"{'scenario':28} {'engine':16}   ops proven refut unprov  seconds  reasons")
    with Workers() as workers:
        for name in sys.argv[1:] or names():
            totals += rows(name, workers, reasons)
    share = totals["proven"] / max(1, totals["op"])
    print(f"{totals['proven']} of {totals['op']} op nodes proven ({share:.1%})", end="")
    print(f", {totals['refuted']} refuted")
    for reason, number in reasons.most_common():
        print(f"  {number} unproven: {reason}")


if __name__ == "__main__":
    main()
