"""Reads recordings as docs/recording.md describes them, with nothing of ours."""
import json
import pathlib
import struct

import numpy as np


class Recording:
    def __init__(self, path):
        data = pathlib.Path(path).read_bytes()
        self.meshes, self.notes, frames, self.end, at = [], [], [], None, 0
        while at + 8 <= len(data):
            kind, n = struct.unpack_from("<4sI", data, at)
            payload = data[at + 8:at + 8 + n]
            if len(payload) < n:
                break
            assert n % 8 == 0, (at, kind, n)
            if at == 0:
                assert kind == b"SNR1", kind
                self.header = json.loads(payload)
            elif kind == b"MESH":
                which, nvertex, ntriangle, zero = struct.unpack_from("<4I", payload)
                assert (which, zero) == (len(self.meshes), 0)
                x = np.frombuffer(payload, "<f4", 3 * nvertex, 16).reshape(-1, 3)
                self.meshes.append((x, np.frombuffer(payload, "<u4", 3 * ntriangle, 16 + 12 * nvertex).reshape(-1, 3)))
            elif kind == b"FRAM":
                frames.append(payload)
            elif kind == b"NOTE":
                self.notes.append(json.loads(payload))
            elif kind == b"END!":
                self.end = struct.unpack("<QdQ", payload)
            at += 8 + n
        self.rest = len(data) - at
        self.bodies = [b["name"] for b in self.header["bodies"]]
        self.channels = self.header["channels"]
        self.read_frames(frames)

    def read_frames(self, frames):
        B, C, L = len(self.bodies), len(self.channels), len(self.header["lines"])
        self.t, self.channel, self.pose, self.tension, self.contacts, self.arrows = [], [], [], [], [], []
        for k, payload in enumerate(frames):
            t, number, *count, flags = struct.unpack_from("<dQ6I", payload)
            assert (number, count[:3], flags) == (k, [B, C, L], 0), (number, count, flags)
            at = 40
            self.t.append(t)
            self.channel.append(np.frombuffer(payload, "<f8", C, at))
            self.pose.append(np.frombuffer(payload, "<f4", 7 * B, at + 8 * C).reshape(B, 7))
            at += 8 * C + 28 * B
            self.tension.append(np.frombuffer(payload, "<f4", L, at))
            at += 4 * L
            self.contacts.append([struct.unpack_from("<2I9f", payload, at + 44 * i) for i in range(count[3])])
            at += 44 * count[3]
            self.arrows.append([struct.unpack_from("<2I6f", payload, at + 32 * i) for i in range(count[4])])
            at += 32 * count[4]
            assert len(payload) == (at + 7) // 8 * 8 and not any(payload[at:]), (len(payload), at)
        self.pose = np.array(self.pose).reshape(len(frames), B, 7)
        self.tension = np.array(self.tension).reshape(len(frames), L)
        self.channel = np.array(self.channel).reshape(len(frames), C)
