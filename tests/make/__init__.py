"""Small robots and clips for tests: made, never stored."""
