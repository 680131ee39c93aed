"""Tests of two graphs side by side, as the data that a browser shows."""
