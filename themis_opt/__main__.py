"""``python -m themis_opt`` is the command line."""

from themis_opt.cli.entry import main

main()
