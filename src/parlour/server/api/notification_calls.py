"""The HTTP calls about notifications: where I am told that it is my turn."""

from starlette.requests import Request

from parlour.errors import Code
from parlour.server.api.bodies import (
    BrowserSubscription,
    Done,
    MyEndpoint,
    MyNotifications,
    NewWebhook,
    WebhookWanted,
)
from parlour.server.api.callers import Callers, device_name
from parlour.server.api.calls import Call
from parlour.server.clock import Clock
from parlour.server.endpoint_records import Endpoint
from parlour.server.limits import CREATE_COST, Limits
from parlour.server.parts.notifications.endpoints import Endpoints


class NotificationCalls:
    """Carries out the HTTP calls about notifications."""

    def __init__(self, endpoints: Endpoints, clock: Clock, limits: Limits, callers: Callers) -> None:
        self._endpoints = endpoints
        self._clock = clock
        self._limits = limits
        self._callers = callers
        mine = (Code.BAD_TOKEN, Code.NOT_SAVED)
        new = (Code.BAD_ADDRESS, Code.TOO_MANY)
        self.calls = [
            Call("GET", "/api/notifications", "Where I am told that it is my turn", self.list_endpoints,
                 MyNotifications, refuses=mine, personal=True),
            Call("POST", "/api/notifications/push", "Tell me in this browser, by web push", self.add_browser,
                 MyEndpoint, BrowserSubscription, 201, (Code.NO_PUSH, *new, *mine), personal=True),
            Call("POST", "/api/notifications/webhooks", "Tell a program of mine, by a webhook",
                 self.add_webhook, NewWebhook, WebhookWanted, 201, (*new, *mine), personal=True),
            Call("DELETE", "/api/notifications/{id}", "Tell me there no more", self.remove_endpoint, Done,
                 refuses=(Code.NOT_FOUND, *mine), personal=True),
        ]  # fmt: skip

    async def list_endpoints(self, request: Request) -> MyNotifications:
        endpoints = await self._endpoints.list(await self._callers.known_bearer(request))
        key = await self._endpoints.push_key()
        return MyNotifications(None if key is None else key.public, [_shown(one) for one in endpoints])

    async def add_browser(self, request: Request, wanted: BrowserSubscription) -> MyEndpoint:
        self._charge(request)
        bearer = await self._callers.known_bearer(request)
        keys, name = wanted.keys, device_name(request)
        return _shown(
            await self._endpoints.add_browser(
                bearer, wanted.endpoint, keys.p256dh, keys.auth, name, self._clock.date()
            )
        )

    async def add_webhook(self, request: Request, wanted: WebhookWanted) -> NewWebhook:
        self._charge(request)
        bearer = await self._callers.known_bearer(request)
        added = await self._endpoints.add_webhook(bearer, wanted.url, self._clock.date())
        return NewWebhook(added.id, added.kind, added.url, added.name, added.since, None, added.secret)

    async def remove_endpoint(self, request: Request) -> Done:
        self._charge(request)
        await self._endpoints.remove(await self._callers.known_bearer(request), request.path_params["id"])
        return Done()

    def _charge(self, request: Request) -> None:
        self._limits.check_call(self._callers.address(request), CREATE_COST)


def _shown(endpoint: Endpoint) -> MyEndpoint:
    return MyEndpoint(
        endpoint.id, endpoint.kind, endpoint.url, endpoint.name, endpoint.since, endpoint.failure
    )
