"""The Streamlit app: its pages and its one component; it asks what the command line asks, and
imports no framework.
"""
