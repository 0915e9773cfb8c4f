"""The version of the package, where every module can read it without loading another."""

VERSION = "0.2.0"
