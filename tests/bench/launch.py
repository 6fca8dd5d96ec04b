"""Run a command and print its seconds and its peak resident MiB.

usage: launch.py COMMAND [ARG]...

A small process of its own: the kernel counts the peak of the process that forks to its child.
"""
import os
import sys
import time

begin = time.perf_counter()
quiet = [(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)]
pid = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=quiet)
_, status, usage = os.wait4(pid, 0)
print(time.perf_counter() - begin, usage.ru_maxrss / 1024)
sys.exit(os.waitstatus_to_exitcode(status) & 255)
