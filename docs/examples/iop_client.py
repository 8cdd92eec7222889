#!/usr/bin/env python3
"""An operator of an IOP Edge in one file and nothing but Python: how little a client needs is said in docs/wire.md.

    iop_client.py SOCKET runs                           the last runs
    iop_client.py SOCKET start ADAPTER TARGET PROMPT    starts a detached run, prints its id
    iop_client.py SOCKET watch RUN [AFTER_POS]          every event to the end, across lost links
    iop_client.py SOCKET cancel RUN

SOCKET is the operator.sock in the Edge's state directory.
"""
import hashlib, json, os, socket, struct, sys, time

# --- protobuf: a message is a list of (field number, value) on the way out, {field number: [values]} on the way in


def varint(n):
    low = n & 127
    return bytes([low]) if n < 128 else bytes([low | 128]) + varint(n >> 7)


def encode(fields):
    out = b""
    for number, value in fields:
        if isinstance(value, int):
            out += varint(number << 3) + varint(value)
        else:
            data = encode(value) if isinstance(value, list) else value.encode() if isinstance(value, str) else value
            out += varint(number << 3 | 2) + varint(len(data)) + data
    return out


def decode(data):
    fields, at = {}, 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at, value, shift = at + 1, value | (byte & 127) << shift, shift + 7
            if byte < 128:
                return value

    while at < len(data):
        field, kind = divmod(number(), 8)
        size = number() if kind in (0, 2) else {1: 8, 5: 4}[kind]
        if kind == 0:
            value = size
        else:
            value, at = data[at : at + size], at + size
        fields.setdefault(field, []).append(value)
    return fields


def only(message, field, default=b""):
    return message.get(field, [default])[-1]


# --- Ed25519 (RFC 8032), signing only; slow and not constant in time, which a key that is made for one link can bear

P, L = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
GX = 15112221349535400772501151409588531511454012693041857206046113283949847762202
GY = 46316835694926478169428394003475163141307993866256225615783033603165251855960


def add(a, b):
    (ax, ay, az, at), (bx, by, bz, bt) = a, b
    p, q, r, s = (ay - ax) * (by - bx), (ay + ax) * (by + bx), 2 * at * bt * D, 2 * az * bz
    e, f, g, h = q - p, s - r, s + r, q + p
    return e * f % P, g * h % P, f * g % P, e * h % P


def times(n, point=(GX, GY, 1, GX * GY % P)):
    total = (0, 1, 1, 0)
    while n > 0:
        total, point, n = add(total, point) if n & 1 else total, add(point, point), n >> 1
    x, y, z, _ = total
    x, y = x * pow(z, -1, P) % P, y * pow(z, -1, P) % P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def keypair(seed):
    half = hashlib.sha512(seed).digest()
    secret = int.from_bytes(half[:32], "little") & (1 << 254) - 8 | 1 << 254
    return secret, half[32:], times(secret)


def sign(key, message):
    secret, prefix, public = key
    r = int.from_bytes(hashlib.sha512(prefix + message).digest(), "little") % L
    point = times(r)
    k = int.from_bytes(hashlib.sha512(point + public + message).digest(), "little") % L
    return point + ((r + k * secret) % L).to_bytes(32, "little")


# --- the link


