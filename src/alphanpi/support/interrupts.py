"""Ctrl-C: what is under way is finished first, and it is heard where Python cannot hear it.

Python runs the handler of a signal between two of its own instructions. A function of C that never returns, called by
an environment, lets it wait for ever. So the signal is handled once: if Python has not asked for it again by the time
the next one comes, that one has the system's own effect and ends the process.
"""

from __future__ import annotations

import ctypes
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_SYSTEM_DEFAULT = 0


def insist() -> None:
    """Let the next Ctrl-C be handled, and the one after it end the process, unless this is said again before."""
    number = signal.SIGINT
    handler = signal.getsignal(number)
    if not callable(handler) or threading.current_thread() is not threading.main_thread():
        return  # ignored, as in the background of a script, or not for us to handle
    signal.signal(number, handler)  # it may have been taken away
    library = ctypes.CDLL(None)
    try:
        once = library.sysv_signal  # as `signal`, but the handler is taken away when it is called
    except AttributeError:  # not every system's library has it
        return
    install = library.signal
    for function in (install, once):
        function.argtypes, function.restype = (ctypes.c_int, ctypes.c_void_p), ctypes.c_void_p
    once(number, install(number, _SYSTEM_DEFAULT))


@contextmanager
def stop_requests() -> Iterator[Callable[[], bool]]:
    """Whether Ctrl-C or SIGTERM was met, so that what is under way can be finished; a second one stops at once."""
    received: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        if received:
            raise KeyboardInterrupt
        received.append(number)
        insist()

    handled = (signal.SIGINT, signal.SIGTERM)
    try:
        previous = [signal.signal(number, note) for number in handled]
        insist()
    except ValueError:  # not in the main thread: nobody sends us signals
        yield lambda: False
        return
    try:
        yield lambda: bool(received)
    finally:
        for number, handler in zip(handled, previous, strict=True):
            signal.signal(number, handler)
