"""`python -m alphanpi`: the command line, where the script is not on the path."""

from alphanpi.cli import main

if __name__ == "__main__":
    main()
