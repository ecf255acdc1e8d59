"""Waits for changes in a directory (inotify), so that a process can be killed during a change."""

import ctypes
import os
import select

CREATE, MODIFY, CLOSED, MOVED, DELETED = 0x100, 0x2, 0x8, 0x80, 0x200
EVENT = 16  # bytes of struct inotify_event without its name

library = ctypes.CDLL(None, use_errno=True)


class DirectoryWatch:
    def __init__(self, directory):
        self.descriptor = library.inotify_init1(os.O_CLOEXEC)
        mask = CREATE | MODIFY | CLOSED | MOVED | DELETED
        if self.descriptor < 0 or library.inotify_add_watch(self.descriptor, os.fsencode(directory), mask) < 0:
            raise OSError(ctypes.get_errno(), "inotify")

    def wait(self, count, seconds):
        """Waits for `count` changes, or until there was no change for `seconds`."""
        while count > 0 and select.select([self.descriptor], [], [], seconds)[0]:
            events = os.read(self.descriptor, 65536)
            while events:
                count -= 1
                events = events[EVENT + int.from_bytes(events[12:EVENT], "little") :]

    def drain(self):
        """Discards the changes so far."""
        while select.select([self.descriptor], [], [], 0)[0]:
            os.read(self.descriptor, 65536)
