"""The words on documents, in the five languages in which a business can keep its books."""

from dataclasses import dataclass
from typing import Final

from libraries.pdf_files.papers import InvoiceState, SettledBy, Style


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The words of one language; names in braces are replaced by values."""

    titles: dict[InvoiceState, str]
    bill_to: str
    number: str
    issued_on: str
    delivered_on: str
    due_on: str
    reference: str
    vat_number: str
    company_number: str
    tax_number: str
    item: str
    quantity: str
    unit_price: str
    discount: str
    tax: str
    amount: str
    amounts_in: str
    amounts_in_with_tax: str
    subtotal: str
    tax_of: str
    tax_given: str
    untaxed: dict[str, str]
    withheld: str
    total: str
    settled: dict[SettledBy, str]
    left: str
    reverse_charge: str
    foreign_tax: str
    memo: str
    page: str


def _english(tax: str) -> Words:
    """Return the English words, with the country's name of the tax."""
    return Words(
        titles={
            InvoiceState.DRAFT: "Draft invoice",
            InvoiceState.OPEN: "Invoice",
            InvoiceState.VOID: "Void invoice",
        },
        bill_to="Bill to",
        number="Number",
        issued_on="Date",
        delivered_on="Delivered",
        due_on="Due",
        reference="Your reference",
        vat_number=f"{tax} number",
        company_number="Company number",
        tax_number="Tax number",
        item="Description",
        quantity="Quantity",
        unit_price="Unit price",
        discount="Discount",
        tax=tax,
        amount="Amount",
        amounts_in=f"Amounts in {{currency}}, without {tax}",
        amounts_in_with_tax=f"Amounts in {{currency}}, with {tax}",
        subtotal=f"Subtotal without {tax}",
        tax_of=f"{tax} {{rate}} of {{net}}",
        tax_given=f"{tax} on {{net}}",
        untaxed={
            "zero": "Zero-rated, of {net}",
            "exempt": f"Exempt from {tax}, of {{net}}",
            "out_of_scope": f"Outside the scope of {tax}, of {{net}}",
            "reverse_charge": "Reverse charge, of {net}",
        },
        withheld="Tax withheld",
        total="Total",
        settled={
            SettledBy.PAYMENT: "Paid on {day}",
            SettledBy.CREDIT: "Credited on {day}",
            SettledBy.WRITE_OFF: "Written off on {day}",
        },
        left="Amount due",
        reverse_charge=f"Reverse charge: the customer accounts for the {tax}.",
        foreign_tax=(
            f"Exchange rate: 1 {{currency}} = {{rate}} {{base}}. {tax} in {{base}}: {{tax}}."
        ),
        memo="Notes",
        page="Page {page} of {pages}",
    )


GERMAN = Words(
    titles={
        InvoiceState.DRAFT: "Rechnungsentwurf",
        InvoiceState.OPEN: "Rechnung",
        InvoiceState.VOID: "Stornierte Rechnung",
    },
    bill_to="Rechnung an",
    number="Rechnungsnummer",
    issued_on="Rechnungsdatum",
    delivered_on="Lieferdatum",
    due_on="Zahlbar bis",
    reference="Ihr Zeichen",
    vat_number="USt-IdNr.",
    company_number="Registernummer",
    tax_number="Steuernummer",
    item="Bezeichnung",
    quantity="Menge",
    unit_price="Einzelpreis",
    discount="Rabatt",
    tax="USt",
    amount="Betrag",
    amounts_in="Beträge in {currency}, ohne USt",
    amounts_in_with_tax="Beträge in {currency}, mit USt",
    subtotal="Zwischensumme ohne USt",
    tax_of="USt {rate} auf {net}",
    tax_given="USt auf {net}",
    untaxed={
        "zero": "USt-frei mit Vorsteuerabzug, {net}",
        "exempt": "Umsatzsteuerfrei, {net}",
        "out_of_scope": "Nicht steuerbar, {net}",
        "reverse_charge": "Steuerschuldnerschaft des Leistungsempfängers, {net}",
    },
    withheld="Einbehaltene Steuer",
    total="Gesamtbetrag",
    settled={
        SettledBy.PAYMENT: "Bezahlt am {day}",
        SettledBy.CREDIT: "Gutgeschrieben am {day}",
        SettledBy.WRITE_OFF: "Ausgebucht am {day}",
    },
    left="Offener Betrag",
    reverse_charge="Steuerschuldnerschaft des Leistungsempfängers (Reverse Charge).",
    foreign_tax="Wechselkurs: 1 {currency} = {rate} {base}. USt in {base}: {tax}.",
    memo="Anmerkungen",
    page="Seite {page} von {pages}",
)

