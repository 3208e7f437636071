"""``python -m tms``: the same as ``tms``."""

from tms.cli import main

if __name__ == "__main__":
    main()
