"""The body of an HTTP answer, of which no more is read than somebody could mean."""

from typing import Final

import aiohttp

MAX_BYTES: Final = 16 << 20


async def bounded_body(response: aiohttp.ClientResponse, max_bytes: int = MAX_BYTES) -> bytes:
    """Returns the body of `response`, inflated if it is compressed.

    Raises aiohttp.ClientPayloadError for one of more than `max_bytes`, and closes the connection then; and what else aiohttp raises.
    """
    data = bytearray()
    async for chunk in response.content.iter_any():
        data += chunk
        if len(data) > max_bytes:
            response.close()
            raise aiohttp.ClientPayloadError(f"the answer has more than {max_bytes} bytes; is there something else at this address?")
    return bytes(data)
