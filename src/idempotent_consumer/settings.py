"""App settings, read once and checked together: one error tells all that is wrong with them.

A connection has the names that Azure Functions gives it. ``ServiceBus`` or ``Cosmos`` holds
a connection string, ``ServiceBus__fullyQualifiedNamespace`` or ``Cosmos__accountEndpoint``
an address that is reached by identity. Keys are for emulators: a secret of Azure has no
place in a setting. An error repeats nothing of a connection, for it may be a secret.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import TYPE_CHECKING, TypeVar

from idempotent_consumer.core.profile import InvalidProfile, Profile

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

PROFILE = "IDEMPOTENT_CONSUMER_PROFILE"
LOG_KEYS = "IDEMPOTENT_CONSUMER_LOG_KEYS"

SERVICE_BUS_KEY = "SAS_KEY_VALUE"
"""The key of every Service Bus emulator; public, and literally so."""
SERVICE_BUS_EMULATOR = (
    "Endpoint=sb://localhost;SharedAccessKeyName=RootManageSharedAccessKey;"
    f"SharedAccessKey={SERVICE_BUS_KEY};UseDevelopmentEmulator=true;"
)
COSMOS_KEY = (
    "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw=="
)
"""The key of every Cosmos DB emulator; public."""
COSMOS_EMULATOR = f"AccountEndpoint=http://localhost:8081/;AccountKey={COSMOS_KEY};"

_PROFILE_EXAMPLE = (
    '{"profile":"local","host":{"processingBudget":"PT4M","functionTimeout":"PT5M",'
    '"maxAutoLockRenewalDuration":"PT6M"},"queue":{"lockDuration":"PT1M","maxDeliveryCount":10,'
    '"defaultMessageTimeToLive":"PT1H","duplicateDetectionHistoryTimeWindow":"PT20S"},'
    '"producer":{"maxRetryHorizon":"PT20S"},"resubmission":{"maxAge":"PT1H","maxTimes":1},'
    '"retention":{"markerTimeToLive":"P1D","margin":"PT1H"},"outage":{"endured":"PT30M"}}'
)

_HOST = re.compile(r"[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+")
_URL = re.compile(r"(?P<scheme>sb|https?)://(?P<host>[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:\d+)?/?")
_ONLY_EMULATORS = "is no emulator's, and keys are for emulators only"

Value = TypeVar("Value")


class SettingsError(ValueError):
    """The settings cannot be used.

    Attributes:
        problems: Each of them, with the setting's name and a legal example.
    """

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n- ".join(["the settings cannot be used:", *problems]))
        self.problems = tuple(problems)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceBusSettings:
    """How to reach Service Bus: an emulator by connection string, or Azure by identity.

    Attributes:
        namespace: The host name, such as ``contoso.servicebus.windows.net``.
        client_id: A user-assigned identity's; without it the default credential is used.
    """

    connection_string: str | None = field(default=None, repr=False)
    namespace: str | None = None
    client_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CosmosSettings:
    """How to reach Cosmos DB.

    Attributes:
        key: An emulator's; ``None`` where an identity is used.
        client_id: A user-assigned identity's; without it the default credential is used.
    """

    endpoint: str
    key: str | None = field(default=None, repr=False)
    client_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a host needs to know before it starts.

    Attributes:
        digest_keys: Logs hold a digest of a message's key instead of the key.
    """

    service_bus: ServiceBusSettings
    cosmos: CosmosSettings
    profile: Profile
    digest_keys: bool

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to say at the start, although it goes on."""
        if self.profile != Profile():
            return ()
        text = (
            f"{PROFILE} is missing, so Service Bus's defaults are assumed: a store outage "
            f"of more than {self.profile.endured} (h:mm:ss) dead-letters messages"
        )
        return (text,)


def read_settings(
    environment: Mapping[str, str], *, service_bus: str = "ServiceBus", cosmos: str = "Cosmos"
) -> Settings:
    """The settings of a host.

    Args:
        service_bus: The name of the connection to Service Bus.
        cosmos: The name of the connection to Cosmos DB.

    Raises:
        SettingsError: With every problem that they have.
    """
    reader = _Reader(environment)
    return reader.checked(
        Settings(
            service_bus=reader.service_bus(service_bus),
            cosmos=reader.cosmos(cosmos),
            profile=reader.profile(),
            digest_keys=reader.digest_keys(),
        )
    )


def read_service_bus(
    environment: Mapping[str, str], *, connection: str = "ServiceBus"
) -> ServiceBusSettings:
    """The settings of one who only sends; raises as `read_settings` does."""
    reader = _Reader(environment)
    return reader.checked(reader.service_bus(connection))


def load_local_settings(path: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """The environment, and below it the values of a Functions ``local.settings.json``.

    Raises:
        SettingsError: The file is none, or is encrypted.
    """
    try:
        document = json.loads(path.read_text("utf-8-sig"))
    except OSError as error:
        raise SettingsError([f"{path} cannot be read: {error.strerror}"]) from None
    except ValueError:
        raise SettingsError([f"{path} is not JSON in UTF-8"]) from None
    return _local_values(path, document) | dict(environment)


def _local_values(path: Path, document: object) -> dict[str, str]:
    values = document.get("Values") if isinstance(document, dict) else None
    if not isinstance(document, dict) or not isinstance(values, dict):
        raise SettingsError([f'{path} has no "Values"; legal is {{"Values": {{"Name": "text"}}}}'])
    if document.get("IsEncrypted"):
        raise SettingsError([f"{path} is encrypted; run func settings decrypt"])
    others = [name for name, value in values.items() if not isinstance(value, str)]
    if others:
        raise SettingsError(
            [f'{path}: {name} is no text; legal is {{"{name}": "text"}}' for name in others]
        )
    return values


class _Reader:
    """Reads on past every problem, so that all of them are told at once."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._problems: list[str] = []

    def checked(self, value: Value) -> Value:
        """The value, if nothing that was read for it is wrong."""
        if self._problems:
            raise SettingsError(self._problems)
        return value

    def service_bus(self, connection: str) -> ServiceBusSettings:
        text, namespace = self._connection(connection, _SERVICE_BUS)
        return ServiceBusSettings(
            connection_string=text,
            namespace=namespace,
            client_id=self._value(f"{connection}__clientId"),
        )

    def cosmos(self, connection: str) -> CosmosSettings:
        text, endpoint = self._connection(connection, _COSMOS)
        parts = _parts(text or "")
        return CosmosSettings(
            endpoint=endpoint or parts.get("accountendpoint", ""),
            key=parts.get("accountkey"),
            client_id=self._value(f"{connection}__clientId"),
        )

    def profile(self) -> Profile:
        text = self._value(PROFILE)
        if text is None:
            return Profile()
        try:
            return Profile.parse(text)
        except InvalidProfile as error:
            self._check(PROFILE, {f"is wrong ({error})": True}, f"{PROFILE}={_PROFILE_EXAMPLE}")
            return Profile()

    def digest_keys(self) -> bool:
        form = self._value(LOG_KEYS) or "plain"
        rules = {"is neither plain nor digest": form not in {"plain", "digest"}}
        self._check(LOG_KEYS, rules, f"{LOG_KEYS}=digest")
        return form == "digest"

    def _connection(self, name: str, service: _Service) -> tuple[str | None, str | None]:
        """The connection string and the address, one of which is ``None``."""
        by_identity = f"{name}__{service.suffix}"
        text, address = self._value(name), self._value(by_identity)
        legal = f"{by_identity}={service.address} in Azure, {name}={service.emulator} locally"
        rules = {
            "is missing": not (text or address),
            f"is set, and {name} too: keep one of them": bool(text and address),
        }
        if address:
            rules |= service.address_rules(address)
        self._check(by_identity, rules, legal)
        if text:
            self._check(name, _string_rules(text, service), legal)
        return text, address

    def _value(self, name: str) -> str | None:
        return self._environment.get(name, "").strip() or None

    def _check(self, setting: str, rules: Rules, legal: str) -> None:
        if broken := [text for text, is_broken in rules.items() if is_broken]:
            self._problems.append(
                f"{setting} {' and '.join(broken)}; legal is, for example, {legal}"
            )


