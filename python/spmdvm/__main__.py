"""`python -m spmdvm`, and the script `spmdvm`: the command line."""

import signal
import sys

from ._spmdvm import _main


def main() -> int:
    """Do what the command line says; give the exit code."""
    # Ctrl-C is the command line's own affair, not an exception.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _main(["spmdvm", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
