"""A shop's month with its card processor: payments, refunds, fees, two payouts and their lines."""

from dataclasses import dataclass, field

from tests.api_server import ApiServer
from tests.builders.bank import PAYMENT, PAYOUT, Bank, matching, open_account
from tests.builders.journal_entries import credit, debit, posted
from tests.builders.payouts import PAYOUTS, paid_out
from tests.builders.sales import part, refunded, sent
from tests.builders.trade import Record
from tests.journeys.statements import Account, checked
from tests.partner import Partner

CARD = {"payment_method": "credit_card", "payment_processor": "mollie"}
CLEARING, SUSPENSE = "1150", "1900"


@dataclass
class Month:
    """The shop's March: its account, and its card payments, payouts and bank lines so far."""

    account: Account
    bank: Bank
    cards: list[Record] = field(default_factory=list)
    payouts: list[Record] = field(default_factory=list)
    lines: list[Record] = field(default_factory=list)

    def sells(self, on: str, amount: int, fee: int = 0) -> Record:
        """Send an invoice, and record its payment by card on the same day."""
        shop, guest = self.account.shop, self.account.party
        invoice = sent(shop, guest, amount, sent_at=f"{on}T09:00:00Z")
        self.account.expect(invoice, on, on_1200=amount, on_4000=-amount)
        means = {"processing_fee_cents": fee, **CARD}
        card = self.account.pay(on, amount, part(invoice, amount), **means)
        self.account.expect(card, on, on_1150=amount, on_1200=-amount)
        if fee:
            self.account.expect(card, on, on_6100=fee, on_1150=-fee)
        self.cards.append(card)
        return invoice

    def gives_back(self, on: str, invoice: Record, amount: int) -> Record:
        """Refund an amount of an invoice to the card that paid it."""
        means = {"method": "CREDIT_CARD", "processor": "Mollie", "completed_at": f"{on}T12:00:00Z"}
        refund = refunded(self.account.shop, invoice, amount_cents=amount, **means)
        self.account.expect(refund, on, on_4100=amount, on_2300=-amount)
        payment: Record = refund["refund_payments"][0]
        self.account.expect(payment, on, on_2300=amount, on_1150=-amount)
        return payment

    def is_paid(self, on: str, amount: int, *cards: Record, **facts: object) -> Record:
        """Record a payout of the processor."""
        payout = paid_out(
            self.account.shop,
            amount,
            processor="mollie",
            completed_at=f"{on}T06:00:00Z",
            payment_ids=[each["id"] for each in cards],
            **facts,
        )
        self.payouts.append(payout)
        return payout

    def sees(self, on: str, amount: int, words: str) -> Record:
        """Import a line of the bank statement."""
        self.lines.append(self.bank.line(amount, date=on, description=words))
        return self.lines[-1]

    def payout(self, place: int) -> Record:
        return self.account.get(f"{PAYOUTS}{self.payouts[place]['id']}/")


def begun(acme: Partner) -> Month:
    shop = acme.business()
    account = Account(shop, shop.customer(company_name="Guests of March"))
    return Month(account, Bank(shop, open_account(shop, display_name="Current account")))


def first_half(month: Month) -> None:
    """Pay out 920,000: payments of 1,000,000 less refunds of 50,000 and a fee of 30,000."""
    sold = month.sells("2025-03-05", 600_000)
    month.sells("2025-03-12", 400_000, fee=6_000)
    back = month.gives_back("2025-03-14", sold, 50_000)
    payout = month.is_paid(
        "2025-03-16", 920_000, *month.cards, refund_payment_ids=[back["id"]], fee_cents=30_000
    )
    assert (payout["expected_net_amount_cents"], payout["amount_variance_cents"]) == (920_000, 0)
    # 6,000 of the fee came with a payment, and are not posted twice.
    month.account.expect(payout, "2025-03-16", on_1100=920_000, on_6100=24_000, on_1150=-944_000)
    assert month.account.held(CLEARING) == 0


