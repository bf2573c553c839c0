#!/usr/bin/env python3
"""kegcheck: an independent check of .keg files.

Written from docs/spec/encoding.md and docs/spec/file.md alone. It checks the
header, the section table, the gaps and the section digests, recomputes the
digest of every type, node, region, blob and export, and compares the graph's
fingerprint with the header's.

    kegcheck.py FILE.keg...          one line per file; exit 1 if one is wrong
    kegcheck.py --json FILE.keg      every digest it computed
    kegcheck.py --vectors FILE.tsv   golden vectors
"""

import hashlib
import json
import math
import struct
import sys

CHUNK = 1 << 20
NO_REGION = 0xFFFFFFFF
KINDS = {1: "strings", 2: "types", 3: "attributes", 4: "nodes", 5: "regions", 6: "exports",
         7: "blobs", 8: "provenance", 9: "plan", 10: "receipt", 11: "policy"}
DTYPE_SIZE = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 2, 8: 4, 9: 8, 10: 2, 11: 2, 12: 4, 13: 8}
# dtype -> (bytes, magnitude mask, infinity, the one NaN)
FLOATS = {10: (2, 0x7FFF, 0x7C00, 0x7E00), 11: (2, 0x7FFF, 0x7F80, 0x7FC0),
          12: (4, 0x7FFFFFFF, 0x7F800000, 0x7FC00000),
          13: (8, (1 << 63) - 1, 0x7FF << 52, 0x7FF8 << 48)}
OP_CONST, KEY_VALUE = 1, 2

class Bad(Exception):
    """The file is wrong."""

def need(ok, why, *args):
    if not ok:
        raise Bad(why % args if args else why)

def sha3(b): return hashlib.sha3_256(b).digest()

def D(domain, *parts):
    return sha3(b"".join([("KERA:%s:1" % domain).encode().ljust(16, b"\0"), *parts]))

u16, u32, u64 = (struct.Struct(f).pack for f in ("<H", "<I", "<Q"))

def combine(level):
    while len(level) > 1:
        up = [D("parent", level[i], level[i + 1]) for i in range(0, len(level) - 1, 2)]
        if len(level) % 2:
            up.append(level[-1])
        level = up
    return level[0]

def root(b):
    chunks = [b[i:i + CHUNK] for i in range(0, len(b), CHUNK)] or [b""]
    return combine([D("leaf", u64(i), c) for i, c in enumerate(chunks)])

def tree(domain, b):
    return D(domain, u64(len(b)), root(b))

def align(n, a): return (n + a - 1) // a * a

class Cur:
    def __init__(self, b, what):
        self.b, self.at, self.what = b, 0, what

    def take(self, n):
        need(n <= len(self.b) - self.at, "%s: %d bytes wanted at %d, %d left", self.what, n, self.at, len(self.b) - self.at)
        self.at += n
        return self.b[self.at - n:self.at]

    def num(self, fmt):
        return struct.unpack("<" + fmt, self.take(struct.calcsize("<" + fmt)))[0]

    def u32(self): return self.num("I")

    def column(self, n, fmt="I"):
        b = self.take(n * struct.calcsize("<" + fmt))
        return list(struct.unpack("<%d%s" % (n, fmt), b))

    def pairs(self, n):
        flat = self.column(2 * n)
        return list(zip(flat[::2], flat[1::2]))

    def count(self, each):
        n = self.u32()
        need(n * each <= len(self.b) - self.at, "%s: %d items in %d bytes", self.what, n, len(self.b) - self.at)
        return n

    def ends(self, n, total):
        e = [0] + self.column(n)
        need(all(x <= y for x, y in zip(e, e[1:])) and e[-1] == total, "%s: list ends are wrong", self.what)
        return e

    def done(self):
        need(self.at == len(self.b), "%s: %d bytes too many", self.what, len(self.b) - self.at)

    def table(self):
        n = self.count(4)
        e = [0] + self.column(n)
        body = self.take(e[-1])
        self.done()
        need(all(x <= y for x, y in zip(e, e[1:])), "%s: list ends are wrong", self.what)
        return [body[x:y] for x, y in zip(e, e[1:])]

def increasing(items): return all(a < b for a, b in zip(items, items[1:]))

# Types

