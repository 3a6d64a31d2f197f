"""What moves: clips of people and of robots, contacts, curves. Knows no robot and no engine."""
