"""The two sides of trade in one business: who keeps what is traded with customers, and vendors.

An invoice and a bill are one kind of value. Which of the two it is, its trade says: the stores that
it is loaded from and saved to, and the side that the rules work it out by.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from accounting.credits import Credit
from accounting.documents import Document
from accounting.parties import Party
from accounting.payments import Payment
from accounting.postings import Subject
from accounting.refunds import Refund, RefundPayment
from accounting.sides import Side
from accounting.writing_off import WriteOff
from persistence.credits import CreditStore
from persistence.documents import DocumentStore
from persistence.parties import PartyStore
from persistence.payments import PaymentStore
from persistence.questions import Question
from persistence.refund_payments import RefundPaymentStore
from persistence.refunds import RefundStore
from persistence.store import Store
from persistence.write_offs import WriteOffStore

if TYPE_CHECKING:
    from persistence.books import Books


@dataclass(frozen=True, slots=True)
class Trade:
    """One side of trade in one business; what is owed to others is not written off."""

    books: "Books"
    side: Side
    parties: PartyStore[Any]
    documents: DocumentStore
    payments: PaymentStore
    credits: CreditStore
    refunds: RefundStore[Any, Any]
    refund_payments: RefundPaymentStore[Any]
    write_offs: WriteOffStore | None = None

    @property
    def stores(self) -> tuple[Store[Any], ...]:
        """The stores of everything that posts."""
        written_off = () if self.write_offs is None else (self.write_offs,)
        given_back = (self.refunds, self.refund_payments)
        return (self.documents, self.payments, self.credits, *written_off, *given_back)

    def named(self, body: Mapping[str, Any]) -> Question[Party]:
        """Find the party that a body names, as `PartyStore.party` does."""
        id_: UUID | None = body.get(self.side.party_id_field)
        return self.parties.party(id_, body.get(self.side.party_external_id_field))

    def save(self, *values: Subject) -> None:
        """Stage values to be written by the flush; one that was never loaded is new."""
        for value in values:
            self._store_of(value).save(value)

    def _store_of(self, value: Subject) -> Any:
        match value:
            case Document():
                return self.documents
            case Payment():
                return self.payments
            case Credit():
                return self.credits
            case Refund():
                return self.refunds
            case RefundPayment():
                return self.refund_payments
            case WriteOff():
                return self.write_offs
