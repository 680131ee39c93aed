"""Tests of the main job and of what is said of an installation."""
