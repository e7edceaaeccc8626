"""A step: predicted by the model, sent over HTTP, and compared."""

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from typing import Any
from uuid import UUID, uuid4

import httpx

from persistence.integrity.checks import Check
from tests.model.books import Body, Books
from tests.model.caller import Caller, Counts
from tests.model.codes import body_of
from tests.model.comparison import differences, records_in
from tests.model.external_names import renamed
from tests.model.hand import Hand
from tests.model.ledger import balances
from tests.model.records import Credit, Document, Party, WriteOff
from tests.model.refusals import Refusal
from tests.model.returns import Sums, on_accrual, on_cash, read, sums
from tests.model.settlement import settle
from tests.model.sides import Side
from tests.model.vat_boxes import boxes
from tests.model.views import Record, path_of, view
from tests.partner import Partner

Records = Sequence[Any]
NUMBERS = (
    "invoice_number",
    "credit_note_number",
    "bill_number",
    "vendor_credit_number",
    "sequence_number",
)
STALE = '"999999999"'
OUTDATED = frozenset({(412, "precondition_failed")})


class Divergence(AssertionError):
    """A difference between the server and the model."""


@dataclass
class Site:
    """The setting of runs: a partner of a server, and the checks of a business's books."""

    partner: Partner
    counts: Counts
    faults_of: Callable[[UUID], list[Check]]
    side: Side

    @cached_property
    def api(self) -> httpx.Client:
        """The client of the partner with its token, over a connection of its own."""
        headers = {"Authorization": self.partner.api.headers["Authorization"]}
        return self.partner.client(self.partner.url, headers=headers)

    def make_codes(self, caller: Caller, books: Books) -> None:
        """Create the tax codes that a new business lacks, and take the ids of all."""
        for code in [each for each in books.codes.values() if each.own]:
            caller.client.post(f"{caller.base}tax-codes/", json=body_of(code)).raise_for_status()
        answer = caller.get("tax-codes/", page_size=100)
        for shown in answer.json()["results"]:
            if shown["code"] in books.codes:
                books.codes[shown["code"]].id = shown["id"]
                caller.names[shown["id"]] = shown["code"]

    def open(self, timezone: str) -> tuple[Caller, Books]:
        """Open a business with two customers or vendors, one of them with payment terms."""
        api = self.api
        facts = {
            "external_id": f"model-{uuid4()}",
            "legal_name": "Harbour Coffee Ltd",
            "entity_type": "limited",
            "email": "books@harbour.example.com",
            "country": "GB",
            "timezone": timezone,
        }
        business = api.post("/v1/platform/businesses/", json=facts).json()["id"]
        answer = api.post(f"/v1/platform/{business}/oauth2/token/")
        token = {"Authorization": f"Bearer {answer.json()['access_token']}"}
        caller = Caller(api, f"/v1/platform/businesses/{business}/", token, self.counts)
        books = Books(self.side, timezone)
        self.make_codes(caller, books)
        for name, terms in (("north", None), ("south", 30)):
            body: dict[str, Any] = {"company_name": name, "external_id": name}
            body |= {} if terms is None else {"payment_terms_days": terms}
            id = api.post(f"{caller.base}{self.side.parties}", json=body).json()["id"]
            books.parties[id] = Party(id, name, terms)
            caller.names[id] = name
        return caller, books


@dataclass
class Move:
    """A write, its effect in the model, and the function that takes new ids from the answer.

    `act` returns the record of the answer, then the other records that it touched. `known` is the
    record that an external id names already, and `target` is the one that the path names.
    """

    method: str
    path: str
    body: Body | None
    act: Callable[[Books], Records]
    bind: Callable[[Books, Records, Body], None] = lambda _books, _records, _answer: None
    known: Any = None
    success: int = 200
    may_preview: bool = True
    target: Any = None

    def at(self, target: Any) -> "Move":
        """Return the same move with the record that its path names."""
        return replace(self, target=target)


