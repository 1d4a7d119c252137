"""An OpenAI-compatible server that misbehaves as its address says: http://127.0.0.1:PORT/BEHAVIOUR/v1."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class FakeServer(ThreadingHTTPServer):
    """Runs in a thread; `released` lets those that hang go on, `requests` keeps what came."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.released = threading.Event()
        self.spoke = threading.Event()  # a slow one has sent its first piece
        self.requests = []
        self.is_alive = True
        self._thread = threading.Thread(target=self.serve_forever, daemon=True)
        self._thread.start()

    def url(self, behaviour):
        return f"http://127.0.0.1:{self.server_port}/{behaviour}/v1"

    def close(self):
        self.released.set()
        self.shutdown()
        self.server_close()
        self._thread.join()

    def handle_error(self, request, client_address):
        """A client that went away is no error."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        """Nothing."""

    def do_GET(self):
        behaviour = self.path.split("/")[1]
        self.server.requests.append((self.path, self.headers.get("Authorization"), None))
        if behaviour == "unauthorized":
            self._refuse(401, self.headers.get("Authorization", ""))
        elif behaviour == "listless":
            self._refuse(404, "no such page")
        elif behaviour == "moody" and not self.server.is_alive:
            self._refuse(503, "down")
        else:
            self._send(200, "application/json", json.dumps({"object": "list", "data": []}))

    def do_POST(self):
        behaviour = self.path.split("/")[1]
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append((self.path, self.headers.get("Authorization"), body))
        statuses = {"unauthorized": 401, "forbidden": 403, "unknown": 404, "busy": 429, "ill": 500}
        if behaviour in statuses:
            self._refuse(statuses[behaviour], f"wrong key {self.headers.get('Authorization')}")
        elif behaviour == "moody" and not self.server.is_alive:
            self._refuse(503, "down")
        elif behaviour == "silent":
            self.server.released.wait(30)
            self._refuse(500, "too late")
        elif behaviour == "html":
            self._send(200, "text/html", "<html><body>A router's login page</body></html>")
        else:
            self._stream(behaviour)

    def _stream(self, behaviour):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        if behaviour == "nonsense":
            self._say(b"data: {not json\n\n")
            return
        if behaviour == "shapeless":
            self._say(b'data: {"choices": "none"}\n\ndata: [1]\n\ndata: {"choices": [{"delta": null}]}\n\n')
            return
        if behaviour == "bytes":
            self._say(b"data: \xff\xfe\x00\n\n")
            return
        pieces = ["Forty", "-two"]
        if behaviour == "echo":
            key = self.headers["Authorization"]
            pieces = ["You sent ", key[:12], key[12:], " to me"]
        for place, piece in enumerate(pieces):
            self._piece({"delta": {"content": piece}, "index": 0})
            if behaviour == "slow" and place == 0:
                self.server.spoke.set()
                self.server.released.wait(30)
        if behaviour == "scolding":
            self._say(b'data: {"error": {"message": "out of memory"}}\n\n')
            return
        if behaviour == "half":
            return
        self._piece({"delta": {}, "index": 0, "finish_reason": "stop"}, usage={"completion_tokens": 7})
        self._say(b"data: [DONE]\n\n")

    def _piece(self, choice, **more):
        chunk = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": [choice], **more}
        self._say(f"data: {json.dumps(chunk)}\n\n".encode())

    def _say(self, data):
        self.wfile.write(data)
        self.wfile.flush()

    def _refuse(self, status, message):
        self._send(status, "application/json", json.dumps({"error": {"message": message}}))

    def _send(self, status, kind, text):
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
