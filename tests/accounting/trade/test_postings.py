from accounting.books.numbers import Pending
from accounting.trade import postings
from accounting.trade.payments import applied_days, completion_days
from accounting.trade.sides import RECEIVABLE
from tests.accounting.trade import ROLES, Trade, account_id, allocations, code_of, day, line, moment


class TestInvoice:
    def test_sending_debits_receivables_and_credits_each_account(self) -> None:
        trade = Trade("5")
        invoice = trade.invoice(
            line(10_000, discount_amount=1_000),
            line(5_000, account_identifier={"type": "AccountCode", "code": "4500"}),
            line(1_000, sales_taxes=[{"amount": 200}]),
            additional_discount=500,
        )
        assert trade.book(invoice) == [
            ("5", {"1200": 14_700, "4200": 500, "4000": -10_000, "4500": -5_000, "2200": -200})
        ]

    def test_lines_on_one_account_are_added_up(self) -> None:
        trade = Trade()
        invoice = trade.invoice(100, 200, 300)
        assert len(trade.documents[invoice].posted[0].lines) == 2

    def test_debits_and_credits_of_one_account_stand_apart_at_first(self) -> None:
        trade = Trade()
        discounts = {"type": "AccountCode", "code": "4200"}
        invoice = trade.invoice(line(2, account_identifier=discounts), additional_discount=1)
        lines = trade.documents[invoice].posted[0].lines
        assert [(code_of(each.account_id), each.debit, each.credit) for each in lines] == [
            ("1200", 1, 0),
            ("4200", 1, 0),
            ("4200", 0, 2),
        ]

    def test_a_draft_posts_nothing_until_it_is_sent(self) -> None:
        trade = Trade("5")
        draft = trade.invoice(1_000, sent_at=None)
        assert trade.book(draft) == []
        trade.today = "8"
        trade.send(draft)
        assert trade.book(draft) == [("8", {"1200": 1_000, "4000": -1_000})]

    def test_a_total_of_zero_posts_nothing(self) -> None:
        trade = Trade()
        invoice = trade.invoice(1_000, additional_discount=1_000)
        assert trade.book(invoice) == []

    def test_an_edit_posts_the_difference_at_the_document_date(self) -> None:
        trade = Trade("5")
        invoice = trade.invoice(1_000)
        trade.today = "9"
        trade.replace(invoice, 800)
        assert trade.book(invoice)[1:] == [("5", {"1200": -200, "4000": 200})]

    def test_a_moved_date_is_taken_back_at_the_old_one(self) -> None:
        trade = Trade("5")
        invoice = trade.invoice(1_000)
        trade.replace(invoice, 1_000, sent_at=moment("7"))
        assert trade.book(invoice)[1:] == [
            ("5", {"1200": -1_000, "4000": 1_000}),
            ("7", {"1200": 1_000, "4000": -1_000}),
        ]

    def test_a_void_mirrors_each_entry_that_stands_linked(self) -> None:
        trade = Trade("5")
        invoice = trade.invoice(1_000)
        trade.replace(invoice, 800)
        trade.today = "12"
        trade.void(invoice)
        first, change, *reversals = trade.documents[invoice].posted
        assert [each.reversal_of_id for each in reversals] == [first.id, change.id]
        assert first.reversed
        assert change.reversed
        assert trade.book(invoice)[2:] == [
            ("12", {"1200": -1_000, "4000": 1_000}),
            ("12", {"1200": 200, "4000": -200}),
        ]

    def test_a_void_leaves_alone_what_cancels_out(self) -> None:
        trade = Trade("5")
        invoice = trade.invoice(1_000)
        trade.replace(invoice, 1_000, sent_at=moment("7"))
        trade.void(invoice, "12")
        *_, standing, reversal = trade.documents[invoice].posted
        assert len(trade.documents[invoice].posted) == 4
        assert reversal.reversal_of_id == standing.id

    def test_a_void_is_never_before_the_document(self) -> None:
        trade = Trade("2")
        invoice = trade.invoice(1_000, sent_at=moment("20"))
        trade.void(invoice)
        assert [on for on, _ in trade.book(invoice)] == ["20", "20"]

    def test_entries_name_their_document_in_words(self) -> None:
        trade = Trade("5")
        invoice = trade.invoice(1_000)
        trade.replace(invoice, 800)
        trade.void(invoice)
        posted = trade.documents[invoice].posted
        assert [each.description for each in posted] == [
            "Invoice to Acme Ltd",
            "Change of invoice to Acme Ltd",
            "Reversal of invoice to Acme Ltd",
            "Reversal of change of invoice to Acme Ltd",
        ]
        assert {(each.source_type, each.source_id) for each in posted} == {("invoice", invoice)}
        assert {each.reference for each in posted} == {Pending("INV", 0)}