class Play:
    """A run: the model, the business, and every comparison between them."""

    def __init__(self, site: Site, timezone: str) -> None:
        self.site = site
        self.caller, self.books = site.open(timezone)
        self.etags: dict[str, str] = {}
        self.counts = site.counts

    def make(self, name: str, hand: Hand, move: Move) -> None:
        """Make a move, possibly stale, previewed, in a batch or with a key; compare its effect."""
        versioned = move.target is not None and move.known is None
        stale = versioned and hand.chance(3)
        fresh = versioned and not stale and hand.chance(5)
        preview = move.may_preview and not stale and hand.chance(5)
        keyed = move.method != "DELETE" and hand.chance(40)
        mode = hand.one(["atomic", "independent"]) if not keyed and hand.chance(10) else None
        if_match = STALE if stale else self.etag_of(move.target) if fresh else None
        copied = preview and move.known is None
        books = copy.deepcopy(self.books) if copied else self.books
        body = renamed(hand, self.books, move.body)
        if body != move.body:
            self.counts.note("named by external id")
        expected = self.predicted(move, books, stale)
        answer = self.caller.write(
            move.method,
            move.path,
            body,
            key=str(uuid4()) if keyed else None,
            if_match=if_match,
            preview=preview,
            mode=mode,
        )
        if isinstance(expected, frozenset):
            self.refused(name, expected, answer, move)
        elif preview:
            self.previewed(name, answer, move, books, expected)
        else:
            self.done(name, answer, move, expected)

    def predicted(
        self, move: Move, books: Books, stale: bool
    ) -> Records | frozenset[tuple[int, str]]:
        """Return the effect of the move in the model, or its possible refusals.

        A path that names nothing is refused before a stale version.
        """
        if move.known is not None:
            return [move.known]
        try:
            acted = move.act(copy.deepcopy(books) if stale else books)
        except Refusal as refusal:
            missing = {answer for answer in refusal.answers if answer[0] == 404}
            return frozenset(missing or OUTDATED) if stale else refusal.answers
        return OUTDATED if stale else acted

    def refused(
        self, name: str, expected: frozenset[tuple[int, str]], answer: httpx.Response, move: Move
    ) -> None:
        """Compare a refusal, and check that the record has not changed."""
        found = code_of(answer)
        if found not in expected:
            self.diverge(f"{name} should be refused with {words(expected)}", answer)
        self.counts.note(f"refused {found[0]} {found[1]}", f"{name}: refused")
        if move.target is not None:
            self.look(move.target)

    def previewed(
        self, name: str, answer: httpx.Response, move: Move, books: Books, records: Records
    ) -> None:
        """Compare the answer of a preview, which changes nothing."""
        if answer.status_code != 200:
            self.diverge(f"the preview of {name} should be answered with 200", answer)
        body = answer.json()
        if move.known is None and "message" not in body:
            move.bind(books, records, body)
        self.counts.note("previewed", f"{name}: previewed")
        self.compare(records[0], answer, books, skipping=NUMBERS)

    def done(self, name: str, answer: httpx.Response, move: Move, records: Records) -> None:
        """Compare an answer, and some of the records that the move touched."""
        status = 200 if move.known is not None else move.success
        if answer.status_code != status:
            self.diverge(f"{name} should be answered with {status}", answer)
        body = answer.json()
        if move.known is None and "message" not in body:
            move.bind(self.books, records, body)
        settle(self.books)
        self.counts.note(f"{name}: known" if move.known is not None else f"{name}: done")
        for each in records:
            self.etags.pop(each.id, None)
            self.introduce(each)
        record, affected = records[0], records[1:]
        if move.method == "DELETE" and body == {"deleted": True}:
            return
        if "message" in body:  # A notice has no record.
            affected = records
        else:
            self.compare(record, answer, self.books)
        for each in [each for each in affected if not isinstance(each, WriteOff)][:2]:
            self.look(each)

    def introduce(self, record: Any) -> None:
        """Assign a short name for the story to a new record."""
        if record.id and record.id not in self.caller.names:
            self.caller.name(record.id, type(record).__name__.lower())

    def compare(
        self,
        record: Record,
        answer: httpx.Response,
        books: Books,
        skipping: Sequence[str] = (),
    ) -> None:
        """Compare an answer about a record with the model's view."""
        found: dict[str, Any] = {}
        for each, shown in records_in(record, answer.json()):
            expected = {name: v for name, v in view(books, each).items() if name not in skipping}
            found |= differences(expected, shown)
        if found:
            lines = [f"  {name} should be {a}, and is {b}" for name, (a, b) in found.items()]
            what = f"{self.caller.names.get(record.id, type(record).__name__)}:"
            self.diverge("\n".join([what, *lines]), answer)
        if isinstance(record, Document | Credit):
            own = record.priced.lines if isinstance(record, Document) else record.lines
            for line, shown in zip(own, answer.json()["line_items"], strict=True):
                line.id = shown["id"]
        if not skipping and "etag" in answer.headers:
            self.etags[record.id] = answer.headers["etag"]

    def look(self, record: Record) -> None:
        """Read a record and compare it; an untouched record must have the same version."""
        answer = self.caller.get(path_of(self.books.side, record))
        if answer.status_code != 200:
            self.diverge(f"{self.caller.names.get(record.id)} should be there", answer)
        known = self.etags.get(record.id)
        if known is not None and answer.headers["etag"] != known:
            self.diverge(f"{self.caller.names.get(record.id)} was {known}, nothing changed", answer)
        self.compare(record, answer, self.books)

    def etag_of(self, record: Record) -> str:
        return str(self.caller.get(path_of(self.books.side, record)).headers["etag"])

    def replay(self, hand: Hand) -> None:
        """Repeat a kept write exactly, or send another one with its key."""
        said = hand.one(self.caller.kept)
        other = hand.one(self.caller.kept)
        mixed = hand.chance(15) and (other.method, other.path, other.body) != (
            said.method,
            said.path,
            said.body,
        )
        sent = other if mixed else said
        count = len(self.caller.kept)
        answer = self.caller.write(sent.method, sent.path, sent.body, key=said.key)
        del self.caller.kept[count:]
        if mixed:
            self.counts.note("refused 422 idempotency_key_reused")
            if code_of(answer) != (422, "idempotency_key_reused"):
                self.diverge("a key is for one request", answer)
            return
        self.counts.note(f"replayed {said.status}")
        again = (answer.status_code, answer.content, answer.headers.get("etag"))
        if again != (said.status, said.content, said.etag):
            self.diverge(f"the first answer was {said.status} {said.content!r}", answer)
        if answer.headers.get("idempotent-replayed") != "true":
            self.diverge("a replayed answer says so", answer)

    def configure(self, field: str, value: object) -> None:
        """Change a field of the business, as the partner."""
        answer = self.caller.write("PATCH", "", {field: value})
        if answer.status_code != 200 or answer.json()[field] != value:
            self.diverge(f"{field} should be {value}", answer)

    def lock(self, until: date | None) -> None:
        """Lock the period up to a day, which may move both ways."""
        self.configure("lock_date", None if until is None else until.isoformat())
        self.counts.note("lock period: done")
        self.books.lock_date = until

    def move(self, timezone: str) -> None:
        """Change the time zone of the business, which moves nothing."""
        self.configure("timezone", timezone)
        self.counts.note("change time zone: done")
        self.books.move(timezone)

    def tolerate(self, most: int) -> None:
        """Allow a line and its money to differ by an amount."""
        self.configure("matching_tolerance_cents", most)
        self.books.tolerance = most

    # The end of a run.

    @property
    def records(self) -> Iterator[Record]:
        """The records that exist and have an address of their own."""
        books = self.books
        for records in (
            *(books.parties, books.documents, books.payments, books.credits, books.refunds),
            *(books.refund_payments, books.payouts, books.vendor_refunds),
            *(books.vendor_refund_payments, books.bank_accounts, books.bank_lines),
            *(books.entries, books.openings),
        ):
            yield from records.values()

    def close(self) -> None:
        """Read all records again, compare every balance, and check the books."""
        for record in self.records:
            self.look(record)
        self.compare_balances()
        if not self.books.filed:
            for scheme, expected in (("accrual", on_accrual), ("cash", on_cash)):
                self.compare_return(scheme, sums(expected(self.books)))
        self.compare_proof()
        self.counts.runs += 1

    def compare_proof(self) -> None:
        """Run the integrity checks of the books."""
        business = UUID(self.caller.base.split("/")[-2])
        faults = [f"{each.name}: {each.first_offender}" for each in self.site.faults_of(business)]
        if faults:
            raise Divergence(self.story("\n".join(["the books do not hold:", *faults])))

    def compare_balances(self) -> None:
        """Compare the balance of every account."""
        answer = self.caller.get("general-ledger/chart-of-accounts/", page_size=100)
        shown = {
            each["code"]: each["debit_balance"] - each["credit_balance"]
            for each in answer.json()["results"]
        }
        held = {code: amount for code, amount in shown.items() if amount}
        self.hold("the accounts differ:", balances(self.books), held)

    def compare_return(self, scheme: str, expected: Sums) -> None:
        """Create a return over all days, and compare its sums by code and its boxes."""
        days = {"start_date": "2020-01-01", "end_date": "2026-12-31"}
        answer = self.caller.write("POST", "tax-returns/", {**days, "scheme": scheme})
        self.hold(f"the return on {scheme} differs:", expected, read(answer.json()["codes"]))
        wanted = boxes(self.books, expected)
        if wanted is not None:
            shown = {each["box"]: each["amount_cents"] for each in answer.json()["boxes"]}
            self.hold(f"the boxes on {scheme} differ:", wanted, shown)

    def hold(self, what: str, expected: Mapping[Any, object], shown: Mapping[Any, object]) -> None:
        """Raise a divergence that names each key at which two mappings differ."""
        keys = [key for key in {**expected, **shown} if expected.get(key) != shown.get(key)]
        lines = [f"  {key} should be {expected.get(key)}, and is {shown.get(key)}" for key in keys]
        if lines:
            raise Divergence(self.story("\n".join([what, *lines])))

    def diverge(self, what: str, answer: httpx.Response) -> None:
        """Raise a divergence with the difference, the answer, and the story."""
        said = f"{answer.request.method} {answer.request.url} answered {answer.status_code}:"
        raise Divergence(self.story("\n".join([what, said, answer.text[:3_000]])))

    def story(self, what: str) -> str:
        return "\n".join([self.caller.plain(what), "", "The story:", self.caller.whole_story()])


def code_of(answer: httpx.Response) -> tuple[int, str]:
    """Return the status and the error code of an answer."""
    code = answer.json()["error_code"] if answer.status_code >= 400 else ""
    return answer.status_code, code


def words(expected: frozenset[tuple[int, str]]) -> str:
    return " or ".join(f"{status} {code}" for status, code in sorted(expected))
