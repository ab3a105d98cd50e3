"""Answers hook deliveries of Portcullis. pip install standardwebhooks==1.1.0; see ../README.md."""

import json
import os
import threading
import time
import urllib.error
import urllib.request
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from standardwebhooks import Webhook, WebhookVerificationError

MAX_BODY_BYTES = 4 * 1024 * 1024
REMEMBERED_DELIVERIES = 10_000
LATER = None

secret = os.environ["HOOK_SECRET"]
webhook = Webhook(secret if secret.startswith("whsec_") else secret.encode())
answers = {}  # webhook-id -> HookResult or LATER, oldest first
answers_lock = threading.Lock()


def decide(delivery):
    tool, given = delivery["tool"], delivery["input"]
    if not tool.startswith("payments."):
        return {"decision": "defer"}
    amount = given.get("amount")
    if isinstance(amount, bool) or not isinstance(amount, (int, float)):
        return {"decision": "deny", "reason": "amount must be a number"}
    if amount > 10_000:
        return {"decision": "deny", "reason": "no payment may exceed 10000"}
    if tool == "payments.refund" and amount > 500:
        return {"decision": "defer", "updatedInput": {**given, "amount": 500}}
    if amount <= 1_000:
        return {"decision": "defer"}
    return LATER if "callback" in delivery else {"decision": "ask", "reason": "a person approves payments above 1000"}


def review():
    time.sleep(1)
    return {"decision": "allow", "reason": "reviewed"}


def answer_later(callback):
    headers = {"Authorization": f"Bearer {callback['token']}", "Content-Type": "application/json"}
    body = json.dumps(review()).encode()
    expires_at = datetime.fromisoformat(callback["expiresAt"].replace("Z", "+00:00")).timestamp()
    while time.time() < expires_at:
        try:
            urllib.request.urlopen(urllib.request.Request(callback["url"], body, headers), timeout=10).close()
            return
        except urllib.error.HTTPError as error:
            if error.code < 500 and error.code != 429:
                return
        except OSError:
            pass
        time.sleep(5)


def answer_once(delivery_id, delivery):
    with answers_lock:
        if delivery_id not in answers:
            answers[delivery_id] = decide(delivery)
            if answers[delivery_id] is LATER:
                threading.Thread(target=answer_later, args=[delivery["callback"]], daemon=True).start()
            if len(answers) > REMEMBERED_DELIVERIES:
                del answers[next(iter(answers))]
        return answers[delivery_id]


class Receiver(BaseHTTPRequestHandler):
    timeout = 30

    def do_POST(self):
        length = int(self.headers.get("Content-Length", -1))
        if not 0 <= length <= MAX_BODY_BYTES:
            return self.answer(411 if length < 0 else 413)
        body = self.rfile.read(length)
        try:
            webhook.verify(body, dict(self.headers), json_parse=False)
        except (WebhookVerificationError, ValueError):
            return self.answer(401)
        result = answer_once(self.headers["webhook-id"], json.loads(body))
        self.answer(202) if result is LATER else self.answer(200, json.dumps(result).encode())

    def answer(self, status, body=b""):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8080"))), Receiver)
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