def read_type(c, erase, depth=0):
    """Checks one type and returns (kind, dtype, dims) and its payload, with
    spaces erased if asked."""
    need(depth <= 64, "type: nested too deep")
    kind = c.num("B")
    if kind == 1:
        dtype, space, n = c.num("B"), c.num("B"), c.u32()
        need(dtype in DTYPE_SIZE and space <= 4 and n <= 8, "type: dtype %d, space %d, rank %d", dtype, space, n)
        out, dims, size = bytes([1, dtype, 0 if erase else space]) + u32(n), [], DTYPE_SIZE[dtype]
        for _ in range(n):
            form = c.num("B")
            need(form <= 1, "type: form %d of a dimension", form)
            if form == 0:
                lo = hi = c.num("q")
                out += b"\0" + struct.pack("<q", hi)
            else:
                var, lo, hi = c.u32(), c.num("q"), c.num("q")
                out += b"\1" + struct.pack("<Iqq", var, lo, hi)
            need(0 <= lo <= hi, "type: dimension %d to %d", lo, hi)
            dims.append(hi)
            size *= max(hi, 1)
        need(size <= 1 << 46, "type: too large")
        return (1, dtype, dims), out
    if kind == 2:
        n = c.count(2)
        out = b"\2" + u32(n) + b"".join(read_type(c, erase, depth + 1)[1] for _ in range(n))
        return (2, None, None), out
    need(kind == 3, "type: kind %d", kind)
    resource = c.num("B")
    need(resource <= 4, "type: resource %d", resource)
    return (3, None, None), bytes([3, resource])

# Attributes

def read_attrs(c):
    out, last = {}, -1
    for _ in range(c.count(7)):
        key, form = c.num("H"), c.num("B")
        need(key > last, "attributes: keys do not ascend")
        last = key
        if form == 1:
            out[key] = c.num("q")
        elif form == 2:
            out[key] = c.column(c.count(8), "q")
        elif form == 3:
            out[key] = c.take(c.count(1))
        else:
            need(form == 4, "attributes: form %d", form)
            out[key] = (c.take(32), c.num("Q"))
    c.done()
    return out

def check_const(typ, value, blobs):
    kind, dtype, dims = typ
    need(kind == 1, "constant: not a tensor")
    size, n = DTYPE_SIZE[dtype], math.prod(dims)
    if isinstance(value, tuple):
        need(value[0] in blobs, "constant: its blob is missing")
        b = blobs[value[0]]
        need(len(b) == value[1] and 64 < len(b) <= 4096, "constant: blob of %d bytes", len(b))
    else:
        b = value
        need(len(b) <= 64, "constant: %d bytes inline", len(b))
    need(len(b) == n * size, "constant: %d bytes for %d elements", len(b), n)
    cells = [b[i:i + size] for i in range(0, len(b), size)]
    need(not dims or not cells or any(x != cells[0] for x in cells), "constant: uniform tensor")
    if dtype == 1:
        need(all(x in (b"\0", b"\1") for x in cells), "a bool other than 0 and 1")
    if dtype in FLOATS:
        _, mask, inf, nan = FLOATS[dtype]
        for x in cells:
            v = int.from_bytes(x, "little")
            need(v & mask <= inf or v == nan, "a NaN other than the canonical one")

