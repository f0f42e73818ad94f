"""Steps of techniques as SQL: one visitor for each dialect."""
