"""Who looks at a page: visitors are told apart by their sessions."""

from streamlit.runtime.scriptrunner import get_script_run_ctx


def visitor() -> str:
    """The name of this visitor's session; empty outside a run of the app."""
    context = get_script_run_ctx(suppress_warning=True)
    return context.session_id if context else ""