class Keg:
    """One file. `check` fills in everything or raises Bad."""

    def __init__(self, data):
        self.data, self.sec = data, {}

    def check(self):
        self.header()
        self.sections()
        self.columns()
        _, self.erased_regions = self.digests(self.erased)
        self.node_digest, self.region_digest = self.digests(self.types)
        for d in self.node_digest, self.region_digest:
            need(len(set(d)) == len(d), "a node or region stands there twice")
        self.exports()
        self.numbering()
        self.provenance()
        fp = D("graph", u32(len(self.export)) + b"".join(x["payload"] for x in self.export))
        need(fp == self.fingerprint, "fingerprint: the header states %s, the graph has %s", self.fingerprint.hex(), fp.hex())
        return self

    def header(self):
        b = self.data
        need(len(b) >= 96, "header: %d bytes", len(b))
        magic, major, self.minor, count, zero, length = struct.unpack("<4sHHIIQ", b[:24])
        need(magic == b"KEG\0", "header: not a .keg")
        need(major == 1, "header: version %d", major)
        need(zero == 0 and b[88:96] == bytes(8), "header: reserved bytes")
        need(length == len(b), "header: states %d bytes of %d", length, len(b))
        end = 96 + 56 * count
        need(end <= len(b), "header: %d sections do not fit", count)
        need(sha3(b[:56] + bytes(32) + b[88:end]) == b[56:88], "header: digest")
        self.fingerprint = b[24:56]
        self.rows, last = [], 0
        for i in range(count):
            kind, flags, at, size = struct.unpack("<IIQQ", b[96 + 56 * i:120 + 56 * i])
            dig = b[120 + 56 * i:152 + 56 * i]
            name = KINDS.get(kind, "section %d" % kind)
            need(kind > last, "%s: kinds do not ascend", name)
            need(kind <= 64 or last == kind - 1, "%s: targets have gaps", name)
            last = kind
            if kind in KINDS or kind >= 64:
                need(flags == (1 if kind <= 7 else 0), "%s: flags %d", name, flags)
                need(size > 0, "%s: empty", name)
            else:
                need(flags & 1 == 0, "%s: required and unknown", name)
            start = align(end, 4096 if kind == 7 or kind >= 64 else 64)
            need(at == start and at + size <= len(b), "%s: %d bytes at %d", name, size, at)
            need(not any(b[end:at]), "%s: gap before it is not zero", name)
            end = at + size
            self.sec[kind] = b[at:end]
            self.rows.append((kind, dig))
        need(end == len(b), "%d bytes after the last section", len(b) - end)

    def sections(self):
        for k in range(1, 7):
            need(k in self.sec, "no section of %s", KINDS[k])
        self.blobs = {}
        for kind, dig in self.rows:
            b = self.sec[kind]
            if kind == 7:
                got = self.blob_section(b)
            elif kind >= 64:
                got = tree("blob", b)
                self.target(b)
            else:
                got = sha3(b)
            need(got == dig, "%s: digest", KINDS.get(kind, "section %d" % kind))

    def blob_section(self, b):
        c = Cur(b, "blobs")
        n, zero = c.count(48), c.u32()
        need(n > 0 and zero == 0, "blobs: head")
        rows = [(c.take(32), c.num("Q"), c.num("Q")) for _ in range(n)]
        end = c.at
        for dig, at, size in rows:
            need(at == align(end, 64) and at + size <= len(b) and not any(b[end:at]), "blobs: %d bytes at %d", size, at)
            end = at + size
            self.blobs[dig] = b[at:end]
            need(tree("blob", b[at:end]) == dig, "blobs: digest of %s", dig.hex())
        need(end == len(b), "blobs: %d bytes too many", len(b) - end)
        self.blob_list = [r[0] for r in rows]
        need(increasing(self.blob_list), "blobs: not sorted")
        return combine([D("leaf", u64(0), b[:8 + 48 * n])] + self.blob_list)

    def target(self, b):
        c = Cur(b, "target")
        size, art = c.num("Q"), c.num("Q")
        at = align(16 + size, 4096)
        need(at + art == len(b) and not any(b[16 + size:at]), "target: layout")

    def columns(self):
        self.strings = Cur(self.sec[1], "strings").table()
        need(increasing(self.strings), "strings: not sorted")
        for s in self.strings:
            need(b"\0" not in s and s.decode("utf-8", "replace").encode() == s, "strings: not UTF-8, or a zero byte")
        self.types = Cur(self.sec[2], "types").table()
        self.shapes, self.erased = [], []
        for t in self.types:
            need(len(t) <= 65536, "types: too long")
            c = Cur(t, "types")
            shape, same = read_type(c, False)
            c.done()
            need(same == t, "types: second spelling")
            self.shapes.append(shape)
            self.erased.append(read_type(Cur(t, "types"), True)[1])
        self.attrs = Cur(self.sec[3], "attributes").table()
        self.attr = [read_attrs(Cur(a, "attributes")) for a in self.attrs]
        for name, items in (("types", self.types), ("attributes", self.attrs)):
            need(len(set(items)) == len(items), "%s: one stands there twice", name)
        c = Cur(self.sec[4], "nodes")
        n, o, i, r = c.column(4)
        need(len(c.b) == 16 + 20 * n + 4 * o + 8 * i + 4 * r, "nodes: length")
        self.ops, self.vers, self.node_attr = c.column(n, "H"), c.column(n, "H"), c.column(n)
        oe, ie, re = c.ends(n, o), c.ends(n, i), c.ends(n, r)
        outs, ins, regs = c.column(o), c.pairs(i), c.column(r)
        self.outs = [outs[a:b] for a, b in zip(oe, oe[1:])]
        self.ins = [ins[a:b] for a, b in zip(ie, ie[1:])]
        self.regs = [regs[a:b] for a, b in zip(re, re[1:])]
        c = Cur(self.sec[5], "regions")
        r, p, q = c.column(3)
        need(len(c.b) == 12 + 8 * r + 4 * p + 8 * q, "regions: length")
        pe, qe = c.ends(r, p), c.ends(r, q)
        pars, ress = c.column(p), c.pairs(q)
        self.params = [pars[a:b] for a, b in zip(pe, pe[1:])]
        self.results = [ress[a:b] for a, b in zip(qe, qe[1:])]
        for what, ids, limit in (("attribute set", self.node_attr, len(self.attrs)), ("type", outs + pars, len(self.types)),
                                 ("region", regs, r), ("node", [x[0] for x in ins + ress], n)):
            need(all(x < limit for x in ids), "%s index out of range", what)
        for a in range(n):
            need(all(x < a and y < len(self.outs[x]) for x, y in self.ins[a]), "node %d: inputs", a)
            need(all(x < a for k in self.regs[a] for x, _ in self.results[k]), "node %d: regions", a)
            if self.ops[a] == OP_CONST:
                need(len(self.outs[a]) == 1 and KEY_VALUE in self.attr[self.node_attr[a]], "node %d: constant", a)
                check_const(self.shapes[self.outs[a][0]], self.attr[self.node_attr[a]][KEY_VALUE], self.blobs)
        need(all(y < len(self.outs[x]) for x, y in ress), "regions: results")

    def digests(self, types):
        """Digests of all nodes and regions. Regions that a node contains are
        numbered before their next user, so they can be hashed on demand."""
        types = [D("type", t) for t in types]
        nodes, regions = [], []

        def refs(list_):
            return u32(len(list_)) + b"".join(nodes[x] + u32(y) for x, y in list_)

        def until(k):
            for r in range(len(regions), k):
                need(all(x < len(nodes) for x, _ in self.results[r]), "region %d: results follow its use", r)
                p = self.params[r]
                regions.append(D("region", u32(len(p)) + b"".join(types[t] for t in p) + refs(self.results[r])))

        for n in range(len(self.ops)):
            until(max(self.regs[n], default=-1) + 1)
            nodes.append(D("node", u16(self.ops[n]), u16(self.vers[n]), u32(len(self.outs[n])),
                           b"".join(types[t] for t in self.outs[n]), refs(self.ins[n]), self.attrs[self.node_attr[n]],
                           u32(len(self.regs[n])), b"".join(regions[r] for r in self.regs[n])))
        until(len(self.params))
        return nodes, regions

    def exports(self):
        c = Cur(self.sec[6], "exports")
        self.export, self.used = [], set()
        for _ in range(c.count(20)):
            name = self.string(c)
            params, np = self.ports(c)
            results, nr = self.ports(c)
            source, bound = self.root(c, np, nr)
            need(source is not None, "exports: no source region")
            optimised, obound = self.root(c, np, nr)
            types = self.params[source][np:]
            payload = (u32(len(name)) + name + params + results + self.erased_regions[source] + u32(len(bound)) +
                       b"".join(D("type", self.erased[t]) + b for t, b in zip(types, bound)))
            self.export.append({"name": name, "source": source, "optimised": optimised, "blobs": bound + obound,
                                "payload": payload, "digest": D("graph", u32(1), payload)})
        c.done()
        need(increasing([x["name"] for x in self.export]), "exports: not sorted")

    def string(self, c):
        i = c.u32()
        need(i < len(self.strings), "%s: string %d", c.what, i)
        self.used.add(i)
        return self.strings[i]

    def ports(self, c):
        n = c.count(8)
        out = u32(n)
        for _ in range(n):
            s = self.string(c)
            out += u32(len(s)) + s + self.ports(c)[0]
        return out, n

    def root(self, c, np, nr):
        r = c.u32()
        if r == NO_REGION:
            return None, []
        need(r < len(self.params), "exports: region %d", r)
        need(c.take(32) == self.region_digest[r], "exports: digest of region %d", r)
        bound = c.column(c.count(4))
        need(np + len(bound) == len(self.params[r]), "exports: parameters of region %d", r)
        need(len(self.results[r]) == nr + 1, "exports: results of region %d", r)
        need(all(b < len(self.blobs) for b in bound), "exports: blob")
        for b, t in zip(bound, self.params[r][np:]):
            kind, dtype, dims = self.shapes[t]
            need(kind == 1 and len(self.blobs[self.blob_list[b]]) == math.prod(dims) * DTYPE_SIZE[dtype], "exports: bound constant")
        return r, [self.blob_list[b] for b in bound]

    def numbering(self):
        """The file's numbers are those of the walk, and everything is used."""
        nodes, regions = [], []
        seen_n, seen_r = set(), set()

        def region(r):
            if r is None or r in seen_r:
                return
            for res, _ in self.results[r]:
                stack = [] if res in seen_n else [[res, 0]]
                while stack:
                    n, k = stack[-1]
                    if k < len(self.ins[n]):
                        stack[-1][1] += 1
                        if self.ins[n][k][0] not in seen_n:
                            stack.append([self.ins[n][k][0], 0])
                        continue
                    for sub in self.regs[n]:
                        region(sub)
                    seen_n.add(n)
                    nodes.append(n)
                    stack.pop()
            seen_r.add(r)
            regions.append(r)

        for which in ("source", "optimised"):
            for x in self.export:
                region(x[which])
        need(nodes == list(range(len(self.ops))), "nodes: not in canonical order")
        need(regions == list(range(len(self.params))), "regions: not in canonical order")
        for what, uses, n in (("types", [t for o in self.outs + self.params for t in o], len(self.types)),
                              ("attributes", self.node_attr, len(self.attrs))):
            need(list(dict.fromkeys(uses)) == list(range(n)), "%s: not in canonical order", what)
        used = {b for x in self.export for b in x["blobs"]}
        used |= {v[0] for a in self.attr for v in a.values() if isinstance(v, tuple)}
        need(used == set(self.blobs), "blobs: missing or unused")

    def provenance(self):
        if 8 in self.sec:
            c = Cur(self.sec[8], "provenance")
            f, n, s, m, o = c.column(5)
            need(len(c.b) == 20 + 4 * f + 8 * n + 12 * s + 8 * m + 4 * o and n + m > 0, "provenance: length")
            need(increasing([self.string(c) for _ in range(f)]), "provenance: files not sorted")
            for count, width in ((n, 3), (m, 1)):
                nodes = c.column(count)
                ends = c.ends(count, s if width == 3 else o)
                flat = c.column((s if width == 3 else o) * width)
                items = list(zip(*[iter(flat)] * width))
                need(increasing(nodes) and all(x < len(self.ops) for x in nodes), "provenance: nodes")
                for a, b in zip(ends, ends[1:]):
                    need(a < b and increasing(items[a:b]), "provenance: lists")
                if width == 3:
                    need(all(x[1] <= x[2] < 1 << 31 for x in items), "provenance: spans")
                    need({x[0] for x in items} == set(range(f)), "provenance: files")
                else:
                    need(all(x[0] < len(self.ops) for x in items), "provenance: origins")
        need(len(self.used) == len(self.strings), "strings: one is unused")

    def report(self):
        lists = {"types": [D("type", t) for t in self.types], "nodes": self.node_digest,
                 "regions": self.region_digest, "blobs": self.blobs}
        return {"fingerprint": self.fingerprint.hex(),
                "exports": {x["name"].decode(): x["digest"].hex() for x in self.export},
                **{k: [d.hex() for d in v] for k, v in lists.items()}}

