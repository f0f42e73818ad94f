"""PDF: pages, and what is taken out of them."""
