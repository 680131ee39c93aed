"""Requests to the engines of each framework."""

import pytest

from explorer.workers.workers import Workers
from tests.support.engine_requests import EngineRequests


@pytest.fixture(scope="module")
def torch(workers: Workers) -> EngineRequests:
    return EngineRequests(workers, "torch")


@pytest.fixture(scope="module")
def mindspore(workers: Workers) -> EngineRequests:
    return EngineRequests(workers, "mindspore")


@pytest.fixture(scope="module")
def jax(workers: Workers) -> EngineRequests:
    return EngineRequests(workers, "jax")
