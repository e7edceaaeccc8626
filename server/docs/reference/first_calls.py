"""The first calls: the variables that all samples use, a token, and three calls.

README and `accounting demo` show the same text.
"""

from typing import Final

V1: Final = "/v1/platform"
UNKNOWN: Final = "..."

# A token is valid for an hour; the command that gets it can be repeated.
TOKEN: Final = """\
export TOKEN=$(curl -s $API/oauth2/token/ -u "$PARTNER_ID:$API_KEY" \\
  -d grant_type=client_credentials |
  python3 -c 'import json, sys; print(json.load(sys.stdin)["access_token"])')"""
CALLS: Final = """\
curl -s $API/businesses/ -H "Authorization: Bearer $TOKEN"

curl -s "$API/businesses/$BUSINESS_ID/invoices/?status=overdue" -H "Authorization: Bearer $TOKEN"

curl -s $API/businesses/$BUSINESS_ID/invoices/ -H "Authorization: Bearer $TOKEN" \\
  -H 'Content-Type: application/json' -d '{
  "customer_external_id": "cust-77",
  "sent_at": "2026-07-01T08:10:00Z",
  "line_items": [
    {"description": "House blend, 1 kg", "quantity": 10, "unit_price": 1000, "tax_rate": 20}
  ]
}'"""


def exports(
    origin: str,
    partner_id: str = UNKNOWN,
    api_key: str = UNKNOWN,
    business_id: str = UNKNOWN,
) -> str:
    """Return the command that sets the variables of all samples for a server."""
    values = {"PARTNER_ID": partner_id, "API_KEY": api_key, "BUSINESS_ID": business_id}
    named = " ".join(f"{name}={value}" for name, value in values.items())
    return f"export API={origin}{V1} {named}"


def first_calls(line: str) -> str:
    """Return the commands to paste: the line of exports, a token, and three calls."""
    return f"{line}\n{TOKEN}\n\n{CALLS}"
