import { expect, it } from "vitest";
import type { Finding } from "./check";
import { runsOf } from "./hashes";
import { amount } from "./numbers";
import { SessionCheck, type SessionProgress } from "./session";
import { Tally } from "./tally";
import { chain, digits } from "./testing";

const of = (session: string, change: Partial<SessionProgress> = {}): SessionProgress => ({
  ...new SessionCheck(session, 9, "").page([], null),
  ...change,
});
const finding = (session: string, sequence: number): Finding => ({
  kind: "hash",
  session,
  sequence,
  hash: "",
  detail: { id: "chain.hash" },
});

it("gives the sums of all sessions as each is now", () => {
  const tally = new Tally();
  const last = new Map<string, SessionProgress>();
  for (let step = 0; step < 60; step++) {
    const session = `s${(step * 7) % 5}`;
    const n = (step * 31) % 17;
    const unproved = n > 3 ? [3, n] : [];
    const p = of(session, {
      checked: n,
      erased: step % 3,
      proved: n,
      unproved,
      found: { chain: n % 4, proofs: n % 3 },
    });
    last.set(session, p);
    tally.take(p, []);
    const all = [...last.values()];
    const sum = (what: (p: SessionProgress) => number) => all.reduce((a, p) => a + what(p), 0);
    const proofs = sum((p) => p.found.proofs);
    expect(tally.told(false)).toMatchObject({
      checked: sum((p) => p.checked),
      erased: sum((p) => p.erased),
      proved: sum((p) => p.proved),
      unproved: sum((p) => amount(p.unproved)),
      found: { n: sum((p) => p.found.chain) + proofs, least: false },
      foundProofs: { n: proofs, least: false },
    });
  }
  expect(tally.told(true).found?.least).toBe(true);
});

it("looks at the session alone of which it is told", () => {
  const tally = new Tally();
  const read: string[] = [];
  const watched = (session: string) =>
    new Proxy(of(session, { checked: 1 }), {
      get: (p, key) => {
        read.push(session);
        return Reflect.get(p, key) as unknown;
      },
    });
  for (const session of ["a", "b", "c"]) tally.take(watched(session), []);
  read.length = 0;
  tally.take(watched("b"), []);
  expect(tally.told(false).checked).toBe(3);
  expect(new Set(read)).toEqual(new Set(["b"]));
});

it("tells what is wrong session by session, by number, as it is now", () => {
  const tally = new Tally();
  tally.take(of("a", { findings: [finding("a", 3), finding("a", 1)] }), []);
  tally.take(of("b"), []);
  tally.take(of("c", { findings: [finding("c", 2)] }), []);
  tally.take(of("a", { findings: [finding("a", 3)] }), []); // explained: one followed from the other
  expect(tally.told(false).breaks?.map((f) => `${f.session}${f.sequence}`)).toEqual(["a3", "c2"]);
});

it("tells of a session and of its hashes as of the same moment, to whoever was told before, too", () => {
  const messages = chain(4);
  const check = new SessionCheck(digits("5"), 4, "");
  const tally = new Tally();
  const next = (from: number) => {
    const page = messages.slice(from, from + 2);
    tally.take(check.page(page, null), runsOf(page));
    return tally.told(false);
  };
  const { sessions, hashes } = next(0);
  next(2);
  expect(hashes?.get(digits("5"))?.at(4)).toBe(messages[3]?.hash);
  expect(sessions?.get(digits("5"))?.unproved).toEqual([1, 4]);
});