Rules = Mapping[str, bool]
"""What may be wrong with a setting, in words, and whether it is."""


def _namespace_rules(namespace: str) -> Rules:
    is_string, is_url = "=" in namespace, "://" in namespace
    return {
        "holds a connection string instead of a host name": is_string,
        "names a scheme; it takes the host name alone": is_url and not is_string,
        "is no host name": not (is_string or is_url or _HOST.fullmatch(namespace)),
    }


def _endpoint_rules(endpoint: str) -> Rules:
    is_string, (scheme, _) = "=" in endpoint, _scheme_and_host(endpoint)
    return {
        "holds a connection string instead of an address": is_string,
        "is plain http, over which no identity is shown": scheme == "http",
        "is no https address": not is_string and scheme not in {"http", "https"},
    }


def _string_rules(text: str, service: _Service) -> Rules:
    parts = _parts(text)
    return service.emulator_rules(parts) if parts else {"is not made of Name=Value; pairs": True}


def _service_bus_rules(parts: Mapping[str, str]) -> Rules:
    flag, key = parts.get("usedevelopmentemulator"), parts.get("sharedaccesskey")
    scheme, host = _scheme_and_host(parts.get("endpoint", ""))
    if flag is None:
        return {_ONLY_EMULATORS: True}
    return {
        "must say UseDevelopmentEmulator=true in lower case": flag != "true",
        "has no Endpoint such as sb://localhost": scheme != "sb",
        "has no SharedAccessKeyName": not parts.get("sharedaccesskeyname"),
        "has no SharedAccessKey": not key,
        "sends a key of its own in the clear": key not in {None, SERVICE_BUS_KEY}
        and not _is_loopback(host),
    }


