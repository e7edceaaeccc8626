"""The move of a business from one deployment to another in a file."""

import hashlib
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.api_server import ApiServer, Databases
from tests.bookkeeping import KEPT, Ledger
from tests.builders.files import CSV, PDF, follow, kept, names, upload
from tests.builders.sales import sent
from tests.cli.refusals import refusal
from tests.command_line import CommandLine, CommandResult
from tests.handlers.platform.test_events import every_event, feed, head
from tests.partner import Business, Partner
from tests.persistence.integrity.book_faults import faults_in, tamper
from tests.persistence.integrity.traded_business import traded

# The partner's feed does not have these events yet; another partner's is never to have them.
NEWS = "unplaced_event"
EXPORTED = [name for name in KEPT if name != NEWS]
TRIAL_BALANCE = "reports/trial-balance/?as_of_date=2030-12-31"


class Place:
    """A deployment: a server and the command line over its database and its files."""

    def __init__(self, server: ApiServer, folder: Path) -> None:
        self.server = server
        self.command_line = CommandLine(folder, server.database_url)

    def run(self, *arguments: str, **environment: str) -> CommandResult:
        place = {"ACCOUNTING_DOCUMENTS_DIR": str(self.server.folder), **environment}
        return self.command_line.run(*arguments, **place)

    def did(self, *arguments: str) -> str:
        told = self.run(*arguments)
        assert told.code == 0, told.err
        return told.out

    def rows(self) -> dict[str, tuple[int, int]]:
        return self.server.stored()

    def files(self) -> list[Path]:
        return [path for path in self.server.folder.rglob("*") if path.is_file()]


def every_event_of(shop: Business) -> list[dict[str, Any]]:
    """Return all events of a business, page by page."""
    events: list[dict[str, Any]] = []
    while (page := feed(shop, after=len(events)))["results"]:
        events += page["results"]
    return events


def importing(file: Path, partner: Partner) -> tuple[str, ...]:
    return "import-business", str(file), "--partner", str(partner.partner_id)


