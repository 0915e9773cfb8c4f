"""``python -m themis_opt`` is the command line."""

from themis_opt.cli.main import main

main()
