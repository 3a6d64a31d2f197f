"""What mends a clip: each method takes a clip and gives an `Adaptation`."""
