"""The functions of ``import shoal``: what a caller has is read, a use case called, its typed result handed back."""
