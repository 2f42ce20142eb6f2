"""WebSocket frames as a client sends them, and as a broken client might."""

from itertools import cycle


def client_frame(
    opcode: int, payload: bytes, *, final: bool = True, reserved: int = 0, masked: bool = True, mask: bytes = b"\x11\xa2\x33\xf4"
) -> bytes:
    """Returns one frame, written as plainly as RFC 6455 5.2 says it. `reserved`: the three RSV bits as a number."""
    flag = 0x80 if masked else 0
    length = len(payload)
    if length < 126:
        size = bytes([flag | length])
    elif length < 65536:
        size = bytes([flag | 126]) + length.to_bytes(2, "big")
    else:
        size = bytes([flag | 127]) + length.to_bytes(8, "big")
    body = mask + bytes(byte ^ key for byte, key in zip(payload, cycle(mask), strict=False)) if masked else payload
    return bytes([final << 7 | reserved << 4 | opcode]) + size + body
