"""Human clips to robot clips."""
