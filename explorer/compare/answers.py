"""The answers to a case, and every comparison of two of them, with their measured noise."""

from collections.abc import Callable, Mapping
from itertools import combinations

from explorer.compare.results import (
    NOT_MEASURED,
    Comparison,
    Movements,
    Parties,
    agrees_with_oracle,
    compare,
    movements,
    refuted_elements,
)
from explorer.model.engines import ENGINES
from explorer.model.noise import ResultNoise
from explorer.model.report import ORACLE, Difference
from explorer.model.results import ANSWERED, OracleResult, Outcome, Result

NO_NOISE: Mapping[str, ResultNoise] = {}
"""The noise of engines whose noise was not measured."""

ORACLE_FRAMEWORK = "torch"
"""The framework whose net the oracle runs."""

Allowed = Callable[[Result, Result, tuple[Movements, Movements], frozenset[str]], str]
"""Why two answers that differ may do so, given their noise and what is drawn in both.

Empty where they may not.
"""


class Answers:
    """The answers of all parties of a case, and every comparison of two of them, made once.

    ``allowances`` are the reasons for which some of them may differ, and ``allowed`` those that do,
    two by two: their verdict is "close".
    """

    def __init__(
        self,
        results: Mapping[str, Result],
        oracle: OracleResult,
        noise: Mapping[str, ResultNoise],
        allowed: Allowed,
    ) -> None:
        self.results = results
        self.oracle = oracle
        self.fine = _with_outcome(results, "ok")
        self.raised = _with_outcome(results, "raised")
        self._noise = {name: movements(noise.get(name)) for name in self.fine}
        self._drawn = {name: _drawn(noise.get(name)) for name in self.fine}
        self.comparisons: dict[Parties, Comparison] = {}
        self.allowances: dict[str, None] = {}
        self.allowed: set[Parties] = set()
        for one, other in combinations(self.fine, 2):
            both = self._noise[one], self._noise[other]
            drawn = self._drawn[one] & self._drawn[other]
            compared = compare(self.fine[one], self.fine[other], (one, other), both, drawn)
            if compared.verdict == "differs":
                reason = allowed(self.fine[one], self.fine[other], both, drawn)
                if reason:
                    self.allowances[reason] = None
                    self.allowed.add((one, other))
                    compared = compared._replace(verdict="close")
            self.comparisons[one, other] = compared
        self.near_oracle: dict[str, bool] = {}
        for name, result in self.fine.items():
            drawn = self._drawn_beside_oracle(name)
            is_near = agrees_with_oracle(result, oracle, self.noise_of(name), drawn)
            if self.has_estimates and is_near is not None:
                self.near_oracle[name] = is_near

    def noise_of(self, name: str) -> Movements:
        """The noise of an engine; where it was not measured, that of another stands for it."""
        known = [self._noise[name], *self._noise.values()]
        return next((movement for movement in known if movement), NOT_MEASURED)

    def _drawn_beside_oracle(self, name: str) -> frozenset[str]:
        """The leaves that depend on random numbers in an engine and in PyTorch's net.

        The oracle cannot estimate them. Where PyTorch was not measured, what the engine draws
        stands for it.
        """
        for engine, drawn in self._drawn.items():
            if ENGINES[engine].framework == ORACLE_FRAMEWORK:
                return self._drawn[name] & drawn
        return self._drawn[name]

    def refuted(self, name: str) -> tuple[Difference, ...]:
        """Where the oracle refutes an engine's gradients, leaf by leaf; nowhere if it confirms them."""
        if self.near_oracle.get(name, True):
            return ()
        drawn = self._drawn_beside_oracle(name)
        return refuted_elements(name, self.fine[name], self.oracle, self.noise_of(name), drawn)

    def comparison(self, one: str, other: str) -> Comparison:
        """The comparison of two engines with a value, in whichever order they were compared."""
        found = self.comparisons.get((one, other))
        return found if found else self.comparisons[other, one]

    def drawn(self) -> tuple[str, ...]:
        """The leaves that depend on random numbers in every engine that answered."""
        if not self.fine:
            return ()
        everywhere = frozenset.intersection(*self._drawn.values())
        first = next(iter(self.fine.values()))
        return tuple(leaf.name for leaf in first.leaves if leaf.name in everywhere)

    @property
    def has_estimates(self) -> bool:
        """Whether the oracle has something to say."""
        return self.oracle.outcome == "ok" and len(self.oracle.estimates) > 0

    def disagreements(self) -> dict[Parties, bool]:
        """Of every two parties that answered, whether they disagree."""
        parties = [name for name, result in self.results.items() if result.outcome in ANSWERED]
        if self.has_estimates:
            parties.append(ORACLE)
        return {(one, other): self._disagree(one, other) for one, other in combinations(parties, 2)}

    def _disagree(self, one: str, other: str) -> bool:
        # The oracle is the last of the parties, so it is never the first of two. An error, which
        # has no value, does not contradict it.
        if other == ORACLE:
            return not self.near_oracle.get(one, True)
        if (one, other) in self.comparisons:
            return self.comparisons[one, other].verdict == "differs"
        return self.results[one].outcome != self.results[other].outcome


def _drawn(noise: ResultNoise | None) -> frozenset[str]:
    return frozenset(noise.drawn) if noise else frozenset()


def _with_outcome(results: Mapping[str, Result], outcome: Outcome) -> dict[str, Result]:
    return {name: result for name, result in results.items() if result.outcome == outcome}
