"""Who moves: robots on MuJoCo, loading and repairs, the zoo."""
