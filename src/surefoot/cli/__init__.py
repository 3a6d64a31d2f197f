"""The command line: talks to people, does no arithmetic."""
