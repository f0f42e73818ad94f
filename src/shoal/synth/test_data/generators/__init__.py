"""What columns of test data are filled with, one file for each family."""
