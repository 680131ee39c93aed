"""The first look at a scenario's nets before a study measures them: one that raises is refused."""

from collections.abc import Mapping

from explorer.exploration.about import STARTING
from explorer.model.engines import FRAMEWORKS, Framework
from explorer.model.requests import Description
from explorer.scenario.common_start import first_look, refuse_raised
from explorer.scenario.devices import CPU
from explorer.scenario.reader import read
from explorer.workers.queue import Job, Progress, carry_out
from explorer.workers.workers import Workers


def refuse_raising_nets(
    file: str, devices: Mapping[Framework, str], workers: Workers, progress: Progress
) -> None:
    """Run the forward of each net in a scenario's file once; raises ScenarioError as a comparison does.

    A framework that is missing, or whose worker is lost, says nothing here: its measurements will.
    """
    scenario = read(file)
    jobs = []
    for framework in filter(scenario.defines, reversed(FRAMEWORKS)):
        target, request = first_look(scenario.path, framework, devices.get(framework, CPU))
        jobs.append(Job(framework, STARTING, (framework,), target, request, Description))
    for framework, outcome in carry_out(jobs, workers, progress).items():
        if isinstance(outcome, Description):
            refuse_raised(scenario, framework, outcome)
