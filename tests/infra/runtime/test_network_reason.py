"""What people are told when somebody cannot be reached: the system's words, and nothing of the libraries in between."""

import asyncio
import socket
import ssl

import aiohttp
import pytest
import uvloop

from infra.runtime.network_reason import network_reason


@pytest.mark.parametrize("loop", [asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_refused_connection_is_told_in_the_words_of_the_system(loop: type, scheme: str) -> None:
    async def ask() -> str:
        with socket.socket() as free:  # bound, so nobody else takes it, and nobody listens
            free.bind(("127.0.0.1", 0))
            async with aiohttp.ClientSession() as http:
                with pytest.raises(aiohttp.ClientConnectorError) as refused:
                    await http.get(f"{scheme}://127.0.0.1:{free.getsockname()[1]}/")
        return network_reason(refused.value)

    with asyncio.Runner(loop_factory=loop) as runner:
        assert runner.run(ask()) == "Connection refused"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (socket.gaierror(-2, "Name or service not known"), "Name or service not known"),
        (TimeoutError(), "no answer in time"),
        (aiohttp.ServerDisconnectedError(), "Server disconnected"),
        (aiohttp.http_exceptions.BadStatusLine("SSH-2.0", "Bad status line:\n  Expected HTTP/\n    ^"), "Bad status line"),
        (OSError("sto/b1 is taken"), "sto/b1 is taken"),
        (ConnectionResetError(), "ConnectionResetError"),
    ],
)
def test_other_errors_say_what_there_is_to_say(error: Exception, said: str) -> None:
    assert network_reason(error) == said


def test_what_goes_wrong_with_tls_is_told_in_words() -> None:
    """OpenSSL's errors have the number 1, which is "Operation not permitted" to the system."""
    distrusted = ssl.SSLCertVerificationError(1, "certificate verify failed")
    distrusted.verify_message = "certificate has expired"
    plain = ssl.SSLError(1, "[SSL: WRONG_VERSION_NUMBER] wrong version number (_ssl.c:1006)")
    plain.reason = "WRONG_VERSION_NUMBER"
    assert network_reason(distrusted) == "its certificate is not believed: certificate has expired"
    assert network_reason(plain) == "it does not speak TLS (wrong version number)"
    for alert, words in (("SSLV3_ALERT_CERTIFICATE_EXPIRED", "certificate expired"), ("TLSV1_ALERT_UNKNOWN_CA", "unknown ca")):
        told = ssl.SSLError(1, f"[SSL: {alert}] {alert.lower()} (_ssl.c:2580)")
        told.reason = alert
        assert network_reason(told) == f"our certificate is not believed there: {words}"
    other = ssl.SSLError(1, "[SSL: TLSV1_ALERT_PROTOCOL_VERSION]")
    other.reason = "TLSV1_ALERT_PROTOCOL_VERSION"
    assert network_reason(other) == "TLS: tlsv1 alert protocol version"
    assert network_reason(ssl.SSLError(1, "strange")) == "TLS: the handshake failed"
