"""Files of the kinds that the server stores, in place of arbitrary bytes.

The contract names the kinds of a file but cannot describe them, so Schemathesis generates bytes of
no kind. Each case that should be valid gets a real file. In a case a file is text with one
character for each byte, as its schema says; on the wire it is bytes.
"""

import base64
import binascii
import json
from typing import Any

from hypothesis import strategies

from accounting.files.uploads import kind_of
from tests.builders.files import CSV, JPEG, PDF, PNG, XML

BYTEWISE = "latin-1"
KINDS = {"pdf": PDF, "png": PNG, "jpg": JPEG, "csv": CSV, "xml": XML}
# Statements of banks, by the `format` of the request.
STATEMENTS = {
    "csv": b"Date,Text,Amount\n2026-07-01,Coffee,-3.20\n2026-07-02,INV-000001,600.00\n",
    "ofx": (
        b"OFXHEADER:100\nDATA:OFXSGML\nVERSION:102\nCHARSET:1252\n\n<OFX><BANKMSGSRSV1><STMTTRNRS>"
        b"<STMTRS><CURDEF>GBP<BANKTRANLIST><STMTTRN><TRNTYPE>DEBIT<DTPOSTED>20260701<TRNAMT>-3.20"
        b"<FITID>A1<NAME>Coffee</STMTTRN></BANKTRANLIST></STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>"
    ),
    "camt053": (
        b"<Document><BkToCstmrStmt><Stmt><Ntry><Amt Ccy='GBP'>3.20</Amt><CdtDbtInd>DBIT</CdtDbtInd>"
        b"<Sts>BOOK</Sts><BookgDt><Dt>2026-07-01</Dt></BookgDt><AcctSvcrRef>C1</AcctSvcrRef></Ntry>"
        b"</Stmt></BkToCstmrStmt></Document>"
    ),
    "mt940": (
        b":20:A\n:25:1\n:28C:1\n:60F:C260630GBP1,00\n:61:2607010701C3,20NTRFA1//M1\n:86:Coffee\n"
    ),
}
COLUMNS = {"date": "Date", "amount": "Amount", "description": "Text"}
TEXTS = [content.decode(BYTEWISE) for content in KINDS.values()]
BASE64 = [base64.b64encode(content).decode() for content in KINDS.values()]
# The field of the file in a multipart body.
UPLOADS = {
    "create_document": "file",
    "create_invoice_refund": "document",
    "update_vendor_refund": "document",
    "import_bank_transactions": "file",
}
ANY_JSON = {"metadata", "document_metadata"}

binary = strategies.sampled_from(TEXTS)
base64_text = strategies.sampled_from(BASE64)


def put_real_ones(operation: str, body: dict[str, Any], drawn: int) -> None:
    """Replace bytes of no kind in a valid body by a real file, chosen by `drawn`."""
    if operation == "import_bank_transactions":
        put_statement(body, drawn)
        return
    here, field = drawn % len(KINDS), UPLOADS.get(operation)
    document = body.get("document")
    if isinstance(document, dict):
        if not is_real(bytes_in_base64(document["file"])):
            document["file"] = BASE64[here]
    elif field in body and not is_real(body[field].encode()):
        body[field] = body[field] if body[field] in TEXTS else TEXTS[here]


def put_statement(body: dict[str, Any], drawn: int) -> None:
    """Put a bank's statement into a form, of the form's format, with the columns of a CSV."""
    if "file" not in body:
        return
    kind = body.get("format") or sorted(STATEMENTS)[drawn % len(STATEMENTS)]
    body["file"] = STATEMENTS[kind].decode(BYTEWISE)
    body.pop("mapping", None)
    if kind == "csv":
        body["mapping"] = dict(COLUMNS)


def is_real(content: bytes) -> bool:
    """Return whether the server stores files with these bytes."""
    return kind_of(content) is not None


def bytes_in_base64(text: str) -> bytes:
    """Return the bytes that a text encodes, none if it is invalid."""
    try:
        return binascii.a2b_base64(text, strict_mode=True)
    except ValueError:
        return b""


def on_the_wire(operation: str, body: Any) -> Any:
    """Return a multipart body with its file as bytes, and any JSON as text."""
    field = UPLOADS.get(operation)
    if field is None or not isinstance(body, dict):
        return body
    written = {name: json.dumps(body[name]) for name in ANY_JSON & body.keys()}
    text = body.get(field)
    if isinstance(text, str):
        written[field] = text.encode(BYTEWISE) if text in TEXTS else text.encode()
    return {**body, **written}
