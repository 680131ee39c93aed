"""Tests of the blocks and of what lays them out."""
