"""Files to values and back."""
