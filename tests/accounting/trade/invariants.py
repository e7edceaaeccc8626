"""Invariants of the books on either side, after any history."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import replace
from uuid import UUID

from accounting.books import ledger
from accounting.books.chart import STARTING_CHART, AccountType, Role
from accounting.books.ledger import Part, Split, rests, times_sign
from accounting.trade import credits, documents, payments, postings, refunds
from accounting.trade.credits import Credit
from accounting.trade.documents import Document
from accounting.trade.payments import Payment
from accounting.trade.refunds import Refund, RefundAllocation, RefundPayment
from accounting.trade.remaining_by_line import parts_left
from tests.accounting.samples import ROLES, code_of
from tests.accounting.trade.business import Trade


def sums(*splits: Split) -> dict[str, int]:
    totals: Counter[str] = Counter()
    for split in splits:
        for part, amount in split:
            totals[code_of(part.account_id)] += amount
    return {code: amount for code, amount in totals.items() if amount}


def says_something(entry: ledger.Entry) -> bool:
    """Return whether an entry changes an account, a settlement, or the document of an amount."""
    changed: Counter[tuple[UUID | Part | None, ...]] = Counter()
    for each in entry.lines:
        changed[each.account_id, ledger.document_of(entry, each)] += each.amount
        for part, share in each.split:
            changed[each.account_id, each.settles, part] += share
    return any(changed.values())


def ledger_splits(trade: Trade, role: Role) -> dict[UUID, dict[str, int]]:
    """Return the splits on an account by the settled document; the cash basis reads them."""
    splits: dict[UUID, list[Split]] = defaultdict(list)
    for entry in trade.entries():
        for each in entry.lines:
            if each.account_id == ROLES[role] and each.settles is not None:
                assert sum(part for _, part in each.split) == each.amount
                splits[each.settles].append(each.split)
    return {settled: sums(*found) for settled, found in splits.items()}


def check_postings(trade: Trade, locks_move: bool) -> None:
    """Check that the posted entries are the desired ones, balanced, and reversed at most once."""
    lock_date = trade.context().lock_date
    for subject in trade.subjects():
        desired = postings.desired(trade.side, subject, ROLES)
        lines = [each for entry in subject.posted for each in entry.lines]
        assert sums(tuple((Part(each.account_id), each.amount) for each in desired)) == sums(
            tuple((Part(each.account_id), each.amount) for each in lines)
        )
        assert all(len(entry.lines) >= 2 for entry in subject.posted)
        assert all(sum(each.amount for each in entry.lines) == 0 for entry in subject.posted)
        assert all(says_something(entry) for entry in subject.posted)
        assert all(each.amount != 0 for each in lines)
        reversed_ids = [e.reversal_of_id for e in subject.posted if e.reversal_of_id is not None]
        assert len(set(reversed_ids)) == len(reversed_ids)
        assert set(reversed_ids) == {entry.id for entry in subject.posted if entry.reversed}
        titles = dict.fromkeys(("main", "fee", "applied"), "it")
        source = ledger.Source("test", subject.id, None, titles)
        again = ledger.difference(source, desired, subject.posted, lock_date)
        # Only a lock that has moved may leave an amount on another day than is desired.
        assert locks_move or again == []


def check_documents(trade: Trade) -> None:
    """Check the totals and splits of documents against live settlements, by account."""
    in_ledger = ledger_splits(trade, trade.side.control)
    amounts, settled = settlements(trade)
    for document in trade.documents.values():
        for name in ("paid", "reserved", "credited", "written_off"):
            assert getattr(document, name) == amounts[document.id, name]
        assert sums(document.settled) == sums(*settled[document.id])
        assert sums(document.settled) == {
            code: -trade.side.sign * part for code, part in in_ledger.get(document.id, {}).items()
        }
        parts = documents.parts(document)
        assert sum(parts.values()) == document.total_amount
        assert all(0 <= part <= parts[account] for account, part in document.settled)
        assert documents.left(document) >= 0
        closed = document.state == "open" and documents.outstanding(document) == 0
        assert (document.paid_on is not None) == closed


def settlements(trade: Trade) -> tuple[Counter[tuple[UUID, str]], dict[UUID, list[Split]]]:
    """Return the amounts and the splits of live settlements by document."""
    amounts: Counter[tuple[UUID, str]] = Counter()
    settled: dict[UUID, list[Split]] = defaultdict(list)
    for payment in trade.payments.values():
        word = "paid" if payment.status == "completed" else "reserved"
        for each in payments.live_allocations(payment):
            amounts[each.document_id, word] += each.amount
            if word == "paid":
                settled[each.document_id].append(each.split)
    for credit in trade.credits.values():
        for each in credits.live_allocations(credit):
            amounts[each.document_id, "credited"] += each.amount
            settled[each.document_id].append(each.split)
    for write_off in trade.write_offs.values():
        if write_off.reversed_at is None:
            amounts[write_off.document_id, "written_off"] += write_off.amount
            settled[write_off.document_id].append(write_off.split)
    return amounts, settled


def check_credits(trade: Trade) -> None:
    """Check that no part of a credit is used twice, and that the ledger agrees."""
    in_ledger = ledger_splits(trade, trade.side.credits)
    for credit in trade.credits.values():
        live = credits.live_allocations(credit)
        paid_out = paid_out_of(trade, credit)
        used = [*(each.own_split for each in live), *(each.split for each in paid_out)]
        assert sums(credit.settled) == sums(*used)
        assert credit.refunded == sum(each.amount for each in paid_out)
        own = times_sign(credit.settled, trade.side.sign)
        assert sums(own) == in_ledger.get(credit.id, {})
        parts = credits.parts(credit)
        assert all(0 <= part <= parts[account] for account, part in credit.settled)
        assert sum(part for _, part in credit.settled) == credits.used(credit)
        assert not credits.used(credit) or credit.state == "open"


def paid_out_of(trade: Trade, credit: Credit) -> list[RefundAllocation]:
    """Return the live refund allocations that pay a credit out."""
    live = [each for refund in trade.refunds.values() for each in refunds.live_allocations(refund)]
    return [e for e in live if e.kind == "refunded_credit" and e.target_id == credit.id]


def check_refunds(trade: Trade) -> None:
    """Check that refunds exceed neither the refunded parts nor their own payments."""
    in_ledger = ledger_splits(trade, trade.side.refunds)
    for refund in trade.refunds.values():
        paid = [each for each in payments_of(trade, refund) if each.status == "completed"]
        assert refund.paid == sum(each.amount for each in paid) <= refunds.cash(refund)
        assert sums(refund.settled) == sums(*(each.splits[-1] for each in paid))
        own = times_sign(refund.settled, trade.side.sign)
        assert sums(own) == in_ledger.get(refund.id, {})
        parts = refunds.parts(refund, ROLES[Role.SUSPENSE])
        assert all(0 <= part <= parts[account] for account, part in refund.settled)
        for each in payments_of(trade, refund):
            assert each.status != "completed" or sum(p for _, p in each.splits[-1]) == each.amount
    live = [each for refund in trade.refunds.values() for each in refunds.live_allocations(refund)]
    targets: list[Document | Payment] = [*trade.documents.values(), *trade.payments.values()]
    for target in targets:
        assert target.refunded == sum(e.amount for e in live if e.target_id == target.id)
    for document in trade.documents.values():
        net = trade.side.refund_net
        given = parts_left(replace(document, reduced=()), None if net is None else ROLES[net])
        splits = [each.split for each in live if each.target_id == document.id]
        assert sums(document.returned) == sums(*splits)
        assert all(0 <= part <= given[account] for account, part in document.returned)


def check_targets(trade: Trade) -> None:
    """Check that lines of vendor refunds name the refunded targets, in total and as paid."""
    claim, waiting, sign = ROLES[trade.side.refunds], ROLES[Role.SUSPENSE], trade.side.sign
    for refund in trade.refunds.values():
        agreed: Targets = defaultdict(Counter)
        given: Targets = defaultdict(Counter)
        for each in refunds.live_allocations(refund):
            if each.kind == "credit":
                continue
            given[each.target_id].update(sums(times_sign(each.split, sign)))
            agreed[each.target_id][code_of(claim)] -= sign * each.amount
            agreed[each.target_id].update(
                {code_of(ROLES[trade.side.credits]): sign * each.amount}
                if each.kind == "refunded_credit"
                else sums(times_sign(each.split, sign), each.self_assessed)
            )
        if refund.cancelled_at is None:
            rest = sign * refunds.unallocated(refund)
            agreed[refund.id] = Counter({code_of(claim): -rest, code_of(waiting): rest})
        assert by_document(refund.posted, in_cash=False) == without_zeros(agreed)
        paid: Targets = defaultdict(Counter)
        for payment in payments_of(trade, refund):
            for id_, amounts in by_document(payment.posted, in_cash=True).items():
                paid[id_].update(amounts)
        paid_of = {id_: amounts for id_, amounts in without_zeros(paid).items() if id_ in given}
        assert set(without_zeros(paid)) <= {
            *given,
            *(each.id for each in payments_of(trade, refund)),
        }
        for id_, amounts in paid_of.items():
            for code, amount in amounts.items():
                assert 0 <= sign * amount <= sign * given[id_][code]
        if refund.cancelled_at is None and refunds.rest(refund) == 0:
            assert paid_of == without_zeros(given)


Targets = dict[UUID, Counter[str]]


def without_zeros(targets: Targets) -> dict[UUID, dict[str, int]]:
    found = {id_: {code: n for code, n in each.items() if n} for id_, each in targets.items()}
    return {id_: amounts for id_, amounts in found.items() if amounts}


def by_document(entries: Iterable[ledger.Entry], *, in_cash: bool) -> dict[UUID, dict[str, int]]:
    """Add up posted amounts by the document that they are about, on accrual or on cash."""
    found: Targets = defaultdict(Counter)
    for entry in entries:
        for line in entry.lines:
            amounts = {code_of(line.account_id): line.amount}
            if in_cash and not ledger.stays(entry, line):
                amounts = sums(ledger.parts(entry, line))
            for code, amount in amounts.items():
                found[ledger.document_of(entry, line)][code] += amount
    return without_zeros(found)


def payments_of(trade: Trade, refund: Refund) -> list[RefundPayment]:
    return [each for each in trade.refund_payments.values() if each.refund_id == refund.id]


def check_payments(trade: Trade) -> None:
    for payment in trade.payments.values():
        applied, allocated = payments.applied(payment), payments.allocated(payment)
        assert 0 <= applied <= allocated <= payment.total


def check_parts(trade: Trade, *trading: str) -> None:
    """Check that lines and taxes are the parts of the opened, credited and refunded documents."""
    side = trade.side
    wanted: list[Split] = []
    for document in trade.documents.values():
        if document.state == "open" and document.total_amount:
            lessened = 0 if side.discount else 1
            lines = [
                (Part(line.account_id), lessened * line.discount_share - line.subtotal)
                for line in document.lines
            ]
            taxes = [(Part(t.account_id), -t.amount) for line in document.lines for t in line.taxes]
            wanted += [tuple(lines), tuple(taxes)]
            if side.discount is not None:
                wanted.append(((Part(ROLES[side.discount]), document.additional_discount),))
        wanted.append(document.returned)
    for credit in trade.credits.values():
        if credit.state == "open":
            wanted.append(tuple(credits.parts(credit).items()))
    balances = trade.balances()
    assert sums(*(times_sign(each, side.sign) for each in wanted)) == {
        code: balances[code] for code in trading if code in balances
    }


PROFIT_AND_LOSS = {
    each.code
    for each in STARTING_CHART
    if each.account_type in (AccountType.REVENUE, AccountType.EXPENSE)
}


def check_cash(trade: Trade) -> None:
    """Check that cash balances agree with accrual balances less unsettled amounts."""
    accrual, cash = trade.balances(), on_cash(trade)
    assert sum(cash.values()) == 0
    assert all(sum(amounts.values()) == 0 for amounts in cash_by_entry(trade))
    # Profit and net assets differ by the same amount.
    assert _profit(accrual) - _profit(cash) == _net_assets(accrual) - _net_assets(cash)
    assert _profit(accrual) - _profit(cash) == -sum(
        amount for code, amount in not_on_cash(trade).items() if code in PROFIT_AND_LOSS
    )
    # On cash, only money and its suspense accounts have a balance.
    for role in (trade.side.control, trade.side.credits, trade.side.refunds):
        assert cash.get(code_of(ROLES[role]), 0) == 0
    for role in (trade.side.prepayments, Role.BANK, Role.CASH):
        code = code_of(ROLES[role])
        assert cash.get(code, 0) == accrual.get(code, 0) - unpaid(trade, code)


def on_cash(trade: Trade) -> dict[str, int]:
    """Return debits less credits on cash by account code, without zeros."""
    total: Counter[str] = Counter()
    for amounts in cash_by_entry(trade):
        total.update(amounts)
    return {code: amount for code, amount in total.items() if amount}


def cash_by_entry(trade: Trade) -> list[Counter[str]]:
    found = []
    for entry in trade.entries():
        amounts: Counter[str] = Counter()
        for line in entry.lines:
            if ledger.stays(entry, line):
                amounts[code_of(line.account_id)] += line.amount
            for part, share in ledger.parts(entry, line):
                amounts[code_of(part.account_id)] += share
        found.append(amounts)
    return found


def not_on_cash(trade: Trade) -> dict[str, int]:
    """Return the unpaid rests of documents, credits and refunds, and what is written off."""
    sign = trade.side.sign
    left: list[Split] = []
    for document in trade.documents.values():
        if document.state == "open":
            left.append(times_sign(_rest(documents.parts(document), document.settled), -sign))
            left.append(times_sign(discount_of(trade, document), sign))
    for credit in trade.credits.values():
        if credit.state == "open":
            left.append(times_sign(_rest(credits.parts(credit), credit.settled), sign))
    left += [times_sign(split, sign) for split in unpaid_refunds(trade)]
    for write_off in trade.write_offs.values():
        if write_off.reversed_at is None:
            given_up = write_off.amount - sum(share for _, share in write_off.relieved)
            left.append(times_sign(((Part(write_off.account_id), given_up),), sign))
            left.append(times_sign(write_off.relieved, sign))
            left.append(times_sign(write_off.split, -sign))
    return sums(*left)


def discount_of(trade: Trade, document: Document) -> Split:
    """Return a document's own discount: on its lines on cash, else on its own account."""
    if trade.side.discount is None:
        return ()
    shares = [(Part(line.account_id), -line.discount_share) for line in document.lines]
    return (*shares, (Part(ROLES[trade.side.discount]), document.additional_discount))


def unpaid_refunds(trade: Trade) -> list[Split]:
    return [
        _rest(refunds.parts(refund, ROLES[Role.SUSPENSE]), refund.settled)
        for refund in trade.refunds.values()
        if refund.cancelled_at is None
    ]


def unpaid(trade: Trade, code: str) -> int:
    """Return the amount of agreed and unpaid refunds on an account."""
    return sums(*unpaid_refunds(trade)).get(code, 0) * trade.side.sign


def _rest(parts: dict[Part, int], settled: Split) -> Split:
    return tuple(rests(parts, settled).items())


def _profit(balances: dict[str, int]) -> int:
    return -sum(amount for code, amount in balances.items() if code in PROFIT_AND_LOSS)


def _net_assets(balances: dict[str, int]) -> int:
    return sum(amount for code, amount in balances.items() if code not in PROFIT_AND_LOSS)


def mirrored(subjects: Iterable[postings.Subject]) -> bool:
    """Return whether every entry is a linked reversal, or reversed by one."""
    return all(
        entry.reversed or entry.reversal_of_id is not None
        for subject in subjects
        for entry in subject.posted
    )
