"""The tests' own queries of stored rows include all machines of a cluster."""

from tests.api_server import ApiServer
from tests.partner import Partner


class TestStored:
    def test_it_counts_what_one_machine_alone_has_committed(
        self, api_server: ApiServer, acme: Partner
    ) -> None:
        business = acme.business()
        for _ in range(3):
            before = api_server.stored()["customer"]
            business.customer()
            assert api_server.stored()["customer"] == (before[0] + 1, before[1] + 1)
