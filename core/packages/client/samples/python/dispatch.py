"""Sends an invoice, and verifies callbacks. Python 3.9 or later, without any package.

    DISPATCH_URL=https://dispatch.example.com DISPATCH_KEY=dk_live_... python3 dispatch.py send order-1001 < invoice.json
    python3 dispatch.py verify <webhook-id> <webhook-timestamp> <webhook-signature> <secret> < body
"""
import base64
import hashlib
import hmac
import json
import os
import sys
import time
import urllib.error
import urllib.request

TRIES = 4


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
        pause = 2**attempt
        try:
            with urllib.request.urlopen(call, timeout=130) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            body = error.read().decode()
            # Not now, or still under way: anything else stays as it is, however often it is asked.
            under_way = error.code == 409 and "idempotency_in_progress" in body
            if error.code not in (429, 503, 504) and not under_way or attempt == TRIES:
                raise RuntimeError(f"{error.code}: {body}") from error
            pause = int(error.headers.get("Retry-After", pause))
        except OSError:
            # No connection, or one that was cut: what was sent is not sent again, because the key is the same.
            if attempt == TRIES:
                raise
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
