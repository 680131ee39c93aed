"""Where the nets are that were written for the tests: mistakes, and what no shipped scenario has."""

from pathlib import Path

NETS = Path(__file__).resolve().parents[1] / "nets"