DUTCH = Words(
    titles={
        InvoiceState.DRAFT: "Conceptfactuur",
        InvoiceState.OPEN: "Factuur",
        InvoiceState.VOID: "Vervallen factuur",
    },
    bill_to="Factuur aan",
    number="Factuurnummer",
    issued_on="Factuurdatum",
    delivered_on="Leverdatum",
    due_on="Vervaldatum",
    reference="Uw referentie",
    vat_number="Btw-nummer",
    company_number="Ondernemingsnummer",
    tax_number="Fiscaal nummer",
    item="Omschrijving",
    quantity="Aantal",
    unit_price="Prijs",
    discount="Korting",
    tax="Btw",
    amount="Bedrag",
    amounts_in="Bedragen in {currency}, exclusief btw",
    amounts_in_with_tax="Bedragen in {currency}, inclusief btw",
    subtotal="Subtotaal exclusief btw",
    tax_of="Btw {rate} over {net}",
    tax_given="Btw over {net}",
    untaxed={
        "zero": "Nultarief, over {net}",
        "exempt": "Vrijgesteld van btw, over {net}",
        "out_of_scope": "Buiten de btw, over {net}",
        "reverse_charge": "Btw verlegd, over {net}",
    },
    withheld="Ingehouden belasting",
    total="Totaal",
    settled={
        SettledBy.PAYMENT: "Betaald op {day}",
        SettledBy.CREDIT: "Gecrediteerd op {day}",
        SettledBy.WRITE_OFF: "Afgeboekt op {day}",
    },
    left="Te betalen",
    reverse_charge="Btw verlegd.",
    foreign_tax="Wisselkoers: 1 {currency} = {rate} {base}. Btw in {base}: {tax}.",
    memo="Opmerkingen",
    page="Pagina {page} van {pages}",
)

FRENCH = Words(
    titles={
        InvoiceState.DRAFT: "Projet de facture",
        InvoiceState.OPEN: "Facture",
        InvoiceState.VOID: "Facture annulée",
    },
    bill_to="Facturé à",
    number="Numéro",
    issued_on="Date",
    delivered_on="Livraison",
    due_on="Échéance",
    reference="Votre référence",
    vat_number="Numéro de TVA",
    company_number="Numéro d'immatriculation",
    tax_number="Numéro fiscal",
    item="Désignation",
    quantity="Quantité",
    unit_price="Prix unitaire",
    discount="Remise",
    tax="TVA",
    amount="Montant",
    amounts_in="Montants en {currency}, hors TVA",
    amounts_in_with_tax="Montants en {currency}, TVA comprise",
    subtotal="Sous-total hors TVA",
    tax_of="TVA {rate} sur {net}",
    tax_given="TVA sur {net}",
    untaxed={
        "zero": "TVA à taux zéro, sur {net}",
        "exempt": "Exonéré de TVA, sur {net}",
        "out_of_scope": "Hors champ de la TVA, sur {net}",
        "reverse_charge": "Autoliquidation, sur {net}",
    },
    withheld="Retenue à la source",
    total="Total",
    settled={
        SettledBy.PAYMENT: "Payé le {day}",
        SettledBy.CREDIT: "Avoir imputé le {day}",
        SettledBy.WRITE_OFF: "Passé en perte le {day}",
    },
    left="Reste à payer",
    reverse_charge="Autoliquidation de la TVA par le preneur.",
    foreign_tax="Taux de change : 1 {currency} = {rate} {base}. TVA en {base} : {tax}.",
    memo="Remarques",
    page="Page {page} sur {pages}",
)

SPANISH = Words(
    titles={
        InvoiceState.DRAFT: "Borrador de factura",
        InvoiceState.OPEN: "Factura",
        InvoiceState.VOID: "Factura anulada",
    },
    bill_to="Facturar a",
    number="Número",
    issued_on="Fecha",
    delivered_on="Entrega",
    due_on="Vencimiento",
    reference="Su referencia",
    vat_number="NIF-IVA",
    company_number="Número de registro",
    tax_number="NIF",
    item="Descripción",
    quantity="Cantidad",
    unit_price="Precio",
    discount="Descuento",
    tax="IVA",
    amount="Importe",
    amounts_in="Importes en {currency}, sin IVA",
    amounts_in_with_tax="Importes en {currency}, IVA incluido",
    subtotal="Base imponible",
    tax_of="IVA {rate} sobre {net}",
    tax_given="IVA sobre {net}",
    untaxed={
        "zero": "IVA al tipo cero, sobre {net}",
        "exempt": "Exento de IVA, sobre {net}",
        "out_of_scope": "No sujeto a IVA, sobre {net}",
        "reverse_charge": "Inversión del sujeto pasivo, sobre {net}",
    },
    withheld="Retención",
    total="Total",
    settled={
        SettledBy.PAYMENT: "Pagado el {day}",
        SettledBy.CREDIT: "Abonado el {day}",
        SettledBy.WRITE_OFF: "Dado de baja el {day}",
    },
    left="Pendiente de pago",
    reverse_charge="Inversión del sujeto pasivo.",
    foreign_tax="Tipo de cambio: 1 {currency} = {rate} {base}. IVA en {base}: {tax}.",
    memo="Observaciones",
    page="Página {page} de {pages}",
)

_LANGUAGES: Final = {
    "en": _english("VAT"),
    "de": GERMAN,
    "nl": DUTCH,
    "fr": FRENCH,
    "es": SPANISH,
}
_ENGLISH_OF: Final = {"MY": _english("SST"), "SG": _english("GST")}


def words_of(style: Style) -> Words:
    """Return the words of a style."""
    words = _LANGUAGES[style.language]
    return _ENGLISH_OF.get(style.country or "", words) if style.language == "en" else words