def check_vectors(path):
    n = 0
    with open(path, encoding="utf-8") as f:
        for i, line in enumerate(f, 1):
            domain, payload, want, what = line.rstrip("\n").split("\t")
            if payload.startswith("@"):
                got = tree(domain, bytes(k % 251 for k in range(int(payload[1:]))))
            else:
                got = D(domain, bytes.fromhex(payload))
            need(got.hex() == want, "%s:%d: %s (%s): %s", path, i, domain, what, got.hex())
            n += 1
    print("%s: %d vectors ok" % (path, n))

def main(args):
    try:
        if len(args) == 2 and args[0] == "--vectors":
            check_vectors(args[1])
            return 0
    except (Bad, OSError, ValueError) as e:
        print("kegcheck: %s" % e, file=sys.stderr)
        return 1
    as_json = args[:1] == ["--json"]
    files = args[1:] if as_json else args
    if not files:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    status = 0
    for path in files:
        try:
            with open(path, "rb") as f:
                k = Keg(f.read()).check()
        except (Bad, OSError) as e:
            print("%s: %s" % (path, e), file=sys.stderr)
            status = 1
            continue
        if as_json:
            print(json.dumps(k.report(), indent=1))
        else:
            print("%s: ok, %d nodes, %d regions, %d blobs, fingerprint %s" %
                  (path, len(k.ops), len(k.params), len(k.blobs), k.fingerprint.hex()))
    return status

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