def _cosmos_rules(parts: Mapping[str, str]) -> Rules:
    key = parts.get("accountkey", "")
    scheme, host = _scheme_and_host(parts.get("accountendpoint", ""))
    remote = bool(host) and not _is_loopback(host)
    return {
        "has no AccountEndpoint such as http://localhost:8081/": scheme not in {"http", "https"},
        "has no AccountKey in Base64": not _is_base64(key),
        "is plain http to another machine": remote and scheme == "http",
        _ONLY_EMULATORS: remote and key != COSMOS_KEY,
    }


def _parts(text: str) -> dict[str, str]:
    """Name, in lower case, to value; empty where the text is no connection string."""
    pairs = [part.partition("=") for part in text.rstrip(";").split(";")]
    if not all(name and equals for name, equals, _ in pairs):
        return {}
    return {name.lower(): value for name, _, value in pairs}


def _scheme_and_host(url: str) -> tuple[str, str]:
    """Both empty where it is no address of a whole server."""
    found = _URL.fullmatch(url)
    return (found["scheme"], found["host"].strip("[]")) if found else ("", "")


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _is_base64(key: str) -> bool:
    try:
        return bool(b64decode(key, validate=True))
    except ValueError:
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Service:
    """What the settings of a connection to a service look like.

    Attributes:
        suffix: Of the setting that holds an address reached by identity.
        address: A legal one.
        emulator: A legal connection string.
    """

    suffix: str
    address: str
    emulator: str
    address_rules: Callable[[str], Rules]
    emulator_rules: Callable[[Mapping[str, str]], Rules]


_SERVICE_BUS = _Service(
    suffix="fullyQualifiedNamespace",
    address="contoso.servicebus.windows.net",
    emulator=SERVICE_BUS_EMULATOR,
    address_rules=_namespace_rules,
    emulator_rules=_service_bus_rules,
)
_COSMOS = _Service(
    suffix="accountEndpoint",
    address="https://contoso.documents.azure.com:443/",
    emulator=COSMOS_EMULATOR,
    address_rules=_endpoint_rules,
    emulator_rules=_cosmos_rules,
)
