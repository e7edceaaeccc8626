"""Forms of URLs that are accepted and refused."""

import pytest

from libraries.outbound.targets import RefusedUrl, Target, parse


class TestParse:
    @pytest.mark.parametrize(
        ("url", "target", "host"),
        [
            ("https://a.example", Target("https", "a.example", 443, "/"), "a.example"),
            ("HTTPS://A.example/x?y=1", Target("https", "a.example", 443, "/x?y=1"), "a.example"),
            ("https://a.example?y", Target("https", "a.example", 443, "/?y"), "a.example"),
            ("https://a.example:8443/", Target("https", "a.example", 8443, "/"), "a.example:8443"),
            ("https://[2a00::1]:1024/", Target("https", "2a00::1", 1024, "/"), "[2a00::1]:1024"),
        ],
    )
    def test_a_url_has_parts(self, url: str, target: Target, host: str) -> None:
        assert parse(url) == target
        assert parse(url).host_header == host

    @pytest.mark.parametrize(
        ("url", "reason"),
        [
            ("http://a.example/", "scheme"),
            ("ftp://a.example/", "scheme"),
            ("https://user:secret@a.example/", "credentials"),
            ("https://a.example@10.0.0.1/", "credentials"),
            ("https://@a.example/", "credentials"),
            ("https://a.example:80/", "port"),
            ("https://a.example:22/", "port"),
            ("https://a.example:0/", "port"),
            ("https://a.example:70000/", "port"),
            ("https://a.example/#part", "malformed"),
            ("https://a.example\\@10.0.0.1/", "credentials"),
            ("https://a.example/a b", "malformed"),
            ("https://a.example/\r\nX: y", "malformed"),
            ("https://münchen.example/", "malformed"),
            ("https://a..example/", "malformed"),
            ("https://-a.example/", "malformed"),
            ("https://a.example\\/", "malformed"),
            ("https:///a", "malformed"),
            ("//a.example/", "malformed"),
            ("a.example", "malformed"),
            ("https://[::1%25eth0]/", "malformed"),
            (f"https://{'a.' * 127}example/", "malformed"),
            ("", "malformed"),
        ],
    )
    def test_a_url_of_another_form_is_refused(self, url: str, reason: str) -> None:
        with pytest.raises(RefusedUrl) as refused:
            parse(url)
        assert refused.value.reason == reason

    def test_plain_http_is_accepted_where_it_is_allowed(self) -> None:
        assert parse("http://localhost:8000/", plain_http=True).scheme == "http"
        with pytest.raises(RefusedUrl, match="1024"):
            parse("http://localhost/", plain_http=True)
