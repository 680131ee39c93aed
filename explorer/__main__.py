"""``python -m explorer``: the command line."""

from explorer.cli import main

if __name__ == "__main__":
    main()
