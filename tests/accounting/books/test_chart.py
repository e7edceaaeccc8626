from string import ascii_letters

import pytest

from accounting.books.chart import (
    CONTROL_ROLES,
    STARTING_CHART,
    SUBTYPES,
    TRANSLATIONS,
    AccountType,
    Role,
    display,
    is_control,
    money_role,
    refuse_disagreeing_kind,
    starting_name,
    subtypes_of,
    vendor_money_role,
)
from accounting.errors import ValidationError

BY_CODE = {account.code: account for account in STARTING_CHART}
PLAIN = set(ascii_letters) | set(" ,'")
LETTERS = {
    "de": PLAIN | set("äöüÄÖÜß"),
    "nl": PLAIN | set("ëï"),
    "fr": PLAIN | set("àâçéèêëîïôûùÀÉÈÊÎ"),
    "es": PLAIN | set("áéíñóúüÁÉÍÑÓÚ"),
}
SAME = {"Reserves"}  # Dutch uses the same word.


class TestStartingChart:
    def test_every_role_has_exactly_one_account(self) -> None:
        roles = [account.role for account in STARTING_CHART if account.role]
        assert sorted(roles) == sorted(Role)

    def test_codes_and_names_are_unique_in_every_language(self) -> None:
        assert len(BY_CODE) == len(STARTING_CHART) == 49
        for language in ("en", *TRANSLATIONS):
            names = {starting_name(account, language) for account in STARTING_CHART}
            assert len(names) == len(STARTING_CHART)

    def test_types_agree_with_subtypes(self) -> None:
        for account in STARTING_CHART:
            refuse_disagreeing_kind(account.account_type, account.account_subtype)

    def test_control_accounts_are_the_eight_that_documents_explain(self) -> None:
        codes = [account.code for account in STARTING_CHART if is_control(account.role)]
        assert codes == ["1200", "1250", "1260", "1270", "2000", "2100", "2250", "2300"]
        assert len(CONTROL_ROLES) == len(codes)

    @pytest.mark.parametrize(
        ("code", "role", "kind", "subtype"),
        [
            ("1150", Role.PROCESSOR_CLEARING, AccountType.ASSET, "current_assets"),
            ("1650", "accumulated_depreciation", AccountType.ASSET, "non_current_assets"),
            ("3290", Role.OPENING_BALANCE_EQUITY, AccountType.EQUITY, "reserves"),
            ("4200", Role.DISCOUNTS_GIVEN, AccountType.REVENUE, "revenue"),
            ("5100", Role.PURCHASE_RETURNS, AccountType.EXPENSE, "direct_costs"),
            ("8000", None, AccountType.EXPENSE, "income_tax"),
        ],
    )
    def test_accounts_are_what_their_code_says(
        self, code: str, role: Role | None, kind: AccountType, subtype: str
    ) -> None:
        found = BY_CODE[code]
        assert (found.role, found.account_type, found.account_subtype) == (role, kind, subtype)


class TestNames:
    def test_a_language_without_a_name_reads_english(self) -> None:
        assert starting_name(BY_CODE["1000"], "de") == "Kasse"
        assert starting_name(BY_CODE["1000"], "sv") == "Cash on hand"

    def test_translations_name_the_chart_and_nothing_else(self) -> None:
        assert set(TRANSLATIONS) == {"de", "nl", "fr", "es"}
        for names in TRANSLATIONS.values():
            assert set(names) == set(BY_CODE)

    @pytest.mark.parametrize("language", TRANSLATIONS)
    def test_names_read_as_their_language_writes_them(self, language: str) -> None:
        names = TRANSLATIONS[language]
        for code, name in names.items():
            assert name == name.strip(), name
            assert "  " not in name
            assert name[0].isupper(), name
            assert set(name) <= LETTERS[language], set(name) - LETTERS[language]
            # The names are in a column beside an amount.
            assert len(name) <= 50, name
            assert name != BY_CODE[code].name or name in SAME, name

    @pytest.mark.parametrize(
        ("code", "names"),
        [
            ("1100", {"Geschäftskonto", "Zakelijke bankrekening", "Compte bancaire professionnel"}),
            ("1200", {"Debiteuren", "Créances clients", "Clientes"}),
            ("2000", {"Crediteuren", "Dettes fournisseurs", "Proveedores"}),
            ("2200", {"Umsatzsteuer", "Af te dragen btw", "TVA collectée", "IVA repercutido"}),
            ("2450", {"Verbindlichkeiten aus Ertragsteuern", "Te betalen winstbelasting"}),
            ("4000", {"Umsatzerlöse", "Omzet", "Ventes", "Ventas"}),
            ("8000", {"Steuern vom Einkommen und Ertrag", "Winstbelasting"}),
        ],
    )
    def test_the_words_are_those_of_the_trade(self, code: str, names: set[str]) -> None:
        assert names <= {names_[code] for names_ in TRANSLATIONS.values()}


class TestKinds:
    def test_a_subtype_of_another_type_is_malformed(self) -> None:
        with pytest.raises(ValidationError) as refusal:
            refuse_disagreeing_kind("asset", "reserves")
        assert refusal.value.detail["field_errors"] == {
            "account_subtype": [
                "must be one of current_assets, non_current_assets for the account type asset"
            ]
        }

    def test_the_fifteen_subtypes_belong_to_one_type_each(self) -> None:
        subtypes = [subtype for kind in AccountType for subtype in subtypes_of(kind)]
        assert len(subtypes) == len(set(subtypes)) == 15
        assert set(SUBTYPES) == set(AccountType)

    def test_words_are_written_for_people(self) -> None:
        assert display("current_assets") == "Current assets"
        assert display("asset") == "Asset"


class TestMoneyRole:
    @pytest.mark.parametrize(
        ("role", "methods"),
        [
            (Role.CASH, ["cash"]),
            (Role.BANK, ["bank_transfer", "ach", "check", "other"]),
            (Role.PROCESSOR_CLEARING, ["credit_card", "debit_card", "paypal", "stripe"]),
        ],
    )
    def test_a_method_tells_where_the_money_is(self, role: Role, methods: list[str]) -> None:
        assert {money_role(each, None) for each in methods} == {role}
        held = {money_role(each, "adyen") for each in methods}
        assert held == {Role.PROCESSOR_CLEARING}

    @pytest.mark.parametrize("processor", [None, "adyen"])
    def test_vendors_are_paid_from_the_bank_or_in_cash(self, processor: str | None) -> None:
        bank = ("bank_transfer", "ach", "wire", "check", "other", "credit_card", "debit_card")
        assert vendor_money_role("cash", processor) == Role.CASH
        assert {vendor_money_role(each, processor) for each in bank} == {Role.BANK}
