"""What tells sales from purchases in the model: words, accounts, and a sign."""

from collections.abc import Mapping
from dataclasses import dataclass

PROVIDERS = frozenset({"paypal", "stripe"})
CARDS = frozenset({"credit_card", "debit_card"})
ANYWHERE = ("pending", "processing", "completed", "failed", "cancelled", "refunded")


@dataclass(frozen=True)
class Side:
    """The words of one side; `sign` is +1 where a payment brings money.

    Without a `discount` account the discount on a whole document lessens its lines, and without
    `returns` a refund goes back to them. With `clears`, card money waits at its processor.
    """

    name: str
    sign: int
    party: str
    noun: str
    documents: str
    payments: str
    credits: str
    open_word: str
    opened: str
    dated: str | None
    series: str
    number: str
    credit_series: str
    credit_number: str
    credit_id: str
    credit_account: str
    amount: str
    payment_parts: str
    credit_parts: str
    refund_parts: str
    control: str
    line: str
    tax: str
    discount: str | None
    returns: str | None
    prepayments: str
    credit_control: str
    credit_line: str
    given_up: str
    refunds: str
    fee: str
    clears: bool
    not_active: str
    payment_not_found: str
    methods: tuple[str, ...]
    statuses: tuple[str, ...]
    moves: Mapping[str, tuple[str, ...]]

    @property
    def parties(self) -> str:
        return f"{self.party}s/"

    @property
    def party_id(self) -> str:
        return f"{self.party}_id"

    @property
    def party_external_id(self) -> str:
        return f"{self.party}_external_id"

    @property
    def document_id(self) -> str:
        return f"{self.noun}_id"

    @property
    def opened_at(self) -> str:
        return f"{self.opened}_at"

    @property
    def source_id(self) -> str:
        return f"source_{self.noun}_id"

    @property
    def not_open(self) -> str:
        return f"{self.noun}_not_open"

    @property
    def has_allocations(self) -> str:
        return f"{self.noun}_has_allocations"

    @property
    def of_another(self) -> str:
        return f"{self.noun}_{self.party}_mismatch"

    def money(self, method: str, processor: str | None) -> str:
        """The account that money of a method moves on, however the method is written."""
        method = method.lower()
        if self.clears and (processor or method in PROVIDERS | CARDS):
            return "1150"
        return "1000" if method == "cash" else "1100"


SALES = Side(
    name="sales",
    sign=1,
    party="customer",
    noun="invoice",
    documents="invoices/",
    payments="invoices/payments/",
    credits="customer-credits/",
    open_word="send",
    opened="sent",
    dated=None,
    series="INV",
    number="invoice_number",
    credit_series="CN",
    credit_number="credit_note_number",
    credit_id="credit_note_id",
    credit_account="revenue_account_identifier",
    amount="total_amount_cents",
    payment_parts="payment_allocations",
    credit_parts="credit_allocations",
    refund_parts="refund_allocations",
    control="1200",
    line="4000",
    tax="2200",
    discount="4200",
    returns="4100",
    prepayments="2100",
    credit_control="2250",
    credit_line="4100",
    given_up="6200",
    refunds="2300",
    fee="6100",
    clears=True,
    not_active="customer_archived",
    payment_not_found="payment_not_found",
    methods=("bank_transfer", "cash", "credit_card", "check", "paypal", "stripe", "other"),
    statuses=ANYWHERE,
    moves={status: ANYWHERE for status in ANYWHERE},
)

PURCHASES = Side(
    name="purchases",
    sign=-1,
    party="vendor",
    noun="bill",
    documents="bills/",
    payments="bills/payments/",
    credits="vendor-credits/",
    open_word="receive",
    opened="received",
    dated="bill_date",
    series="BILL",
    number="bill_number",
    credit_series="VC",
    credit_number="vendor_credit_number",
    credit_id="vendor_credit_id",
    credit_account="expense_account_identifier",
    amount="amount_cents",
    payment_parts="bill_payment_allocations",
    credit_parts="vendor_credit_allocations",
    refund_parts="vendor_refund_allocations",
    control="2000",
    line="6000",
    tax="1300",
    discount=None,
    returns=None,
    prepayments="1250",
    credit_control="1260",
    credit_line="5100",
    given_up="4500",
    refunds="1270",
    fee="6300",
    clears=False,
    not_active="vendor_not_active",
    payment_not_found="bill_payment_not_found",
    methods=("bank_transfer", "cash", "credit_card", "check", "ach", "wire", "debit_card", "other"),
    statuses=("pending", "processing", "completed", "failed", "cancelled"),
    moves={
        "pending": ("processing", "completed", "failed", "cancelled"),
        "processing": ("completed", "failed"),
        "completed": ("failed",),
        "failed": ("pending", "completed", "cancelled"),
        "cancelled": (),
    },
)


def may_become(side: Side, before: str, after: str) -> bool:
    """Whether a payment may come from one status to another; staying is no move."""
    return after == before or after in side.moves[before]