class TestPayment:
    def test_sent_on_the_5th_paid_on_the_10th(self) -> None:
        trade = Trade("5")
        invoice = trade.invoice(1_000)
        trade.today = "10"
        payment = trade.pay(1_000, (invoice, 1_000), external_id="pay-1")
        assert trade.book(payment) == [("10", {"1100": 1_000, "1200": -1_000})]
        assert trade.documents[invoice].paid_on == day("10")
        posted = trade.payments[payment].posted[0]
        assert (posted.description, posted.reference) == ("Payment from Acme Ltd", "pay-1")

    def test_the_settled_document_and_its_split_stand_on_the_receivables_line(self) -> None:
        trade = Trade("5")
        invoice = trade.invoice(line(8_333, sales_taxes=[{"amount": 1_667}]))
        trade.today = "10"
        payment = trade.pay(3_333, (invoice, 3_333))
        control = trade.payments[payment].posted[0].lines[1]
        assert control.settles == invoice
        assert control.split == ((account_id("4000"), -2_777), (account_id("2200"), -556))

    def test_more_money_than_invoices_waits_on_prepayments(self) -> None:
        trade = Trade("5")
        invoice = trade.invoice(600)
        payment = trade.pay(1_000, (invoice, 600))
        assert trade.book(payment) == [("5", {"1100": 1_000, "1200": -600, "2100": -400})]

    def test_a_fee_is_an_entry_of_its_own(self) -> None:
        trade = Trade("5")
        payment = trade.pay(1_000, payment_method="stripe", processing_fee_cents=29)
        assert trade.book(payment) == [
            ("5", {"1150": 1_000, "2100": -1_000}),
            ("5", {"6100": 29, "1150": -29}),
        ]
        assert trade.payments[payment].posted[1].description == "Fee of payment from Acme Ltd"

    def test_a_pending_payment_posts_nothing_and_then_at_its_own_date(self) -> None:
        trade = Trade("3")
        invoice = trade.invoice(1_000)
        trade.today = "5"
        payment = trade.pay(1_000, (invoice, 1_000), status="pending")
        assert trade.book(payment) == []
        trade.today = "10"
        trade.change(payment, status="completed")
        assert trade.book(payment) == [("5", {"1100": 1_000, "1200": -1_000})]
        assert trade.documents[invoice].paid_on == day("5")

    def test_failed_is_posted_back_today_and_a_regained_status_posts_today(self) -> None:
        trade = Trade("5")
        invoice = trade.invoice(1_000)
        payment = trade.pay(1_000, (invoice, 1_000), processing_fee_cents=20)
        trade.today = "10"
        trade.change(payment, status="failed")
        trade.today = "20"
        trade.change(payment, status="completed")
        assert trade.book(payment) == [
            ("5", {"1100": 1_000, "1200": -1_000}),
            ("5", {"6100": 20, "1100": -20}),
            ("10", {"1100": -1_000, "1200": 1_000}),
            ("10", {"6100": -20, "1100": 20}),
            ("20", {"1100": 1_000, "2100": -1_000}),
            ("20", {"6100": 20, "1100": -20}),
        ]

    def test_applied_later_moves_from_prepayments_today(self) -> None:
        trade = Trade("5")
        invoice = trade.invoice(1_000)
        payment = trade.pay(1_000)
        trade.today = "12"
        trade.change(payment, allocations=allocations((invoice, 400)))
        assert trade.book(payment)[1:] == [("12", {"2100": 400, "1200": -400})]

    def test_a_replacing_list_keeps_what_is_unchanged_and_makes_the_rest_anew(self) -> None:
        trade = Trade("5")
        first, second = trade.invoice(500), trade.invoice(500)
        payment = trade.pay(1_000, (first, 300), (second, 500))
        trade.today = "12"
        trade.change(payment, allocations=allocations((first, 500), (second, 500)))
        assert trade.book(payment)[1:] == [("12", {"1200": -200, "2100": 200})]
        ended, kept, begun = trade.payments[payment].allocations
        assert (ended.end, kept.end, begun.start) == (day("12"), None, day("12"))

    def test_a_moved_payment_date_takes_its_allocations_along(self) -> None:
        trade = Trade("5")
        invoice = trade.invoice(1_000)
        payment = trade.pay(1_000, (invoice, 1_000))
        trade.today = "20"
        trade.change(payment, payment_date=day("8"))
        assert trade.book(payment)[1:] == [
            ("5", {"1100": -1_000, "1200": 1_000}),
            ("8", {"1100": 1_000, "1200": -1_000}),
        ]
        assert trade.documents[invoice].paid_on == day("8")

    def test_a_raised_total_is_corrected_at_the_payment_date(self) -> None:
        trade = Trade("5")
        payment = trade.pay(1_000)
        trade.today = "20"
        trade.change(payment, total_amount_cents=1_200)
        assert trade.book(payment)[1:] == [("5", {"1100": 200, "2100": -200})]

    def test_a_changed_method_moves_the_money_at_the_payment_date(self) -> None:
        trade = Trade("5")
        payment = trade.pay(1_000)
        trade.today = "20"
        trade.change(payment, payment_method="cash")
        assert trade.book(payment)[1:] == [("5", {"1000": 1_000, "1100": -1_000})]

    def test_money_in_advance_waits_until_the_invoice_opens(self) -> None:
        trade = Trade("5")
        invoice = trade.invoice(1_000, sent_at=moment("15"))
        payment = trade.pay(1_000, (invoice, 1_000))
        assert trade.book(payment) == [
            ("5", {"1100": 1_000, "2100": -1_000}),
            ("15", {"2100": 1_000, "1200": -1_000}),
        ]
        assert trade.documents[invoice].paid_on == day("15")

    def test_nothing_is_taken_back_before_the_day_it_was_posted(self) -> None:
        trade = Trade("2")
        invoice = trade.invoice(1_000)
        payment = trade.pay(1_000, (invoice, 1_000), payment_date=day("20"))
        trade.today = "10"
        trade.change(payment, status="failed")
        assert trade.book(payment) == [
            ("20", {"1100": 1_000, "1200": -1_000}),
            ("20", {"1100": -1_000, "1200": 1_000}),
        ]

    def test_two_partial_payments_settle_every_part_exactly(self) -> None:
        trade = Trade("5")
        invoice = trade.invoice(line(8_333, sales_taxes=[{"amount": 1_667}]))
        trade.pay(3_333, (invoice, 3_333))
        trade.today = "9"
        second = trade.pay(6_667, (invoice, 6_667))
        split = trade.payments[second].allocations[0].split
        assert split == ((account_id("4000"), 5_556), (account_id("2200"), 1_111))
        assert trade.documents[invoice].paid_on == day("9")

    def test_a_step_taken_back_gives_its_own_split_back(self) -> None:
        trade = Trade("5")
        invoice = trade.invoice(line(600), line(600, sales_taxes=[{"amount": 200}]))
        first, second = trade.pay(700, (invoice, 700)), trade.pay(700, (invoice, 700))
        taken = trade.payments[first].allocations[0].split
        trade.change(first, status="failed")
        settled = trade.payments[second].allocations[0].split
        assert trade.documents[invoice].settled == settled
        assert trade.payments[first].allocations[0].split == taken

    def test_a_swap_of_two_splits_of_one_amount_is_posted_too(self) -> None:
        trade = Trade("5")
        invoice = trade.invoice(
            line(100), line(100, account_identifier={"type": "AccountCode", "code": "4500"})
        )
        first = trade.pay(99, (invoice, 99))
        trade.today = "10"
        trade.change(first, allocations=[])
        trade.pay(1, (invoice, 1))
        trade.change(first, allocations=allocations((invoice, 99)))
        splits = [each.split for each in trade.payments[first].allocations]
        assert splits[0] != splits[1]
        trade.change(first, payment_date=day("12"))
        posted = [line.split for entry in trade.payments[first].posted for line in entry.lines]
        sums: dict[str, int] = {}
        for split in posted:
            for account, part in split:
                sums[code_of(account)] = sums.get(code_of(account), 0) - part
        wanted = {code_of(account): part for account, part in splits[1]}
        assert {code: part for code, part in sums.items() if part} == wanted

    def test_cancelling_a_payment_that_settled_nothing_links_its_reversals(self) -> None:
        trade = Trade("5")
        payment = trade.pay(1_000, processing_fee_cents=20)
        trade.change(payment, total_amount_cents=1_100)
        trade.today = "8"
        trade.change(payment, status="cancelled")
        posted = trade.payments[payment].posted
        assert [each.reversal_of_id for each in posted] == [
            *(None, None, None),
            *(each.id for each in (posted[0], posted[2], posted[1])),
        ]
        assert {each.entry_date for each in posted[3:]} == {day("8")}

    def test_cancelling_one_that_settled_something_is_a_plain_entry(self) -> None:
        trade = Trade("5")
        payment = trade.pay(1_000, (trade.invoice(1_000), 1_000))
        trade.change(payment, status="cancelled")
        assert [each.reversal_of_id for each in trade.payments[payment].posted] == [None, None]

    def test_desired_is_the_same_whatever_was_posted(self) -> None:
        trade = Trade("5")
        payment = trade.payments[trade.pay(1_000)]
        again = postings.entries_for(RECEIVABLE, payment, ROLES, None)
        assert again == []


