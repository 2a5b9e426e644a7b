#!/usr/bin/env python3
"""Checks an export with proofs, as docs/seal.md says: python3 verify.py FILE log.pub

Checks every message's hash, content, refs and place in its session, that what is without content was erased on record,
every proof, the checkpoint's signature, records, and the leaves if they are listed. Origin and key are those of
log.pub, never of FILE. It does not check signatures of witnesses."""
import base64, datetime, hashlib, json, re, struct, sys

P, L = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493  # Ed25519 (RFC 8032): the field, the order
D, I, BASE = -121665 * pow(121666, -1, P) % P, pow(2, (P - 1) // 4, P), (4 * pow(5, -1, P) % P).to_bytes(32, "little")
sha = lambda *b: hashlib.sha256(b"".join(b)).digest()

LEAF, QUADS = b"context-manager/leaf/v1\n", "(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?"

class Invalid(Exception):
    pass

def need(so, why):  # and not assert, which python3 -O leaves out
    if not so:
        raise Invalid(why)

def unbase(text):
    data = base64.b64decode(text, validate=True)
    need(base64.b64encode(data).decode() == text, "base64 that is written in another way")
    return data

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
    need(y < P and x * x % P == square and (x or not odd), "no point of the curve")
    return (x if x & 1 == odd else P - x, y, 1, (x if x & 1 == odd else P - x) * y % P)

def signed(key, text, signature):
    r, s = signature[:32], int.from_bytes(signature[32:], "little")
    h = int.from_bytes(hashlib.sha512(r + key + text).digest(), "little") % L
    p, q = times(s, point(BASE)), add(point(r), times(h, point(key)))
    return len(signature) == 64 and s < L and (p[0] * q[2] - q[0] * p[2]) % P == 0 == (p[1] * q[2] - q[1] * p[2]) % P

def number(text):
    need(re.fullmatch("0|[1-9][0-9]{0,18}", text) and int(text) < 2**63, "no number as it is written")
    return int(text)

def checkpoint(note):  # size and root, if the pinned key signed them under the pinned name
    body, signatures = note.split("\n\n")
    need(len(note.encode()) <= 65536, "the note is too long")
    need(re.fullmatch(r"(— [^\s+\0-\x1f]+ [A-Za-z0-9+/=]+\n){1,100}", signatures), "no signed note")
    name, size, root = body.split("\n")
    lines = [line.split(" ") for line in signatures.split("\n")[:-1]]
    need(all(re.fullmatch(QUADS, key[2]) and len(base64.b64decode(key[2])) > 4 for key in lines), "no base64 of a key")
    ours = [key[2] for key in lines if key[1] == ORIGIN and base64.b64decode(key[2])[:4] == ID]
    need(name == ORIGIN and len(unbase(root)) == 32, "the checkpoint is of another log, or has no root")
    need(ours and signed(KEY, body.encode() + b"\n", unbase(ours[0])[4:]), "it is not signed by the log's key")
    return number(size), unbase(root)

def climb(h, index, size, path):  # the root that a leaf's hash and a proof lead to: RFC 9162, section 2.1.3.2
    last = size - 1
    need(index < size and all(len(p) == 32 for p in path), "the proof is of no leaf of the tree")
    for p in path:
        need(last > 0, "the proof is too long")
        h = sha(b"\1", p, h) if index & 1 or index == last else sha(b"\1", h, p)
        while index == last and not index & 1 and index:
            index, last = index >> 1, last >> 1
        index, last = index >> 1, last >> 1
    need(last == 0, "the proof is too short")
    return h

def F(x):  # docs/chain.md: its length and its bytes; text, 32 bytes of a hash, or a list of such
    return b"\xff" * 4 if x is None else struct.pack(">I", len(x)) + x
T, H = lambda x: F(x if x is None else x.encode()), lambda x: F(x if x is None else bytes.fromhex(x))
A = lambda list: struct.pack(">I", len(list)) + b"".join(map(H, list))

# What each field must look like, before anything is made of it.
is_text, is_int = lambda x: type(x) is str, lambda x: type(x) is int
is_hash, is_type = (lambda x, form=form: is_text(x) and re.fullmatch(form, x) for form in ("[0-9a-f]{64}", "[A-Z_]+"))
is_time = lambda x: is_text(x) and re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z", x)
is_hashes = lambda x: type(x) is list and all(map(is_hash, x))
is_refs = lambda x: type(x) is list and all(type(r) is dict and formed(r, REF, {}) for r in x)
forms = lambda form, names: dict.fromkeys(names.split(), form)
REF, LEAVES = forms(is_hash, "hash") | forms(is_type, "type"), forms(is_int, "first") | forms(is_text, "entries")
RECORD = (forms(is_hash, "hash") | forms(is_type, "kind") | forms(is_text, "dataText")
          | forms(lambda x: type(x) is bool, "verified"))
NEEDED = (forms(is_hash, "hash sessionHash ownerId contentDigest refsDigest") | forms(is_int, "sequence importance")
          | forms(is_type, "eventType") | forms(is_time, "createdAt") | forms(is_text, "proof"))
OTHERS = (forms(is_hash, "prevHash threadHash masterPlayer flagId masterItemId locationId") | forms(is_refs, "refs")
          | forms(is_hashes, "playerIds hashtags itemIds")
          | forms(is_text, "role channel source content attachmentsText ambientText salt"))

def formed(entry, needed, others):  # it has all of the needed fields, and none that is unknown
    need(needed.keys() <= entry.keys() <= needed.keys() | others.keys(), "a field is missing, or unknown")
    for name, value in entry.items():
        need((needed | others)[name](value), f"{name} is not in its form")
    return True

def check(m):  # a message against its own hash and digests
    formed(m, NEEDED, OTHERS)
    get, refs = m.get, m.get("refs", [])
    need(sha(b"context-manager/refs/v1\n", struct.pack(">I", len(refs)),
               *(T(r["type"].lower()) + H(r["hash"]) for r in refs)).hex() == m["refsDigest"], "the refs were altered")
    need(sha(b"context-manager/message/v1\n", H(m["sessionHash"]), F(struct.pack(">q", m["sequence"])),
               H(get("prevHash")), H(get("threadHash")), H(m["ownerId"]), A(get("playerIds", [])),
               H(get("masterPlayer")), T(get("role")), T(m["eventType"].lower()),
               F(struct.pack(">h", m["importance"])), T(get("channel")), T(get("source")), H(m["contentDigest"]),
               A(get("hashtags", [])), H(get("flagId")), H(get("masterItemId")), A(get("itemIds", [])),
               H(get("locationId")), H(m["refsDigest"]),
               F(struct.pack(">q", time(m)))).hex()
        == m["hash"], "a field was altered: the hash is another")
    if any(field in m for field in ("content", "salt", "attachmentsText", "ambientText")):
        salt = unbase(m["salt"])
        need(len(salt) == 16 and sha(b"context-manager/content/v1\n", salt, T(m["content"]), T(m["attachmentsText"]),
                                       T(get("ambientText"))).hex() == m["contentDigest"], "the content was altered")
    need("content" in m or m["eventType"] != "ERASURE", "an erasure cannot be erased")

def check_record(r):
    formed(r, RECORD, forms(is_text, "book title content createdAt"))
    texts = [r["kind"].lower(), *(r.get(f, "") for f in ("book", "title", "content")), r["dataText"]]
    need(sha(b"context-manager/record/v1\n", *map(T, texts), F(bytes([r["verified"]]))).hex() == r["hash"],
        "a field of the record was altered")

def grow(tree, size, entries):  # adds leaves to a tree, kept as the roots of its full subtrees
    need(entries and len(entries) % 96 == 0 and len(entries) <= 4096 * 96, "no leaves")
    for at in range(0, len(entries), 96):
        leaf, height = entries[at:at + 96], size
        need(leaf.startswith(LEAF) and 0 < int.from_bytes(leaf[56:64], "big") < 2**63, "no leaf")
        tree.append(sha(b"\0", leaf))
        while height & 1:
            tree[-2:], height = [sha(b"\1", *tree[-2:])], height >> 1
        size += 1
    return size

def time(m):  # in microseconds since 1970
    at = datetime.datetime.strptime(m["createdAt"], "%Y-%m-%dT%H:%M:%S.%fZ")
    return (at - datetime.datetime(1970, 1, 1)) // datetime.timedelta(microseconds=1)

def once(fields):
    need(len(dict(fields)) == len(fields), "a field twice")
    return dict(fields)

def constant(name):
    raise ValueError(name + " is no number")

def main(file):
    last, note, tree, seen, gone, sessions, peaks, listed = None, None, None, set(), {}, 0, [], 0
    for line, text in enumerate(file, 1):
        try:
            need(len(text) <= 2**24 + 1, "the line is too long")
            m = json.loads(text.decode(), object_pairs_hook=once, parse_constant=constant)
            json.dumps(m, ensure_ascii=False).encode()  # halves of surrogates are no text
            need(type(m) is dict, "no object")
            if not {"component", "record", "leaves"}.isdisjoint(m):
                [(kind, value)] = m.items()
                need(type(value) is dict, "no entry")
                if kind == "record":
                    check_record(value)
                if kind == "leaves":
                    need(formed(value, LEAVES, {}) and value["first"] == listed, "leaves that stand elsewhere")
                    listed = grow(peaks, listed, unbase(value["entries"]))
                continue
            need(not listed, "a message behind the leaves")
            check(m)
            if last is None or m["sessionHash"] != last["sessionHash"]:
                last, leaf, sessions = m | {"sequence": 0, "hash": None}, -1, sessions + 1
            follows = m["sequence"] == last["sequence"] + 1 and m.get("prevHash") == last["hash"]
            need(follows, "it does not follow the message before it")
            need(time(m) >= time(last), "it is older than the message before it")
            last = m
            if m["eventType"] == "ERASURE":
                [gone.pop((m["sessionHash"], r["hash"]), None) for r in m.get("refs", []) if r["type"] == "CONTEXT"]
            if "content" not in m:
                gone[m["sessionHash"], m["hash"]] = line
            proof, signed_note = m["proof"].split("\n\n", 1)
            kind, index, *path = proof.split("\n")
            need(kind == "c2sp.org/tlog-proof@v1" and index.startswith("index "), "it has no proof")
            if note != signed_note:
                head, note = checkpoint(signed_note), signed_note
                need(tree in (None, head), "its proof is for another tree than the proofs before it")
                tree = head
            index, session, hash = number(index[6:]), bytes.fromhex(m["sessionHash"]), bytes.fromhex(m["hash"])
            h = sha(b"\0", LEAF, session, struct.pack(">q", m["sequence"]), hash)
            root = climb(h, index, tree[0], [unbase(p) for p in path])
            need(root == tree[1], "the proof does not lead to the checkpoint's root")
            need(index > leaf and index not in seen, "its leaf stands before the last message's, or is another's")
            leaf = index
            seen.add(index)
        except Exception as e:
            return f"line {line}: {e if isinstance(e, Invalid) else repr(e)}"
    if gone:
        return f"line {min(gone.values())}: the content is gone without an erasure on record"
    if tree is None:
        return "the file has no message"
    while len(peaks) > 1:
        peaks[-2:] = [sha(b"\1", *peaks[-2:])]
    if listed and (listed, peaks[0]) != tree:
        return "the leaves that the file lists are not the checkpoint's tree"
    if listed > len(seen):
        return f"{listed - len(seen)} messages are in the tree and not in the file"
    part = "all" if len(seen) == tree[0] else "some"
    print(f"valid: {len(seen)} messages of {sessions} sessions, {part} of the {tree[0]} that {ORIGIN} has sealed")

if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python3 verify.py FILE log.pub")
    ORIGIN, ID, KEY = open(sys.argv[2], encoding="utf-8").read().strip().split("+", 2)
    ID, KEY = bytes.fromhex(ID), unbase(KEY)[1:]
    if ID != sha(ORIGIN.encode(), b"\n\1", KEY)[:4]:
        sys.exit("log.pub holds no key of Ed25519")
    with open(sys.argv[1], "rb") as file:
        sys.exit(main(file))
