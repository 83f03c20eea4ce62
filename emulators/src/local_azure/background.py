"""An event loop in a thread of its own, for emulators that serve code which is not async."""

from __future__ import annotations

import asyncio
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator
    from contextlib import AbstractAsyncContextManager
    from typing import Any

_Result = TypeVar("_Result")


class BackgroundLoop:
    """Runs while the context is entered; at its end the loop's tasks are cancelled."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="local-azure")

    def run(self, work: Coroutine[Any, Any, _Result]) -> _Result:
        """Runs a coroutine on the loop and waits for what it returns."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    @contextmanager
    def entered(self, context: AbstractAsyncContextManager[_Result]) -> Iterator[_Result]:
        """Enters an async context on the loop, and leaves it."""
        value = self.run(context.__aenter__())
        try:
            yield value
        finally:
            self.run(context.__aexit__(None, None, None))

    def __enter__(self) -> Self:
        """Starts the thread."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stops the loop and waits for the thread to end."""
        self.run(_cancel_others())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _cancel_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