class TestPeriodLock:
    def test_a_correction_inside_the_lock_lands_on_the_day_after_it(self) -> None:
        trade = Trade("5")
        invoice = trade.invoice(1_000)
        payment = trade.pay(500)
        trade.today, trade.lock = "02-10", "31"
        trade.replace(invoice, 800)
        trade.change(payment, payment_method="cash")
        assert trade.book(invoice)[1:] == [("2-1", {"1200": -200, "4000": 200})]
        assert trade.book(payment)[1:] == [("2-1", {"1000": 500, "1100": -500})]

    def test_a_date_moved_out_of_the_lock_is_taken_back_on_the_day_after_it(self) -> None:
        trade = Trade("5")
        payment = trade.pay(500)
        trade.today, trade.lock = "02-10", "31"
        trade.change(payment, payment_date=day("02-04"))
        assert trade.book(payment)[1:] == [
            ("2-1", {"1100": -500, "2100": 500}),
            ("2-4", {"1100": 500, "2100": -500}),
        ]

    def test_history_inside_the_lock_that_nets_to_nothing_is_left_alone(self) -> None:
        trade = Trade("5")
        payment = trade.pay(500)
        trade.today = "10"
        trade.change(payment, status="failed")
        trade.today, trade.lock = "02-10", "31"
        trade.change(payment, payment_method="cash")
        assert len(trade.book(payment)) == 2

    def test_today_inside_the_lock_counts_as_the_day_after_it(self) -> None:
        trade = Trade("5")
        invoice = trade.invoice(500)
        payment = trade.pay(500)
        trade.today, trade.lock = "10", "31"
        trade.change(payment, allocations=allocations((invoice, 500)))
        assert trade.book(payment)[1:] == [("2-1", {"2100": 500, "1200": -500})]
        assert trade.documents[invoice].paid_on == day("02-01")

    def test_a_void_today_inside_the_lock_is_still_linked(self) -> None:
        trade = Trade("5")
        invoice = trade.invoice(500)
        trade.today, trade.lock = "10", "31"
        trade.void(invoice)
        first, reversal = trade.documents[invoice].posted
        assert (reversal.reversal_of_id, reversal.entry_date) == (first.id, day("02-01"))

    def test_a_lock_that_moves_back_moves_its_corrections_back_with_the_next_change(self) -> None:
        trade = Trade("5")
        invoice = trade.invoice(1_000)
        trade.today, trade.lock = "02-10", "31"
        trade.replace(invoice, 800)
        trade.lock = None
        trade.replace(invoice, 700)
        assert trade.book(invoice)[2:] == [
            ("5", {"1200": -300, "4000": 300}),
            ("2-1", {"1200": 200, "4000": -200}),
        ]


