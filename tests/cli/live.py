"""A page of the live view without a browser: HTTP and WebSocket by hand, for tests of `sinew view`."""
import base64
import collections
import hashlib
import json
import os
import re
import select
import signal
import socket
import struct
import subprocess
import time

from command import SINEW

PATIENCE = 60  # seconds until a test gives up on something that should come at once
GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class Server:
    """`sinew view` as a process, and its address."""

    def __init__(self, *arguments, stdin=None, cwd=None, env=None):
        self.process = subprocess.Popen([SINEW, "view", *map(str, arguments)], stdin=subprocess.PIPE if stdin else None,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=cwd,
                                        env=dict(os.environ, **(env or {})))
        if stdin:
            self.process.stdin.write(stdin)
            self.process.stdin.close()
        self.address = self.process.stdout.readline().decode().strip()
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/", self.address)
        if not found:
            raise AssertionError(f"no address but {self.address!r}: {self.end()}")
        self.port, self.token = int(found[1]), found[2]

    def alive(self):
        return self.process.poll() is None

    def end(self):
        """Ctrl-C; returns the exit status and what it said on standard error."""
        if self.alive():
            self.process.send_signal(signal.SIGINT)
        errors = self.process.stderr.read().decode()
        self.process.stderr.close()
        self.process.stdout.close()
        return self.process.wait(PATIENCE), errors

    def request(self, path=None, method="GET", **headers):
        """Status, headers and body of a plain request; a header that is None is left out."""
        with socket.create_connection(("127.0.0.1", self.port), PATIENCE) as connection:
            connection.sendall(self.head(path, method, headers))
            answer = b""
            while piece := connection.recv(65536):
                answer += piece
                head, found, body = answer.partition(b"\r\n\r\n")
                length = re.search(rb"(?i)content-length: (\d+)", head)
                if found and length and len(body) >= int(length[1]):
                    break
        head, _, body = answer.partition(b"\r\n\r\n")
        status, *lines = head.decode("latin-1").split("\r\n")
        return int(status.split()[1]) if status else 0, {
            name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}, body

    def head(self, path, method, headers):
        path = f"/{self.token}/" if path is None else path
        all_headers = {"Host": f"127.0.0.1:{self.port}", **{k.replace("_", "-"): v for k, v in headers.items()}}
        lines = [f"{method} {path} HTTP/1.1", *(f"{k}: {v}" for k, v in all_headers.items() if v is not None)]
        return "\r\n".join([*lines, "", ""]).encode("latin-1")

    def stream_status(self, path=None, **headers):
        """That of a try to open the stream."""
        status, connection = self.upgrade(path, **headers)
        connection.close()
        return status

    def upgrade(self, path=None, **headers):
        """The status of a try to open the stream, and the connection."""
        key = base64.b64encode(os.urandom(16)).decode()
        connection = socket.create_connection(("127.0.0.1", self.port), PATIENCE)
        headers = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Key": key, "Sec-WebSocket-Version": "13",
                   "Sec-WebSocket-Protocol": "sinew-live-1", **headers}
        connection.sendall(self.head(f"/{self.token}/live" if path is None else path, "GET", headers))
        answer = b""
        while b"\r\n\r\n" not in answer and (piece := connection.recv(1)):
            answer += piece
        status = int(answer.split()[1]) if answer else 0
        if status == 101:
            accept = base64.b64encode(hashlib.sha1((key + GUID).encode()).digest())
            assert accept in answer, answer
        return status, connection


Frame = collections.namedtuple("Frame", "t number poses channels arrows flags")


