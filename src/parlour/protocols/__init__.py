"""The wire protocols that Parlour speaks: one line each."""

from parlour.protocols.phoenix import Phoenix
from parlour.wire import Adapter

PROTOCOLS: dict[str, type[Adapter]] = {protocol.name: protocol for protocol in (Phoenix,)}
