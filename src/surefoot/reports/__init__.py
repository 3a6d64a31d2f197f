"""Values to pages, plots and pictures."""
