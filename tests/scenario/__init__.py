"""Tests of the scenario contract: finding, loading, cases, devices, settling."""
