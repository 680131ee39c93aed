"""The study of higher orders: gradients of gradients in every engine, Hessians and Jacobians, and
where derivatives end.
"""

from pathlib import Path

from explorer.model.engines import ENGINES, Kind
from explorer.model.measurement import Measurement
from explorer.topics.higher_order.given import CLOSED, LARGEST, OPERATORS, TRANSFORMING, TWICE
from explorer.topics.higher_order.telling import tell
from explorer.topics.question import Target
from explorer.topics.study_records import Study

HERE = "explorer.topics.higher_order"
WAVE = str(Path(__file__).with_name("wave.py"))


def orders(engine: str, scenario: str = WAVE, device: str = "cpu") -> Measurement:
    """Orders 1 to 5 of a scenario by one engine."""
    framework = ENGINES[engine].framework
    return Measurement(
        name=f"higher-order.orders.{_named(scenario)}.{engine}",
        kind=framework,
        target=f"{HERE}.in_{framework}:orders",
        scenario=scenario,
        device=device,
        options={"engine": engine, "timed": scenario == WAVE, "largest": LARGEST},
    )


def reference(scenario: str = WAVE) -> Measurement:
    """Orders 1 to 5 of a scenario by torch.func in float64."""
    return Measurement(
        name=f"higher-order.orders.{_named(scenario)}.reference",
        kind="torch",
        target=f"{HERE}.in_torch:reference",
        scenario=scenario,
    )


def nodes(engine: str, scenario: str = WAVE) -> Measurement:
    """The operators that one engine's gradient has at orders 1 to 5."""
    kind: Kind = ENGINES[engine].captures_in
    return Measurement(
        name=f"higher-order.nodes.{_named(scenario)}.{engine}",
        kind=kind,
        target=f"{HERE}.graphs:nodes",
        scenario=scenario,
        options={"engine": engine, "largest": LARGEST},
    )


def transformations(net: str, engine: str, device: str = "cpu") -> Measurement:
    """Hessians, Jacobians and products of a net: ``engine`` is "mindspore-graph", "mindspore-tape"
    or "torch-func".
    """
    framework, _, style = engine.partition("-")
    return Measurement(
        name=f"higher-order.transformations, {net}.{engine}",
        kind="torch" if framework == "torch" else "mindspore",
        target=f"{HERE}.in_{framework}:transformations",
        device=device,
        options={"net": net, "style": style},
    )


def operators(group: str, engine: str) -> Measurement:
    """The second derivatives of a group of operators, by one of TWICE."""
    framework, _, style = engine.partition("-")
    return Measurement(
        name=f"higher-order.operators, {group}.{engine}",
        kind="torch" if framework == "torch" else "mindspore",
        target=f"{HERE}.in_{framework}_operators:operators",
        options={"group": group, "style": style},
    )


def _named(scenario: str) -> str:
    return Path(scenario).stem


def measurements(target: Target) -> tuple[Measurement, ...]:
    """The built-in wave and the scenario at every order, the transformations, and every group of
    operators.
    """
    scenarios = tuple(dict.fromkeys((WAVE, target.scenario)))
    return (
        *(orders(engine, each, target.device) for each in scenarios for engine in ENGINES),
        *(reference(each) for each in scenarios),
        *(nodes(engine, each) for each in scenarios for engine in ENGINES),
        *(transformations(net, engine, target.device) for net in CLOSED for engine in TRANSFORMING),
        *(operators(group, engine) for group in OPERATORS for engine in TWICE),
    )


STUDY = Study(
    name="higher-order",
    title="Higher orders: gradients of gradients",
    question="How far can each engine differentiate again, at what cost, and where does it stop or go wrong?",
    measurements=measurements,
    tell=tell,
    default_scenario="polynomial",
)
