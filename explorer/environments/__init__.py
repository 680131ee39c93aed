"""Environments: any Python as the home of a framework, with nothing ever written into it."""
