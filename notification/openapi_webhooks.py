"""The part of docs/openapi-notification.json for the webhooks of a user."""

from typing import Final

from infra.runtime.http.openapi import ASKED, SENT, Content, answered, done

from .answers import WebhookList, WebhookSecret, WebhookTest
from .webhook_handlers import NewWebhook

_ID: Final = "4f1c09ab77e2"
_URL: Final = "https://app.example.org/segue"
_SHOWN: Final = Content.of(WebhookSecret, {"id": _ID, "url": _URL, "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"})
OPERATIONS: Final = {
    ("GET", "/v1/me/webhooks"): answered(
        "listWebhooks",
        "Your endpoints.",
        "All of them, without secrets.",
        Content.of(WebhookList, {"webhooks": [{"id": _ID, "url": _URL, "made_ms": 1790000000000, "previous_until_ms": 0}]}),
    ),
    ("POST", "/v1/me/webhooks"): answered(
        "addWebhook",
        "Have your notifications posted to an endpoint.",
        "From the next event on. The secret is shown this once.",
        _SHOWN,
        status=201,
        description="webhooks.md tells what is posted, and how a signature is checked.",
        request=[Content.of(NewWebhook, {"url": _URL})],
        refusals=SENT,
    ),
    ("DELETE", "/v1/me/webhooks/{id}"): done(
        "removeWebhook",
        "Post nothing more to an endpoint.",
        "It gets nothing more, whether it was yours or not.",
        refusals=ASKED,
    ),
    ("POST", "/v1/me/webhooks/{id}/rotate"): answered(
        "rotateWebhook",
        "Give an endpoint a new secret.",
        "The new secret is shown this once.",
        _SHOWN,
        description="For a day, messages bear a signature by the new secret and one by the secret before.",
        refusals=(401, 403, 404, 503),
    ),
    ("POST", "/v1/me/webhooks/{id}/test"): answered(
        "testWebhook",
        "Post a test message to an endpoint now.",
        "What came of it. It is not repeated.",
        Content.of(WebhookTest, {"state": "delivered", "reason": "app.example.org answers 204"}),
        refusals=(401, 403, 404, 503),
    ),
}
