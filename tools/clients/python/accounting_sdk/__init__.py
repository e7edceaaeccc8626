"""The Python SDK of the accounting API.

Start with `Accounting`; request and response bodies are in `models`.
"""

from accounting_sdk.bulk import BulkReport, BulkResult
from accounting_sdk.client import Accounting, Books
from accounting_sdk.core import models
from accounting_sdk.core.types import UNSET, File
from accounting_sdk.errors import (
    AccountingError,
    BadRequest,
    Conflict,
    Forbidden,
    NoAnswer,
    NotAuthenticated,
    NotFound,
    Outdated,
    RateLimited,
    RuleBroken,
    ServerFault,
    Unavailable,
    UnsupportedMediaType,
)
from accounting_sdk.session import Retries
from accounting_sdk.webhooks import InvalidWebhook, verify_webhook

__all__ = [
    "UNSET",
    "Accounting",
    "AccountingError",
    "BadRequest",
    "Books",
    "BulkReport",
    "BulkResult",
    "Conflict",
    "File",
    "Forbidden",
    "InvalidWebhook",
    "NoAnswer",
    "NotAuthenticated",
    "NotFound",
    "Outdated",
    "RateLimited",
    "Retries",
    "RuleBroken",
    "ServerFault",
    "Unavailable",
    "UnsupportedMediaType",
    "models",
    "verify_webhook",
]
