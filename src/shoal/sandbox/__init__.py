"""Untrusted files are read in a child process with limits of memory and time; what it found comes back as Arrow.

It keeps a file that is damaged, or made to break its reader, from taking the run with it: panics, aborts, overflows of
the stack, files that unpack to many times their size. It is no jail: a reader that is taken over could do what the user
may do.
"""

from shoal.sandbox.limits import DOCUMENTS, TABLES, Limits
from shoal.sandbox.messages import Message
from shoal.sandbox.parent_process import ReadRequest, read

__all__ = ["DOCUMENTS", "TABLES", "Limits", "Message", "ReadRequest", "read"]
