"""The Python package of this build, for tests: `from package import symaug`."""
import os
import sys

import library
from golden import SYMAUG

sys.path.insert(0, os.path.realpath("python"))
os.environ["SYMAUG_LIBRARY"] = os.path.join(library.BUILD, "libsymaug.so")
os.environ["SYMAUG_PROGRAM"] = os.path.realpath(SYMAUG)
if "LD_PRELOAD" in library.environment() and "LD_PRELOAD" not in os.environ:  # a sanitizer's runtime
    os.execve(sys.executable, [sys.executable, *sys.argv], library.environment())
import symaug  # noqa: E402