@pytest.fixture(scope="module")
def here(own_server: ApiServer, tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place(own_server, tmp_path_factory.mktemp("here"))


@pytest.fixture(scope="module")
def there(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with ApiServer(databases.clone("moved_to")) as server:
        yield Place(server, tmp_path_factory.mktemp("there"))


@pytest.fixture(scope="module")
def bakery(here: Place, partner: Partner) -> Business:
    """A business with documents of every kind, files, and a lock date after many entries."""
    shop = traded(partner.business(name="Crumb & Söhne \\ Ltd", external_id="crumb"))
    upload(shop, PDF)
    upload(shop, CSV, "lines.csv")
    Ledger(here.server, shop).lock("2025-01-31")
    return shop


@pytest.fixture(scope="module")
def exported(here: Place, bakery: Business, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("exports") / "crumb.zip"
    here.did("export-business", bakery.id, str(target))
    return target


@pytest.fixture(scope="module")
def receiver(there: Place) -> Partner:
    """A partner other than the one that the business comes from."""
    return there.server.partner("Receiver")


@pytest.fixture(scope="module")
def moved(there: Place, receiver: Partner, exported: Path, bakery: Business) -> Business:
    there.did(*importing(exported, receiver))
    return Business(receiver, {"id": bakery.id})


class TestExported:
    def test_tells_how_much_there_is_and_leaves_no_draft(
        self, here: Place, bakery: Business, tmp_path: Path
    ) -> None:
        target = tmp_path / "crumb.zip"
        lines = here.did("export-business", bakery.id, str(target)).splitlines()
        rows = sum(
            here.server.query(f"SELECT count(*) FROM {name} WHERE business_id = %s", bakery.id)[0][
                0
            ]
            for name in EXPORTED
        )
        assert lines[0] == f"Crumb & Söhne \\ Ltd ({bakery.id}) of Owner is in {target}."
        size = target.stat().st_size
        assert lines[1].startswith(
            f"{rows + 1} rows of {len(EXPORTED) + 1} tables,"
            f" 2 files of {len(PDF) + len(CSV)} bytes, {size} bytes, "
        )
        [(number, seal)] = here.server.query(
            "SELECT number, encode(digest, 'hex') FROM audit_seal WHERE business_id = %s"
            " ORDER BY number DESC LIMIT 1",
            bakery.id,
        )
        assert lines[3] == f"Newest seal of the audit trail: {number}, {seal}"
        assert [path.name for path in tmp_path.iterdir()] == ["crumb.zip"]

    def test_is_lines_of_json_that_anybody_can_read(
        self, here: Place, bakery: Business, exported: Path
    ) -> None:
        with zipfile.ZipFile(exported) as opened:
            manifest = json.loads(opened.read("manifest.json"))
            assert manifest["business_id"] == bakery.id
            for table in manifest["tables"]:
                text = opened.read(f"tables/{table['table']}.ndjson")
                rows = [json.loads(line) for line in text.splitlines()]
                assert len(rows) == table["rows"]
                assert hashlib.sha256(text).hexdigest() == table["sha256"]
                assert all("business_id" not in row for row in rows)
            invoices = opened.read("tables/invoice.ndjson").splitlines()
            numbers = {json.loads(line)["number"] for line in invoices}
            stored = [
                json.loads(e) for e in opened.read("tables/stored_document.ndjson").splitlines()
            ]
            for row in stored:
                content = opened.read(f"documents/{row['storage_key']}")
                assert hashlib.sha256(content).hexdigest() == row["sha256"]
        assert {(n,) for n in numbers} == {
            *here.server.query("SELECT number FROM invoice WHERE business_id = %s", bakery.id)
        }
        assert len(stored) == 2

    def test_has_no_keys_and_no_kept_answers(self, exported: Path) -> None:
        with zipfile.ZipFile(exported) as opened:
            names = {Path(name).stem for name in opened.namelist()}
        assert names & {"reply", "partner", "api_key", "partner_reply"} == set()
        assert {"invoice", "audit_record", "audit_seal"} < names

    def test_the_same_books_have_the_same_digest(
        self, here: Place, bakery: Business, exported: Path, tmp_path: Path
    ) -> None:
        again = tmp_path / "again.zip"
        told = here.did("export-business", bakery.id, str(again))
        with zipfile.ZipFile(exported) as opened:
            assert f"Digest: {json.loads(opened.read('manifest.json'))['sha256']}\n" in told

    def test_nothing_is_written_over(self, here: Place, bakery: Business, exported: Path) -> None:
        before = exported.read_bytes()
        reason = refusal(here, "export-business", bakery.id, str(exported))
        assert reason == f"accounting: {exported} is there already: nothing is written over it."
        assert exported.read_bytes() == before

    def test_books_that_do_not_hold_are_not(
        self, here: Place, partner: Partner, tmp_path: Path
    ) -> None:
        shop = partner.business(name="Rotten Ltd")
        invoice = sent(shop, shop.customer(), 2_500)
        tamper(here.server, "UPDATE invoice SET memo = 'x' WHERE id = %s", invoice["id"])
        told = here.run("export-business", shop.id, str(tmp_path / "rotten.zip"))
        assert told.code == 1
        assert f"  audit_rows: invoice {invoice['id']} (of " in told.out
        assert told.out.endswith("The books do not hold: nothing is exported.\n")
        assert [*tmp_path.iterdir()] == []

    def test_files_that_are_lost_or_changed_are_told(
        self, here: Place, partner: Partner, tmp_path: Path
    ) -> None:
        shop = partner.business()
        document = upload(shop, name="lost.pdf").json()
        [name] = names(here.server, shop)
        place = here.server.folder / shop.id / name
        words = ("export-business", shop.id, str(tmp_path / "lost.zip"))
        of_document = f"The file of document {document['id']} (lost.pdf) is"
        place.write_bytes(b"else")
        assert refusal(here, *words).endswith(f"{of_document} not what was stored.")
        place.unlink()
        assert refusal(here, *words).endswith(f"{of_document} not there.")
        assert [*tmp_path.iterdir()] == []


class TestImported:
    def test_all_rows_are_what_they_were(
        self, here: Place, there: Place, bakery: Business, moved: Business
    ) -> None:
        came, went = Ledger(there.server, moved).digest(), Ledger(here.server, bakery).digest()
        assert came.pop("audit_record") != went.pop("audit_record")
        assert came.pop(NEWS) != went.pop(NEWS)
        assert came == went
        facts = here.server.query(
            "SELECT column_name::text FROM information_schema.columns"
            " WHERE table_name = 'business' AND column_name <> 'partner_id'"
        )
        same = f"SELECT {', '.join(name for (name,) in facts)} FROM business WHERE id = %s"
        assert there.server.query(same, moved.id) == here.server.query(same, bakery.id)

    def test_the_trail_is_as_it_was_and_tells_of_the_move(
        self, here: Place, there: Place, bakery: Business, moved: Business, receiver: Partner
    ) -> None:
        trail = "SELECT * FROM audit_record WHERE business_id = %s ORDER BY created_at"
        went, came = here.server.query(trail, bakery.id), there.server.query(trail, moved.id)
        assert came[:-1] == went
        [told] = there.server.query(
            "SELECT object_type, change, action, actor_kind, partner_id::text FROM audit_record"
            " WHERE business_id = %s ORDER BY created_at DESC LIMIT 1",
            moved.id,
        )
        assert told == (
            *("business", "update", "import_business", "operator"),
            str(receiver.partner_id),
        )

    def test_the_books_hold_and_say_the_same(
        self, there: Place, bakery: Business, moved: Business
    ) -> None:
        assert faults_in(there.server, moved) == set()
        assert there.did("check-books", "--business", moved.id).startswith(
            "The books of 1 business"
        )
        shown, before = (shop.api.get(TRIAL_BALANCE) for shop in (moved, bakery))
        assert shown.status_code == 200
        assert len(before.json()["accounts"]) > 10
        assert shown.json() == before.json()

    def test_its_files_are_included(self, there: Place, here: Place, moved: Business) -> None:
        assert kept(there.server, moved) == {
            hashlib.sha256(content).hexdigest() for content in (PDF, CSV)
        }
        documents = moved.api.get("documents/").json()["results"]
        assert {follow(moved, each["url"]).content for each in documents} == {PDF, CSV}

    def test_its_feed_is_the_same_event_for_event(self, bakery: Business, moved: Business) -> None:
        went, came = every_event_of(bakery), every_event_of(moved)
        assert came == went
        assert [each["sequence"] for each in came] == [*range(1, head(bakery) + 1)]
        kinds = {each["type"] for each in came}
        assert {"business.created", "invoice.paid", "journal_entry.posted"} < kinds
        assert head(moved) == head(bakery)

    def test_its_feed_goes_on_with_the_next_sequence(self, there: Place, moved: Business) -> None:
        before = head(moved)
        answer = moved.api.post("customers/", json={"company_name": "First customer here"})
        assert answer.headers["x-event-sequence"] == str(before + 1)
        [event] = feed(moved, after=before)["results"]
        assert (event["sequence"], event["type"]) == (before + 1, "customer.created")
        assert event["object"]["id"] == answer.json()["id"]
        assert faults_in(there.server, moved) == set()

    def test_the_partners_feed_has_only_what_follows(
        self, receiver: Partner, bakery: Business, moved: Business
    ) -> None:
        moved.api.post("customers/", json={"company_name": "Another customer here"})
        told = every_event(receiver)
        assert {each["business_id"] for each in told} == {moved.id}
        assert [each["sequence"] for each in told] == [*range(head(bakery) + 1, head(moved) + 1)]

    def test_it_lives_on(self, there: Place, moved: Business) -> None:
        sent(moved, moved.customer(), 2_500)
        assert faults_in(there.server, moved) == set()

    def test_a_second_time_is_refused(
        self, there: Place, receiver: Partner, exported: Path, moved: Business
    ) -> None:
        before = there.rows(), there.files()
        reason = refusal(there, *importing(exported, receiver))
        assert reason == f"accounting: The business {moved.id} is here already."
        assert (there.rows(), there.files()) == before


@pytest.fixture
def elsewhere(databases: Databases, tmp_path: Path) -> Iterator[Place]:
    """A deployment without businesses."""
    with ApiServer(databases.clone("moved_elsewhere")) as server:
        yield Place(server, tmp_path / "elsewhere")


def changed(exported: Path, target: Path, **texts: Any) -> Path:
    """Write an export with some tables changed and matching digests."""
    with zipfile.ZipFile(exported) as old, zipfile.ZipFile(target, "w") as new:
        manifest = json.loads(old.read("manifest.json"))
        for table in manifest["tables"]:
            name = f"tables/{table['table']}.ndjson"
            change = texts.get(table["table"], lambda text: text)
            text = change(old.read(name))
            table |= {"bytes": len(text), "sha256": hashlib.sha256(text).hexdigest()}
            table["rows"] = text.count(b"\n")
            new.writestr(name, text)
        for name in old.namelist():
            if name.startswith("documents/"):
                new.writestr(name, old.read(name))
        lines = [f"{t['sha256']}  tables/{t['table']}.ndjson\n" for t in manifest["tables"]]
        lines.append(f"{manifest['documents']['sha256']}  documents\n")
        manifest["sha256"] = hashlib.sha256("".join(lines).encode()).hexdigest()
        manifest |= texts.get("manifest", {})
        new.writestr("manifest.json", json.dumps(manifest))
    return target


class TestRefused:
    @pytest.fixture(autouse=True)
    def nothing_is_kept(self, elsewhere: Place) -> Iterator[None]:
        partner = elsewhere.server.partner("Elsewhere")
        self.partner, before = partner, elsewhere.rows()
        yield
        assert elsewhere.rows() == before
        assert elsewhere.files() == []

    def refused(self, elsewhere: Place, file: Path) -> str:
        return refusal(elsewhere, *importing(file, self.partner))

    def test_a_flipped_byte_of_any_member(
        self, elsewhere: Place, exported: Path, tmp_path: Path
    ) -> None:
        content = exported.read_bytes()
        with zipfile.ZipFile(exported) as opened:
            members = {info.filename: info for info in opened.infolist()}
        damaged = tmp_path / "damaged.zip"
        documents = [name for name in members if name.startswith("documents/")]
        for name in ("tables/business.ndjson", "tables/journal_line.ndjson", documents[-1],
                     "tables/audit_seal.ndjson", "manifest.json"):  # fmt: skip
            info = members[name]
            at = info.header_offset + 30 + len(name) + info.compress_size // 2
            flipped = bytearray(content)
            flipped[at] ^= 1
            damaged.write_bytes(flipped)
            said = self.refused(elsewhere, damaged)
            # The flip may break the compression, or leave other rows that decompress well.
            assert "is damaged" in said or "not those that were exported" in said, (name, said)

    def test_a_truncated_file(self, elsewhere: Place, exported: Path, tmp_path: Path) -> None:
        content = exported.read_bytes()
        short = tmp_path / "short.zip"
        for length in (0, 1_000, len(content) // 2, len(content) - 1):
            short.write_bytes(content[:length])
            assert "damaged" in self.refused(elsewhere, short)

    def test_a_row_that_was_changed_with_its_digests(
        self, elsewhere: Place, exported: Path, tmp_path: Path
    ) -> None:
        def rename(text: bytes) -> bytes:
            assert b'"company_name":"Blue Door Bakery"' in text
            return text.replace(b'"company_name":"Blue Door', b'"company_name":"Blue Boar')

        file = changed(exported, tmp_path / "forged.zip", customer=rename)
        told = elsewhere.run(*importing(file, self.partner))
        assert told.code == 1, told.err
        assert "  audit_rows: customer " in told.out
        assert told.out.endswith("do not hold: nothing of them is kept.\n")

    def test_a_row_of_another_business_or_a_name_that_leads_elsewhere(
        self, elsewhere: Place, exported: Path, tmp_path: Path
    ) -> None:
        other = self.partner.partner_id

        def of_another(text: bytes) -> bytes:
            row = json.loads(text)
            return json.dumps({**row, "id": str(other)}).encode() + b"\n"

        file = changed(exported, tmp_path / "other.zip", business=of_another)
        said = self.refused(elsewhere, file)
        assert said == "accounting: The file holds another business than it says."

        def upwards(text: bytes) -> bytes:
            first, *rest = text.splitlines(keepends=True)
            row = {**json.loads(first), "storage_key": "../../outside"}
            return json.dumps(row).encode() + b"\n" + b"".join(rest)

        file = changed(exported, tmp_path / "upwards.zip", stored_document=upwards)
        said = self.refused(elsewhere, file)
        assert said == "accounting: '../../outside' is no name of a file."
        assert not (elsewhere.server.folder.parent / "outside").exists()

    @pytest.mark.parametrize("table", ["business", "invoice", "audit_record"])
    def test_a_row_that_names_a_business_of_its_own(
        self, elsewhere: Place, exported: Path, tmp_path: Path, table: str
    ) -> None:
        def claim(text: bytes) -> bytes:
            first, *rest = text.splitlines(keepends=True)
            row = {**json.loads(first), "business_id": str(self.partner.partner_id)}
            return json.dumps(row).encode() + b"\n" + b"".join(rest)

        file = changed(exported, tmp_path / "claims.zip", **{table: claim})
        said = self.refused(elsewhere, file)
        assert said == f"accounting: A row of {table} has the field 'business_id' of no export."

    def test_a_member_that_its_manifest_does_not_name(
        self, elsewhere: Place, exported: Path, tmp_path: Path
    ) -> None:
        file = changed(exported, tmp_path / "more.zip")
        with zipfile.ZipFile(file, "a") as opened:
            opened.writestr("tables/reply.ndjson", b"{}\n")
        said = self.refused(elsewhere, file)
        assert said == "accounting: Its manifest does not name 'tables/reply.ndjson'."

    def test_rows_that_the_database_does_not_take(
        self, elsewhere: Place, exported: Path, tmp_path: Path
    ) -> None:
        def worded(text: bytes) -> bytes:
            return text.replace(b'"version":1', b'"version":"one"', 1)

        def doubled(text: bytes) -> bytes:
            return text + text.splitlines(keepends=True)[0]

        for change in (worded, doubled):
            file = changed(exported, tmp_path / "forged.zip", customer=change)
            said = self.refused(elsewhere, file)
            assert said.startswith("accounting: Its rows cannot be kept: "), said

    def test_rows_of_another_revision(
        self, elsewhere: Place, exported: Path, tmp_path: Path
    ) -> None:
        older = {"revision": "0001_foundation"}
        file = changed(exported, tmp_path / "older.zip", manifest=older)
        said = self.refused(elsewhere, file)
        assert said.startswith("accounting: The file has the rows of 0001_foundation, and this")

    def test_a_partner_that_is_not_here(self, elsewhere: Place, exported: Path) -> None:
        reason = refusal(elsewhere, "import-business", str(exported))
        assert reason.endswith(" here: name one with --partner.")

    def test_what_is_no_export(self, elsewhere: Place, tmp_path: Path) -> None:
        file = tmp_path / "other.zip"
        file.write_text("not a zip")
        assert "no export of a business" in self.refused(elsewhere, file)


class TestTaken:
    def test_an_external_id_that_the_partner_uses_is_told(
        self, elsewhere: Place, exported: Path
    ) -> None:
        partner = elsewhere.server.partner("Elsewhere")
        partner.business(external_id="crumb")
        before = elsewhere.rows()
        reason = refusal(elsewhere, *importing(exported, partner))
        assert reason.endswith("has a business with the external id of this one already.")
        assert elsewhere.rows() == before

    def test_files_that_lie_there_already_are_left_alone(
        self, elsewhere: Place, exported: Path, bakery: Business
    ) -> None:
        partner = elsewhere.server.partner("Elsewhere")
        left = elsewhere.server.folder / bakery.id / "left"
        left.parent.mkdir()
        left.write_bytes(b"behind")
        before = elsewhere.rows()
        reason = refusal(elsewhere, *importing(exported, partner))
        assert f"Files of the business {bakery.id} are in the storage already." in reason
        assert elsewhere.rows() == before
        assert elsewhere.files() == [left]
