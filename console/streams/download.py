"""Streaming responses whose content comes from streams of the cluster."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing

from django.http import StreamingHttpResponse
from django.utils.http import content_disposition_header

from console.kube.errors import ApiError
from console.live.flow import Flow
from console.streams.stream import LongRunningStream, StreamEnded


class IncompleteDownload(Exception):
    """Raised by the content of a download that can't be completed."""


class StreamedBody:
    """Async iterator for the body of a streaming response.

    It stops reading while the client is slow. If it can't send the complete content, it aborts the
    connection, so that the client doesn't mistake a partial download for a complete one.
    """

    def __init__(
        self,
        pieces: AsyncGenerator[bytes, None],
        streams: Sequence[LongRunningStream],
        flow: Flow,
    ) -> None:
        """`pieces` reads from `streams`, which are closed at the end."""
        self._pieces, self._streams, self._flow = pieces, streams, flow
        self._loop = asyncio.get_running_loop()

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._passed_on()

    def close(self) -> None:
        """Close all streams. Django calls this in another thread, even if the body was never
        iterated.
        """
        for stream in self._streams:
            self._loop.call_soon_threadsafe(stream.close_soon)

    async def _passed_on(self) -> AsyncGenerator[bytes, None]:
        try:
            async with aclosing(self._pieces) as pieces:
                async for piece in pieces:
                    if piece:
                        yield piece
                    await self._flow.wait_clear()
        except (StreamEnded, ApiError, IncompleteDownload):
            self._flow.abort()
        finally:
            await asyncio.gather(*(stream.close() for stream in self._streams))


def download_response(body: StreamedBody, name: str, content_type: str) -> StreamingHttpResponse:
    """Return a response that browsers save as a file named `name`."""
    response = StreamingHttpResponse(body, content_type=content_type)
    disposition = content_disposition_header(True, name) or "attachment"
    response["Content-Disposition"] = disposition
    return response
