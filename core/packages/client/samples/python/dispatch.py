"""Sends an invoice, and verifies callbacks. Python 3.9 or later, without any package.

    DISPATCH_URL=https://dispatch.example.com DISPATCH_KEY=dk_live_... python3 dispatch.py send order-1001 < invoice.json
    python3 dispatch.py verify <webhook-id> <webhook-timestamp> <webhook-signature> <secret> < body
"""
import base64
import hashlib
import hmac
import http.client
import json
import os
import sys
import time
import urllib.error
import urllib.request

TRIES = 4


class NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        """A redirect would make a GET of a POST, elsewhere."""


OPENER = urllib.request.build_opener(NoRedirects)


def ask(call):
    try:
        with OPENER.open(call, timeout=130) as answer:
            return answer.status, answer.headers, answer.read().decode(errors="replace")
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers, error.read().decode(errors="replace")


def answer_in(body):
    """The answer of the service, or None: a page of a proxy, or a part of an answer."""
    try:
        answer = json.loads(body)
    except ValueError:
        return None
    return answer if isinstance(answer, dict) and ("dispatchId" in answer or "statusUrl" in answer) else None


def send(request, idempotency_key):
    """Dispatches an invoice. The same key with each try, also of a later run, makes one dispatch of it."""
    for attempt in range(1, TRIES + 1):
        call = urllib.request.Request(
            os.environ["DISPATCH_URL"] + "/api/invoicing",
            data=request,
            headers={
                "Authorization": "Bearer " + os.environ["DISPATCH_KEY"],
                "Content-Type": "application/json",
                "Idempotency-Key": idempotency_key,
            },
        )
        status, headers, body = 0, {}, "no answer"
        try:
            status, headers, body = ask(call)
        except (OSError, http.client.HTTPException):
            # No connection, or one that was cut: what was sent is not sent again, because the key is the same.
            pass
        if 200 <= status < 300 and answer_in(body) is not None:
            return answer_in(body)
        # Not now, still under way, or a page of a proxy: anything else stays as it is, however often it is asked.
        passes = 200 <= status < 300 or status in (0, 429, 503, 504) or status == 409 and "idempotency_in_progress" in body
        if not passes or attempt == TRIES:
            raise RuntimeError(f"{status}: {body}. Repeat it under the key {idempotency_key} alone.")
        pause = int(headers.get("Retry-After", 2**attempt))
        time.sleep(min(pause, 60))


def verify(body, message_id, timestamp, signatures, secret, now=time.time):
    """Whether a callback is the service's (Standard Webhooks), and not older than five minutes. Give it the bytes of the body."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{message_id}.{timestamp}.".encode() + body
    wanted = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    fits = any(hmac.compare_digest(wanted, given) for given in signatures.split(" "))
    return fits and abs(now() - int(timestamp)) <= 300


if __name__ == "__main__":
    if sys.argv[1] == "send":
        print(json.dumps(send(sys.stdin.buffer.read(), sys.argv[2])))
    elif not verify(sys.stdin.buffer.read(), *sys.argv[2:6]):
        sys.exit("This is no callback of the service: answer it with 400.")
