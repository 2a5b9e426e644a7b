import { describe, expect, it } from "vitest";
import { Seen } from "./altered";
import { Room, SessionCheck, type SessionProgress } from "./session";
import { chain, digits } from "./testing";

const session = digits("5");

function run(messages: ReturnType<typeof chain>, length: number, head: string, size = 2) {
  const check = new SessionCheck(session, length, head);
  for (let i = 0; i < messages.length; i += size) check.page(messages.slice(i, i + size), null);
  return check.end();
}

describe("a session", () => {
  const whole = chain(5);
  const head = whole[4]?.hash ?? "";

  it("passes page by page", () => {
    expect(run(whole, 5, head)).toMatchObject({ session, checked: 5, upTo: 5, total: 5, erased: 0, findings: [] });
  });
  it("names the message after one that was taken out", () => {
    const findings = run([...whole.slice(0, 2), ...whole.slice(3)], 5, head).findings;
    expect(findings).toMatchObject([{ kind: "gap", sequence: 4, detail: { id: "chain.gap", values: { from: 3 } } }]);
  });
  it("names a missing tail and a wrong head", () => {
    expect(run(whole.slice(0, 3), 5, head).findings).toMatchObject([{ kind: "tail", sequence: 5 }]);
    expect(run(whole, 5, digits("0")).findings).toMatchObject([{ kind: "tail", stated: digits("0"), computed: head }]);
    expect(run([], 5, head).findings).toMatchObject([{ kind: "tail" }]);
  });
  it("names the very message whose content was changed", () => {
    const changed = whole.map((m) => (m.sequence === 3 ? { ...m, content: "Forged" } : m));
    expect(run(changed, 5, head).findings).toMatchObject([{ kind: "content", sequence: 3, hash: whole[2]?.hash }]);
  });
  it("takes messages that came while it ran for no break", () => {
    expect(run(whole, 3, whole[2]?.hash ?? "").findings).toEqual([]);
  });
  it("tells as much of what is wrong as there is room for, and counts the rest", () => {
    const changed = whole.map((m) => ({ ...m, content: "Forged" }));
    const room = new Room(3);
    const [first, second] = [0, 1].map(() => new SessionCheck(session, 5, digits("0"), new Seen(), room));
    first?.page(changed.slice(0, 2), null);
    expect(first?.end()).toMatchObject({ findings: [{}, {}, {}], found: { chain: 3 }, unlisted: [] });
    second?.page(changed, null);
    expect(second?.end()).toMatchObject({ findings: [], found: { chain: 6, proofs: 0 }, unlisted: [1, 5] });
    expect(second?.explicable).toBe(false);
  });
  it("keeps what was altered of all sessions of a check within one measure", () => {
    const forged = whole.map((m) => ({
      ...m,
      integrity: { ...m.integrity, preimage: whole[0]?.integrity.preimage ?? "" },
    }));
    const size = (m = forged[1]) => (m?.integrity.preimage.length ?? 0) + (m?.integrity.contentPreimage?.length ?? 0);
    const room = new Room(200, 2 * size() + 10);
    const [first, second] = [0, 1].map(() => new SessionCheck(session, 5, digits("0"), new Seen(), room));
    first?.page(forged.slice(1, 2), null);
    expect([first?.explicable, room.characters]).toEqual([true, size() + 10]);
    second?.page(forged.slice(1, 2), null);
    expect([second?.explicable, room.characters]).toEqual([true, 10]);
    first?.page(forged.slice(2), null); // what comes behind it, too, finds no room any more
    expect(room.characters).toBe(10);
    first?.explain();
    expect(first?.explicable).toBe(false);
  });
  it("finds out of one message after the other what was altered, of however many are told", () => {
    const altered = chain(60).map((m) => (m.sequence % 2 === 1 ? { ...m, hash: digits("0") } : m));
    const check = new SessionCheck(session, 60, altered[59]?.hash ?? "");
    check.page(altered, null);
    expect(check.end().found.chain).toBe(60); // each, and the link of the one behind it
    const known = ({ findings }: SessionProgress) =>
      findings.filter((f) => f.detail.id === "chain.altered.hash").length;
    expect(known(check.explain())).toBe(1);
    while (check.explicable) check.explain();
    const explained = check.explain();
    expect([known(explained), explained.findings.length, explained.found.chain]).toEqual([30, 30, 30]);
  });
});
