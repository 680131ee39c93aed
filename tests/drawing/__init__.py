"""Tests of drawings and charts."""