class TestDays:
    def test_an_allocation_is_applied_only_while_its_payment_is_completed(self) -> None:
        trade = Trade("5")
        invoice = trade.invoice(1_000)
        payment = trade.pay(1_000, (invoice, 1_000))
        trade.today = "10"
        trade.change(payment, status="processing")
        trade.today = "15"
        trade.change(payment, status="completed")
        value = trade.payments[payment]
        before, after = value.allocations
        assert completion_days(value) == [(day("5"), day("10")), (day("15"), None)]
        assert applied_days(value, before) == [(day("5"), day("10"))]
        assert applied_days(value, after) == [(day("15"), None)]
        assert trade.book(payment)[1:] == [
            ("10", {"1100": -1_000, "1200": 1_000}),
            ("15", {"1100": 1_000, "1200": -1_000}),
        ]

    def test_what_was_released_before_its_payment_failed_had_ended_by_then(self) -> None:
        trade = Trade("5")
        invoice = trade.invoice(1_000)
        payment = trade.pay(1_000, (invoice, 1_000))
        trade.today = "7"
        trade.change(payment, allocations=[])
        trade.today = "9"
        trade.change(payment, status="failed")
        assert trade.book(payment)[1:] == [
            ("7", {"1200": 1_000, "2100": -1_000}),
            ("9", {"1100": -1_000, "2100": 1_000}),
        ]
