"""The app from a checkout: ``streamlit run app.py``; ``explorer app`` starts it anywhere."""

from streamlit.starlette import App

from explorer.web import ENTRY
from explorer.web.server import OPTIONS

# Streamlit looks for this in the text: with it, it serves pages with our headers, and ends at once.
app = App(ENTRY, **OPTIONS)

if __name__ == "__main__":
    from explorer.web.entry import main

    main()
