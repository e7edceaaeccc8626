"""The two sides in the model: those of `tests/builders/trade`, with more words and accounts."""

from collections.abc import Mapping
from dataclasses import dataclass

from tests.builders import trade

PROVIDERS = frozenset({"paypal", "stripe"})
CARDS = frozenset({"credit_card", "debit_card"})
ANYWHERE = ("pending", "processing", "completed", "failed", "cancelled", "refunded")


@dataclass(frozen=True, kw_only=True)
class Side(trade.Trade):
    """The words and accounts of one side; no request is sent with it.

    Without a `discount` account the discount on a document lowers its lines, and without `returns`
    a refund does. With `clears`, card money is on the clearing account until a payout.
    """

    name: str
    payment_parts: str
    refund_allocations: str
    discount: str | None
    returns: str | None
    refunds: str
    clears: bool
    not_active: str
    payment_not_found: str
    methods: tuple[str, ...]
    statuses: tuple[str, ...]
    moves: Mapping[str, tuple[str, ...]]

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
    def not_open(self) -> str:
        return f"{self.noun}_not_open"

    @property
    def has_allocations(self) -> str:
        return f"{self.noun}_has_allocations"

    @property
    def of_another(self) -> str:
        return f"{self.noun}_{self.party}_mismatch"

    def money(self, method: str, processor: str | None) -> str:
        """Return the account on which money of a method moves; case does not matter."""
        method = method.lower()
        if self.clears and (processor or method in PROVIDERS | CARDS):
            return "1150"
        return "1000" if method == "cash" else "1100"


SALES = Side(
    **vars(trade.SALES),
    name="sales",
    payment_parts="payment_allocations",
    refund_allocations="refund_allocations",
    discount="4200",
    returns="4100",
    refunds="2300",
    clears=True,
    not_active="customer_archived",
    payment_not_found="payment_not_found",
    methods=("bank_transfer", "cash", "credit_card", "check", "paypal", "stripe", "other"),
    statuses=ANYWHERE,
    moves={status: ANYWHERE for status in ANYWHERE},
)

PURCHASES = Side(
    **vars(trade.PURCHASES),
    name="purchases",
    payment_parts="bill_payment_allocations",
    refund_allocations="vendor_refund_allocations",
    discount=None,
    returns=None,
    refunds="1270",
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
    """Return whether a payment may change from one status to another; the same one is allowed."""
    return after == before or after in side.moves[before]
