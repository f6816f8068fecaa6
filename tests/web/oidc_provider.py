"""A small OpenID Connect provider on loopback: discovery, signed ID tokens with a published key, PKCE, user info."""

import base64
import hashlib
import json
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
OTHER_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
CLIENT = {"client_id": "webnav", "secret": "a client secret"}


def public(key: rsa.RSAPrivateKey) -> dict[str, Any]:
    return json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key()))


@dataclass
class Provider:
    """Whoever comes is signed in as `claims`; `signs_with` and `contradicts` make it a dishonest one."""

    origin: str = ""
    claims: dict[str, Any] = field(default_factory=dict)
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    signs_with: Any = KEY
    contradicts: bool = False
    names_key: bool = True  # in its tokens and beside its key, which a provider with one key need not
    more_keys: list[dict[str, Any]] = field(default_factory=list)
    seconds_ahead: int = 0  # of its clock
    algorithm: str = "RS256"

    def settings(self) -> list[dict[str, Any]]:
        more = {"server_url": self.origin, "oauth_pkce_enabled": True}
        return [{"provider_id": "oidc", "name": "Example University", **CLIENT, "settings": more}]

    def configuration(self) -> dict[str, Any]:
        places = {
            name: f"{self.origin}/{path}"
            for name, path in (
                ("authorization_endpoint", "authorize"),
                ("token_endpoint", "token"),
                ("userinfo_endpoint", "userinfo"),
                ("jwks_uri", "keys"),
            )
        }
        return {"issuer": self.origin, "token_endpoint_auth_methods_supported": ["client_secret_post"], **places}

    def keys(self) -> dict[str, Any]:
        return {"keys": [*self.more_keys, public(KEY) | {"use": "sig"} | self.name()]}

    def name(self) -> dict[str, str]:
        return {"kid": "1"} if self.names_key else {}

    def authorize(self, asked: dict[str, str]) -> str:
        """The address to go back to, with a code."""
        code = secrets.token_urlsafe(8)
        self.codes[code] = asked
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"

    def token(self, asked: dict[str, str]) -> dict[str, Any] | None:
        began = self.codes.pop(asked.get("code", ""), None)
        digest = hashlib.sha256(asked.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        if began is None or challenge != began["code_challenge"] or asked.get("client_secret") != CLIENT["secret"]:
            return None
        now = int(time.time()) + self.seconds_ahead
        body = {"iss": self.origin, "aud": CLIENT["client_id"], "iat": now, "exp": now + 60, **self.claims}
        signed = jwt.encode(body, self.signs_with, algorithm=self.algorithm, headers=self.name())
        return {"access_token": "opaque", "token_type": "Bearer", "id_token": signed}

    def userinfo(self) -> dict[str, Any]:
        return self.claims | ({"sub": "somebody else"} if self.contradicts else {})


@contextmanager
def serving() -> Iterator[Provider]:
    provider = Provider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
            if parts.path == "/authorize":
                self.send_response(302)
                self.send_header("Location", provider.authorize(asked))
                self.end_headers()
                return
            answers = {"/keys": provider.keys, "/userinfo": provider.userinfo}
            self.answer(answers.get(parts.path, provider.configuration)())

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            self.answer(provider.token({name: values[0] for name, values in parse_qs(body).items()}))

        def answer(self, content: dict[str, Any] | None) -> None:
            body = json.dumps(content if content is not None else {"error": "invalid_grant"}).encode()
            self.send_response(200 if content is not None else 400)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider.origin = f"http://127.0.0.1:{server.server_port}"
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
