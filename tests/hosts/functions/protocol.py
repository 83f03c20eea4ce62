"""The two contracts of a Functions host, compiled when this is imported."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import grpc

_FOLDER = "tests/hosts/functions"

Empty: Any = import_module("google.protobuf.empty_pb2").Empty
rpc: Any
rpc_services: Any
settlement_services: Any
rpc, rpc_services = grpc.protos_and_services(f"{_FOLDER}/rpc.proto")
_, settlement_services = grpc.protos_and_services(f"{_FOLDER}/settlement.proto")
