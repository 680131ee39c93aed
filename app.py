"""The app from a checkout: ``streamlit run app.py``; ``explorer app`` starts it anywhere."""

from explorer.web.entry import main

if __name__ == "__main__":
    main()
