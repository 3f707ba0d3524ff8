"""`python -m schedlab`."""

from schedlab.cli import main

main()
