"""A stand-in for an OpenID Connect provider: discovery, authorization code with PKCE, signed ID tokens.

It signs in whoever comes as `person`, as a provider does whose session is still open.
"""

import base64
import hashlib
import json
import time
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

from tests.standin_server import StandinServer

CLIENT, SECRET = "paper-trail", "client-secret"


class StandinProvider(StandinServer):
    """An identity provider for one client; `person` is who signs in, None refuses as a person may."""

    def __init__(self, person: dict[str, str] | None) -> None:
        self.person = person
        self.key = RSAKey.generate_key(2048, {"kid": "one", "use": "sig", "alg": "RS256"})
        self.codes: dict[str, dict[str, str]] = {}
        self.open(_Handler)

    def metadata(self) -> dict[str, Any]:
        return {
            "issuer": self.address,
            "authorization_endpoint": f"{self.address}/authorize",
            "token_endpoint": f"{self.address}/token",
            "jwks_uri": f"{self.address}/keys",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "code_challenge_methods_supported": ["S256"],
        }

    def authorize(self, asked: dict[str, str]) -> str:
        """Return where the browser is sent back to: with a code, or with the person's refusal."""
        if self.person is None:
            return f"{asked['redirect_uri']}?{urlencode({'error': 'access_denied', 'state': asked['state']})}"
        code = f"code-{len(self.codes)}"
        self.codes[code] = asked
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"

    def token(self, form: dict[str, str]) -> dict[str, Any]:
        """Exchange a code, once, for tokens; raises KeyError and ValueError for one that is not good."""
        asked = self.codes.pop(form["code"])
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        if base64.urlsafe_b64encode(digest).decode().rstrip("=") != asked["code_challenge"]:
            raise ValueError("the verifier is not the challenge's")
        now = int(time.time())
        claims = {"iss": self.address, "aud": CLIENT, "iat": now, "exp": now + 600, "nonce": asked["nonce"]}
        signed = jwt.encode({"alg": "RS256", "kid": "one"}, {**claims, **(self.person or {})}, self.key)
        return {"access_token": "opaque", "token_type": "Bearer", "expires_in": 600, "id_token": signed}


class _Handler(BaseHTTPRequestHandler):
    standin: StandinProvider

    def do_GET(self) -> None:
        place = urlsplit(self.path)
        if place.path == "/.well-known/openid-configuration":
            self._reply(self.standin.metadata())
        elif place.path == "/keys":
            self._reply({"keys": [self.standin.key.as_dict(private=False)]})
        elif place.path == "/authorize":
            self.send_response(302)
            self.send_header("location", self.standin.authorize(_single(place.query)))
            self.end_headers()
        else:
            self._reply({"error": "not_found"}, 404)

    def do_POST(self) -> None:
        form = _single(self.rfile.read(int(self.headers["content-length"])).decode())
        expected = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        if self.headers.get("authorization") != f"Basic {expected}":
            self._reply({"error": "invalid_client"}, 401)
            return
        try:
            self._reply(self.standin.token(form))
        except (KeyError, ValueError):
            self._reply({"error": "invalid_grant"}, 400)

    def _reply(self, value: dict[str, Any], status: int = 200) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


def _single(query: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(query).items()}
