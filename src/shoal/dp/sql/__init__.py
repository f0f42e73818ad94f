"""SQL to the algebra of questions. Whatever is not expressly understood is refused, with what can be asked instead."""
