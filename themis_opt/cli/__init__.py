"""The command line: one module per verb, each of which parses, calls the library and prints."""