class Link:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(30)  # three heartbeats without a frame: the link is dead
        self.socket.connect(path)
        self.stream = self.socket.makefile("rb")
        self.last_id = 0
        key = keypair(os.urandom(32))
        role, nonce, instance = 4, os.urandom(32), os.urandom(16)
        hello = [(1, 1), (2, role), (3, "python"), (4, key[2]), (5, nonce), (6, instance), (8, "iop_client.py")]
        said = self.send((1, hello))
        challenge = self.receive()
        digest = hashlib.sha256(said).digest() + hashlib.sha256(challenge).digest()
        # 32 zeros: there is no TLS whose exporter could be signed
        proof = sign(key, b"iop/1" + bytes([role]) + digest + bytes(32))
        self.send((3, [(1, proof)]))
        answer = decode(self.receive())
        if 4 not in answer:
            raise SystemExit(f"refused: {only(decode(only(answer, 5)), 2).decode()}")

    def send(self, *message):
        body = encode(list(message))
        self.socket.sendall(struct.pack(">I", len(body)) + body)
        return body

    def receive(self):
        return self.exactly(struct.unpack(">I", self.exactly(4))[0])

    def exactly(self, size):
        data = self.stream.read(size)
        if len(data) < size:
            raise ConnectionError("the link was closed")
        return data

    def messages(self):
        """Everything that comes; pings are answered on the way."""
        while True:
            for kind, values in decode(self.receive()).items():
                if kind == 10:
                    self.send((11, values[0]))
                else:
                    yield kind, decode(values[0])

    def ask(self, field, request):
        """The answer, and where what follows it comes from."""
        self.last_id += 1
        self.send((60, [(1, self.last_id), (field, request)]))
        coming = self.messages()
        for kind, message in coming:
            if kind == 61 and only(message, 1, 0) == self.last_id:
                if 2 in message:
                    failure = decode(only(message, 2))
                    raise SystemExit(f"{only(failure, 2).decode()}: {only(failure, 3).decode()}")
                return next(decode(value[0]) for number, value in message.items() if number > 2), coming


# --- what an operator does

STATES = "? queued starting running waiting stopping unknown completed failed cancelled".split()
KINDS = {1: "raw", 2: "text", 3: "reasoning", 13: "state", 14: "end", 16: "attempt", 17: "attempt-end"}
ENDS = {1: "completed", 2: "failed", 3: "cancelled"}


def show(pos, event):
    number, [value] = next(iter(event.items()))
    fields = decode(value)
    line = {"pos": pos, "kind": KINDS.get(number, number)}
    if number == 14:
        line["end"] = next(ENDS[end] for end in ENDS if end in fields)
    if number in (1, 2, 3):
        line["text"] = only(fields, 2 if number == 1 else 1).decode(errors="replace")
    print(json.dumps(line), flush=True)


def watch(path, run, after=0):
    """Every event once, in order; a lost link is made anew, and the watch goes on after the last pos."""
    while True:
        try:
            for kind, message in Link(path).ask(12, [(1, run), (2, after)])[1]:
                if kind == 63 and 2 in message:  # the Edge cannot go on now
                    raise ConnectionError(only(decode(only(message, 2)), 3).decode())
                if kind == 63:
                    return
                update = decode(only(message, 2))
                for index, event in enumerate(update.get(5, [])):
                    after = only(update, 4, 0) + index
                    show(after, decode(event))
                if 3 in message:  # what is gone for good
                    after = only(decode(only(message, 3)), 3, 0)
        except OSError as lost:
            print(f"{lost}; trying again", file=sys.stderr)
            time.sleep(0.5)


def main(path, command, *args):
    if command == "runs":
        runs = Link(path).ask(3, [])[0].get(1, [])
        for run in map(decode, runs):
            print(only(run, 1).decode(), STATES[only(run, 2, 0)], f"{only(run, 4).decode()}/{only(run, 5).decode()}")
    elif command == "start":
        adapter, target, prompt = args
        chat = json.dumps({"stream": True, "messages": [{"role": "user", "content": prompt}]})
        order = [(1, adapter), (2, target), (4, "openai.chat"), (5, chat), (6, 1), (8, 2)]
        print(only(Link(path).ask(5, order)[0], 1).decode())
    elif command == "watch":
        watch(path, args[0], int(args[1]) if len(args) > 1 else 0)
    elif command == "cancel":
        print(STATES[only(Link(path).ask(4, [(1, args[0])])[0], 1, 0)])
    else:
        raise SystemExit(__doc__)


if __name__ == "__main__":
    main(*sys.argv[1:]) if len(sys.argv) > 2 else sys.exit(__doc__)
