"""`python -m compact`."""

from compact.cli import main

if __name__ == "__main__":
    main()
