import { describe, expect, it } from "vitest";
import { score } from "./fuzzy";
import { ariaOf, bindingsOf, capsOf, isSingle, lineOf } from "./keys";
import { Offers } from "./offers";
import { targetOf } from "./target";

const hash = "0123456789abcdef".repeat(4);
const origin = "http://127.0.0.1:8080";

describe("score", () => {
  const best = (typed: string, texts: string[]) =>
    texts
      .map((text) => ({ text, s: score(typed, text) }))
      .filter(({ s }) => s > 0)
      .sort((a, b) => b.s - a.s)
      .map(({ text }) => text);

  it.each([
    ["the beginning of a word before its inside", "to", ["Customers", "Go to tokens"], ["Go to tokens", "Customers"]],
    [
      "letters that follow each other before words apart",
      "rec",
      ["Copy the request as curl", "Go to records"],
      ["Go to records", "Copy the request as curl"],
    ],
    ["first letters", "gt", ["Go to threads", "Light"], ["Go to threads", "Light"]],
    ["words in any order", "threads go", ["Go to threads", "Go to tokens"], ["Go to threads"]],
    ["no accents, no case", "SESION", ["Cerrar la sesión", "Ir al sello"], ["Cerrar la sesión"]],
    ["nothing that lacks a letter", "xyz", ["Go to threads"], []],
    ["a later place where the first one fails", "ab", ["a cab"], ["a cab"]],
  ])("finds %s", (_, typed, texts, want) => expect(best(typed, texts)).toEqual(want));
});

describe("targetOf", () => {
  it.each([
    ["a hash", ` ${hash.toUpperCase()}\n`, { kind: "hash", hash }],
    [
      "a link",
      `${origin}/threads/${hash}?message=${hash}`,
      { kind: "address", to: `/threads/${hash}?message=${hash}` },
    ],
    ["another server's link", `https://example.com/messages/${hash}`, { kind: "address", to: `/messages/${hash}` }],
    ["an address alone", `/sessions/${hash}`, { kind: "address", to: `/sessions/${hash}` }],
    ["63 digits", hash.slice(1), null],
    ["a script", `javascript:alert('/messages/${hash}')`, null],
    ["a link to no subject", `${origin}/seal`, null],
    ["a path of two slashes", `//evil.example/x`, null],
    ["words", "go to threads", null],
  ])("takes %s", (_, text, want) => expect(targetOf(text, origin)).toEqual(want));
});

describe("keys", () => {
  it.each([
    ["J", true, ["J"], "J", "J"],
    ["?", true, ["?", "Shift+?"], "?", "?"],
    ["G T", true, ["G T"], "G T", undefined],
    ["Mod+K", false, ["$mod+K"], "Ctrl+K", "Control+K"],
    ["Escape", false, ["Escape"], "Esc", "Escape"],
  ])("%s", (keys, single, bindings, line, aria) => {
    expect([isSingle(keys), bindingsOf(keys), lineOf(keys), ariaOf(keys)]).toEqual([single, bindings, line, aria]);
  });

  it("parts presses and keys", () => expect(capsOf("Mod+K T")).toEqual([["Ctrl", "K"], ["T"]]));
});

describe("Offers", () => {
  it("does what was offered last, and what was before once that is gone", () => {
    const offers = new Offers();
    const done: string[] = [];
    offers.offer("message.next", () => done.push("page"), true);
    const withdraw = offers.offer("message.next", () => done.push("panel"), true);
    offers.run("message.next");
    withdraw();
    offers.run("message.next");
    expect(done).toEqual(["panel", "page"]);
  });

  it("does nothing that is not enabled, and tells only of changes", () => {
    const offers = new Offers();
    let told = 0;
    offers.subscribe(() => told++);
    offers.offer("message.next", () => true, true);
    offers.offer("message.next", () => true, false)();
    const off = offers.offer("message.next", () => true, false);
    expect([offers.run("message.next"), offers.choices()]).toEqual([false, []]);
    off();
    expect([offers.run("message.next"), offers.choices()]).toEqual([true, [{ id: "message.next", of: null }]]);
    expect(told).toBe(5);
    offers.offer("message.next", () => true, true);
    expect(told).toBe(5);
  });

  it("keeps apart what the same action is offered for", () => {
    const offers = new Offers();
    const done: string[] = [];
    for (const of of ["roles", "limits"]) offers.offer("table.copyCsv", () => done.push(of), true, of);
    expect(offers.choices()).toEqual([
      { id: "table.copyCsv", of: "roles" },
      { id: "table.copyCsv", of: "limits" },
    ]);
    offers.run("table.copyCsv", undefined, "roles");
    offers.run("table.copyCsv");
    offers.offer("table.copyCsv", () => done.push("none"), false, "limits");
    offers.run("table.copyCsv");
    expect(done).toEqual(["roles", "limits", "roles"]);
  });

  it("says that a key was left to what else it does", () => {
    const offers = new Offers();
    offers.offer("message.next", () => false, true);
    expect(offers.run("message.next")).toBe(false);
  });
});
