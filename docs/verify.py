#!/usr/bin/env python3
"""Checks an export with proofs, as docs/seal.md says: python3 verify.py FILE log.pub

Checks every message's hash, content, refs and place in its session, that what is without content was erased on record,
every proof, and the checkpoint's signature. Origin and key are those of log.pub, never of FILE. It does not check
signatures of witnesses, records, or what the file says of leaves that are not its messages'."""
import base64, datetime, hashlib, json, struct, sys

P, L = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493  # Ed25519 (RFC 8032): the field, the order
D, I, BASE = -121665 * pow(121666, -1, P) % P, pow(2, (P - 1) // 4, P), (4 * pow(5, -1, P) % P).to_bytes(32, "little")
sha, unbase = lambda *b: hashlib.sha256(b"".join(b)).digest(), lambda text: base64.b64decode(text, validate=True)

def add(p, q):  # of points as X, Y, Z, T
    a, b, c, d = (p[1] - p[0]) * (q[1] - q[0]), (p[1] + p[0]) * (q[1] + q[0]), 2 * p[3] * q[3] * D, 2 * p[2] * q[2]
    return (b - a) * (d - c) % P, (d + c) * (b + a) % P, (d - c) * (d + c) % P, (b - a) * (b + a) % P

def times(n, p):
    return (0, 1, 1, 0) if n == 0 else add(times(n >> 1, add(p, p)), p if n & 1 else (0, 1, 1, 0))

def point(b):
    y, odd = int.from_bytes(b, "little") & ~(1 << 255), b[31] >> 7
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    x = x if x * x % P == square else x * I % P
    assert y < P and x * x % P == square and (x or not odd), "no point of the curve"
    return (x if x & 1 == odd else P - x, y, 1, (x if x & 1 == odd else P - x) * y % P)

def signed(key, text, signature):
    r, s = signature[:32], int.from_bytes(signature[32:], "little")
    h = int.from_bytes(hashlib.sha512(r + key + text).digest(), "little") % L
    p, q = times(s, point(BASE)), add(point(r), times(h, point(key)))
    return len(signature) == 64 and s < L and (p[0] * q[2] - q[0] * p[2]) % P == 0 == (p[1] * q[2] - q[1] * p[2]) % P

def checkpoint(note):  # size and root, if the pinned key signed them under the pinned name
    (name, size, root), lines = note.split("\n\n")[0].split("\n"), note.split("\n\n")[1].splitlines()
    ours = [unbase(line.split(" ")[2]) for line in lines if line.startswith("— " + ORIGIN + " ")]
    assert name == ORIGIN and any(s[:4] == ID and signed(KEY, note.split("\n\n")[0].encode() + b"\n", s[4:]) for s in ours), "the checkpoint is not signed by the log's key"
    return int(size), unbase(root)

def climb(h, index, size, path):  # the root that a leaf's hash and a proof lead to: RFC 9162, section 2.1.3.2
    last = size - 1
    for p in path:
        assert last > 0, "the proof is too long"
        h = sha(b"\1", p, h) if index & 1 or index == last else sha(b"\1", h, p)
        while index == last and not index & 1 and index:
            index, last = index >> 1, last >> 1
        index, last = index >> 1, last >> 1
    assert last == 0, "the proof is too short"
    return h

def F(x):  # docs/chain.md: its length and its bytes; text, 32 bytes of a hash, or a number's
    return b"\xff" * 4 if x is None else struct.pack(">I", len(x)) + x
T, H = lambda x: F(x if x is None else x.encode()), lambda x: F(x if x is None else bytes.fromhex(x))
A = lambda list: struct.pack(">I", len(list)) + b"".join(map(H, list))

def check(m):  # a message against its own hash and digests
    get, refs = m.get, m.get("refs", [])
    assert sha(b"context-manager/refs/v1\n", struct.pack(">I", len(refs)), *(T(r["type"].lower()) + H(r["hash"]) for r in refs)).hex() == m["refsDigest"], "the refs were altered"
    assert sha(b"context-manager/message/v1\n", H(m["sessionHash"]), F(struct.pack(">q", m["sequence"])), H(get("prevHash")), H(get("threadHash")),
               H(m["ownerId"]), A(get("playerIds", [])), H(get("masterPlayer")), T(get("role")), T(m["eventType"].lower()),
               F(struct.pack(">h", m["importance"])), T(get("channel")), T(get("source")), H(m["contentDigest"]), A(get("hashtags", [])),
               H(get("flagId")), H(get("masterItemId")), A(get("itemIds", [])), H(get("locationId")), H(m["refsDigest"]),
               F(struct.pack(">q", time(m)))).hex() == m["hash"], "a field was altered: the hash is another"
    if any(field in m for field in ("content", "salt", "attachmentsText", "ambientText")):
        salt = unbase(m["salt"])
        assert len(salt) == 16 and sha(b"context-manager/content/v1\n", salt, T(m["content"]), T(m["attachmentsText"]),
                                       T(get("ambientText"))).hex() == m["contentDigest"], "the content was altered"

def time(m):  # in microseconds since 1970
    return (datetime.datetime.strptime(m["createdAt"], "%Y-%m-%dT%H:%M:%S.%fZ") - datetime.datetime(1970, 1, 1)) // datetime.timedelta(microseconds=1)

def once(fields):
    assert len(dict(fields)) == len(fields), "a field twice"
    return dict(fields)

def main(file):
    last, note, tree, seen, gone, sessions = None, None, None, set(), {}, 0
    for number, text in enumerate(file, 1):
        try:
            m = json.loads(text.decode(), object_pairs_hook=once)
            if not {"component", "record", "leaves"}.isdisjoint(m):
                continue
            check(m)
            if last is None or m["sessionHash"] != last["sessionHash"]:
                last, leaf, sessions = {"sessionHash": m["sessionHash"], "sequence": 0, "hash": None, "createdAt": m["createdAt"]}, -1, sessions + 1
            assert m["sequence"] == last["sequence"] + 1 and m.get("prevHash") == last["hash"], "it does not follow the message before it"
            assert time(m) >= time(last), "it is older than the message before it"
            last = m
            if m["eventType"] == "ERASURE":
                [gone.pop((m["sessionHash"], r["hash"]), None) for r in m.get("refs", []) if r["type"] == "CONTEXT"]
            if "content" not in m:
                gone[m["sessionHash"], m["hash"]] = number
            (kind, index, *path), signed_note = m["proof"].split("\n\n", 1)[0].split("\n"), m["proof"].split("\n\n", 1)[1]
            assert kind == "c2sp.org/tlog-proof@v1" and index.startswith("index "), "it has no proof"
            if note != signed_note:
                head, note = checkpoint(signed_note), signed_note
                assert tree in (None, head), "its proof is for another tree than the proofs before it"
                tree = head
            bytes_ = b"context-manager/leaf/v1\n" + bytes.fromhex(m["sessionHash"]) + struct.pack(">q", m["sequence"]) + bytes.fromhex(m["hash"])
            assert climb(sha(b"\0", bytes_), int(index[6:]), tree[0], [unbase(p) for p in path]) == tree[1], "the proof does not lead to the checkpoint's root"
            assert int(index[6:]) > leaf and int(index[6:]) not in seen, "its leaf stands before that of the message before it, or is another's, too"
            leaf = int(index[6:])
            seen.add(leaf)
        except Exception as e:
            return f"line {number}: {e if isinstance(e, AssertionError) else repr(e)}"
    if gone:
        return f"line {min(gone.values())}: the content is gone without an erasure on record"
    if tree is None:
        return "the file has no message"
    print(f"valid: {len(seen)} messages of {sessions} sessions, {'all' if len(seen) == tree[0] else 'some'} of the {tree[0]} that {ORIGIN} has sealed")

if __name__ == "__main__":
    ORIGIN, ID, KEY = open(sys.argv[2], encoding="utf-8").read().strip().split("+", 2)
    ID, KEY = bytes.fromhex(ID), unbase(KEY)[1:]
    assert ID == sha(ORIGIN.encode(), b"\n\1", KEY)[:4], "log.pub holds no key of Ed25519"
    with open(sys.argv[1], "rb") as file:
        sys.exit(main(file))