def second_half(month: Month) -> None:
    """Pay out 562,200, after 10,000 of unrecorded refunds and an unexplained variance of 300."""
    month.sells("2025-03-20", 300_000, fee=4_500)
    month.sells("2025-03-22", 200_000, fee=3_000)
    month.sells("2025-03-25", 80_000)
    payout = month.is_paid(
        "2025-03-31", 562_200, *month.cards[2:], additional_refunds_amount_cents=10_000
    )
    assert (payout["fee_cents"], payout["expected_net_amount_cents"]) == (7_500, 562_500)
    assert payout["amount_variance_cents"] == -300
    month.account.expect(payout, "2025-03-31", on_1100=562_200, on_4100=10_000, on_1150=-572_200)
    assert month.account.held(CLEARING) == 300


def matched(month: Month) -> None:
    """Match lines with both payouts, one of them in two parts, and post the charges of the bank."""
    bank, (first, second) = month.bank, month.payouts
    whole = month.sees("2025-03-18", 920_000, "MOLLIE PAYOUT 1")
    suggested = bank.suggested(whole)[0]
    assert (suggested["target_type"], suggested["target_id"]) == (PAYOUT, first["id"])
    bank.match(whole, PAYOUT, first)
    assert month.payout(0)["reconciliation_status"] == "fully_reconciled"
    part = month.sees("2025-04-02", 500_000, "MOLLIE PAYOUT 2/1")
    bank.match(part, PAYOUT, second)
    assert month.payout(1)["reconciliation_status"] == "partially_reconciled"
    rest = month.sees("2025-04-03", 62_200, "NOTPROVIDED")
    strange = bank.categorize(rest, SUSPENSE)
    assert (strange["is_reconciled"], month.account.held(SUSPENSE)) == (True, -62_200)
    bank.uncategorize(rest)
    bank.match(rest, PAYOUT, second)
    assert month.payout(1)["reconciliation_status"] == "fully_reconciled"
    charges = month.sees("2025-03-31", -1_200, "ACCOUNT FEE")
    bank.categorize(charges, "6300")


def explained(month: Month) -> None:
    """Post the unexplained 300 by hand: they were a charge back."""
    lines = [debit("6100", 300, description="Charge back"), credit(CLEARING, 300)]
    written = posted(month.account.shop, description="Charge back of Mollie", lines=lines)
    month.account.expect(written, "2025-03-31", on_6100=300, on_1150=-300)


def closed(month: Month) -> None:
    """Check that a matched payout stays, and that a payment in a payout cannot be matched alone."""
    shop, first = month.account.shop, month.payouts[0]
    refused = shop.api.delete(f"{PAYOUTS}{first['id']}/")
    assert (refused.status_code, refused.json()["error_code"]) == (409, "payout_reconciled")
    line = month.bank.line(600_000)
    match = matching(PAYMENT, month.cards[0])
    assert month.bank.refused(line, "match", match) == (409, "in_payout")


class TestMonthOfAProcessor:
    def test_clearing_and_suspense_are_at_zero_and_every_payout_is_at_the_bank(
        self, api_server: ApiServer, acme: Partner
    ) -> None:
        month = begun(acme)
        first_half(month)
        second_half(month)
        matched(month)
        explained(month)
        account = month.account
        assert (account.held(CLEARING), account.held(SUSPENSE)) == (0, 0)
        shown = account.listed(PAYOUTS)
        assert {each["reconciliation_status"] for each in shown} == {"fully_reconciled"}
        assert len(month.payout(1)["reconciled_bank_transactions"]) == 2
        lines = [month.bank.read(each) for each in month.lines]
        assert all(each["is_reconciled"] for each in lines)
        signed = {"credit": 1, "debit": -1}
        seen = sum(signed[each["direction"]] * each["amount_cents"] for each in lines)
        assert account.held("1100") == seen == 1_481_000
        assert account.held("6100") == 37_800
        entries = account.posted()
        for source, statement in account.statements.items():
            assert entries[source] == statement
        closed(month)
        integrity = checked(account.shop.api.get("integrity/"))
        assert integrity["status"] == "green"
