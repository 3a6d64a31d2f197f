"""The version, in its one place: the build reads it here."""

__version__ = "0.1.0"
