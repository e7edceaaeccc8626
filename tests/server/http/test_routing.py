import pytest

from accounting.errors import NotFound
from server.contract.document import ContractError
from server.http.problems import MethodNotAllowed
from server.http.routing import RouteTable
from tests.server.http.contract_chain import ORDERS, SHOP, Chain, small_chain


@pytest.fixture(scope="module")
def chain() -> Chain:
    return small_chain()


class TestRouteTable:
    def operations_at(self, table: RouteTable, path: str) -> tuple[set[str], list[str]] | None:
        found = table.find(path.strip("/").split("/"))
        return None if found is None else (set(found[0].operations), found[1])

    def test_a_literal_that_leads_nowhere_gives_way_to_a_variable(self) -> None:
        table = RouteTable()
        table.add("GET", "/a/b/c/", {})
        table.add("PUT", "/a/{x}/d/{y}/", {})
        table.add("POST", "/{z}/b/d/e/f/", {})
        assert self.operations_at(table, "/a/b/c/") == ({"GET"}, [])
        assert self.operations_at(table, "/a/b/d/e/") == ({"PUT"}, ["b", "e"])
        assert self.operations_at(table, "/a/b/d/e/f/") == ({"POST"}, ["a"])
        assert self.operations_at(table, "/a/b/d/") is None

    def test_a_variable_is_never_empty(self) -> None:
        table = RouteTable()
        table.add("GET", "/a/{x}/", {})
        assert self.operations_at(table, "/a/") is None
        assert table.find(["a", ""]) is None

    def test_a_second_operation_of_a_method_and_path_is_refused(self) -> None:
        table = RouteTable()
        table.add("GET", "/a/{x}/", {})
        table.add("PUT", "/a/{y}/", {})
        with pytest.raises(ContractError):
            table.add("GET", "/a/{z}/", {})


class TestRouting:
    def test_the_scope_carries_what_connexion_s_middlewares_read(self, chain: Chain) -> None:
        chain.ask("GET", f"{ORDERS}17/")
        scope = chain.scopes[-1]
        assert scope["path_params"] == {"shop_id": SHOP, "order_id": "17"}
        assert scope["extensions"]["connexion_routing"] == {
            "api_base_path": "",
            "operation_id": "get_order",
        }

    def test_a_literal_wins_over_a_variable(self, chain: Chain) -> None:
        assert chain.ask("POST", f"{ORDERS}drafts/").operation_id == "create_draft"
        for method in ("GET", "HEAD", "BREW"):
            with pytest.raises(MethodNotAllowed) as caught:
                chain.ask(method, f"{ORDERS}drafts/")
            assert caught.value.allow == ("POST",)

    @pytest.mark.parametrize("path", ["/", "//", "", "/shops/", "/*", "/shops/" + "a/" * 3000])
    def test_every_other_path_is_not_found(self, chain: Chain, path: str) -> None:
        with pytest.raises(NotFound) as caught:
            chain.ask("GET", path)
        assert caught.value.code == "route_not_found"

    @pytest.mark.parametrize(
        ("path", "meant"),
        [
            ("/shop/", "shops"),
            ("/orders/", "shops/{shop_id}/orders"),
            (f"/shops/{SHOP}/order/", "orders"),
            (f"/shops/{SHOP}/drafts/", "orders/drafts"),
            (f"/shops/{SHOP}/colours/", None),
        ],
    )
    def test_a_similar_segment_or_one_below_is_suggested(
        self, chain: Chain, path: str, meant: str | None
    ) -> None:
        with pytest.raises(NotFound) as caught:
            chain.ask("GET", path)
        suggested = f"; did you mean {meant}?" if meant else "."
        assert caught.value.message == f"There is nothing at this address{suggested}"

    @pytest.mark.parametrize(
        ("path", "order_id"),
        [("%31%37", "17"), ("%C3%A9", "é"), ("a%20b", "a b"), ("%zz", "%zz"), ("a+b", "a+b")],
    )
    def test_escapes_in_a_segment_are_decoded(self, chain: Chain, path: str, order_id: str) -> None:
        assert chain.ask("GET", f"{ORDERS}{path}/").path["order_id"] == order_id