class Page:
    """One stream: what came is sorted into texts and frames; frames are acknowledged unless told otherwise."""

    def __init__(self, server, acknowledge=True, **headers):
        status, self.socket = server.upgrade(**headers)
        assert status == 101, status
        self.server, self.acknowledge = server, acknowledge
        self.buffer = b""
        self.texts, self.frames, self.heads = [], [], []
        self.binary, self.bytes, self.sent, self.closed = 0, 0, 0, None   # bytes: of binary messages
        self.hello = self.wait_text("hello")
        self.wait_text("role")

    def close(self):
        self.socket.close()

    # sending

    def raw(self, opcode, payload, final=True, mask=True):
        size, key = len(payload), os.urandom(4)
        bits = 0x80 if mask else 0
        head = bytes([(0x80 if final else 0) | opcode])
        head += bytes([bits | size]) if size < 126 else bytes([bits | 126]) + struct.pack(">H", size) if size < 65536 else (
            bytes([bits | 127]) + struct.pack(">Q", size))
        masked = bytes(b ^ key[k % 4] for k, b in enumerate(payload)) if mask else payload
        self.socket.sendall(head + (key if mask else b"") + masked)

    def say(self, text):
        self.sent += 1
        self.raw(1, text.encode() if isinstance(text, str) else text)

    def do(self, what, **keys):
        self.say(json.dumps({"do": what, **keys}))

    def ack(self):
        self.do("ack", count=self.binary)

    # receiving

    def take(self, n):
        while len(self.buffer) < n:
            piece = self.socket.recv(1 << 20)
            if not piece:
                raise EOFError
            self.buffer += piece
        out, self.buffer = self.buffer[:n], self.buffer[n:]
        return out

    def message(self):
        """One message of the server, which may come in fragments."""
        payload, kind = b"", None
        while True:
            first, second = self.take(2)
            size = second & 0x7f
            size = struct.unpack(">H", self.take(2))[0] if size == 126 else (
                struct.unpack(">Q", self.take(8))[0] if size == 127 else size)
            piece = self.take(size)
            opcode = first & 0xf
            if opcode == 8:
                self.closed = struct.unpack(">H", piece[:2])[0] if piece else 1005
                raise EOFError
            if opcode in (9, 10):
                continue
            kind = opcode or kind
            payload += piece
            if first & 0x80:
                return kind, payload

    def pump(self, seconds=0.0):
        """Reads what is there, for so long; False: the stream has ended."""
        until = time.monotonic() + seconds
        try:
            while True:
                left = until - time.monotonic()
                if not self.buffer and not select.select([self.socket], [], [], max(0, left))[0]:
                    return True
                self.receive()
                if left <= 0 and not self.buffer:
                    return True
        except (EOFError, ConnectionError):
            return False

    def receive(self):
        kind, payload = self.message()
        if kind == 1:
            self.texts.append(json.loads(payload.decode("utf-8")))
            return
        self.binary += 1
        self.bytes += len(payload)
        self.records(payload)
        if self.acknowledge:
            self.ack()

    def records(self, payload):
        at = 0
        while at < len(payload):
            name, size = payload[at:at + 4], struct.unpack_from("<I", payload, at + 4)[0]
            body = payload[at + 8:at + 8 + size]
            assert size % 8 == 0 and len(body) == size
            if name == b"SNR1":
                self.heads.append(json.loads(body.decode()))
            elif name == b"FRAM":
                self.frames.append(self.frame(body))
            at += 8 + size

    def frame(self, body):
        t, number, nbody, nchannel, nline, ncontact, narrow, flags = struct.unpack_from("<dQIIIIII", body)
        head = self.heads[-1]
        assert (nbody, nchannel) == (len(head["bodies"]), len(head["channels"]))
        channels = struct.unpack_from(f"<{nchannel}d", body, 40)
        numbers = struct.unpack_from(f"<{7 * nbody}f", body, 40 + 8 * nchannel)
        at = 40 + 8 * nchannel + 4 * (7 * nbody + nline) + 44 * ncontact
        arrows = [struct.unpack_from("<II6f", body, at + 32 * k) for k in range(narrow)]
        poses = {b["name"]: numbers[7 * k:7 * k + 7] for k, b in enumerate(head["bodies"])}
        return Frame(t, number, poses, dict(zip(head["channels"], channels)), arrows, flags)

    def wait(self, condition, what):
        """Reads until the condition gives something."""
        until = time.monotonic() + PATIENCE
        while not (found := condition()):
            if not self.pump(0.01):
                raise AssertionError(f"{what}: the stream has ended ({self.closed})")
            if time.monotonic() > until:
                raise AssertionError(f"{what}: never came; last texts {self.texts[-5:]}")
        return found

    def wait_text(self, type_, since=0, **keys):
        def find():
            for text in self.texts[since:]:
                if text["type"] == type_ and all(text.get(k) == v for k, v in keys.items()):
                    return text
            return None
        return self.wait(find, f"{type_} {keys}")

    def wait_frames(self, count):
        """So many more; returns the last."""
        end = len(self.frames) + count
        self.wait(lambda: len(self.frames) >= end, f"{count} frames")
        return self.frames[-1]

    def first(self):
        """The first frame of this recording, or a later one."""
        return self.wait(lambda: self.frames and self.frames[-1], "a frame")

    def ask(self, what, **keys):
        """A request, and the status that follows it."""
        since = len(self.texts)
        self.do(what, **keys)
        number = self.sent
        return self.wait(lambda: next((x for x in self.texts[since:] if x.get("requests", 0) >= number), None), what)

    def refused(self, what, **keys):
        """A request, and the text of the error that answers it."""
        since = len(self.texts)
        self.do(what, **keys)
        return self.wait_text("error", since, kind="request", do=what)["problems"][0]["text"]
