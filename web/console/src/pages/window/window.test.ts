import { describe, expect, it } from "vitest";
import type { Page } from "../../api/pages";
import { begin, type Draft, inputOf, limits, problems } from "./draft";
import { pointsOf } from "./fill";
import { findIn } from "./find";
import { outcomeOf, overrulingOf, textsOf } from "./judged";
import { groupsOf, itemsOf, partsOf } from "./parts";
import type { ContentType, Item, Judgement, Operation } from "./query";
import * as select from "./selectDraft";
import * as share from "./shareDraft";
import * as tools from "./toolDraft";

const item = (id: string, type: ContentType, tokens: number, score = 1): Item =>
  ({ id, type, tokens, content: `what ${id} says`, quality: { score } }) as Item;
const tool = (name: string, tokens: number, shown: boolean) => ({ name, description: "", schema: {}, tokens, shown });

const items = [
  item("1", "SYSTEM_INSTRUCTION", 10),
  item("2", "GOAL", 5),
  item("3", "KNOWLEDGE", 20, 0.8),
  item("4", "KNOWLEDGE", 30, 0.6),
  item("5", "USER_MESSAGE", 7),
  item("6", "TOOL_RESULT", 8),
  item("7", "USER_MESSAGE", 9),
];
const shared = { id: "s", name: "team", windowCount: 2, windows: [], items: [item("8", "DECISION", 4, 0.5)] };
const whole = { items, segments: [shared], tools: [tool("a", 11, true), tool("b", 100, false)] };

describe("what fills a window", () => {
  it("is told by type in prompt order, with what it shares and the tools that it describes", () => {
    expect(partsOf(whole).map((p) => [p.of, p.n, p.tokens, p.score])).toEqual([
      ["SYSTEM_INSTRUCTION", 1, 10, 1],
      ["GOAL", 1, 5, 1],
      ["KNOWLEDGE", 2, 50, 0.7],
      ["USER_MESSAGE", 2, 16, 1],
      ["TOOL_RESULT", 1, 8, 1],
      ["SHARED", 1, 4, 0.5],
      ["TOOLS", 1, 11, null],
    ]);
    expect(partsOf({ items: [], segments: [], tools: [] })).toEqual([]);
  });
  it("stands in groups whose items keep their order, tools' results among what was said", () => {
    expect(groupsOf(items).map((g) => [g.name, g.items.map((i) => i.id).join("")])).toEqual([
      ["SYSTEM_INSTRUCTION", "1"],
      ["GOAL", "2"],
      ["KNOWLEDGE", "34"],
      ["SAID", "567"],
    ]);
  });
  it("is found by id, shared or not", () => {
    const found = itemsOf(whole);
    expect([found.size, found.get("8")?.tokens, found.get("9")]).toEqual([8, 4, undefined]);
  });
});

it("a history has a point for each operation, numbered, the oldest first", () => {
  const at = "2026-03-10T12:00:00Z";
  const operations = [60, 90, 10].map((tokensAfter, i) => ({ id: `o${i}`, kind: "WRITE" as const, at, tokensAfter }));
  expect(pointsOf(operations, 7, 100).map((p) => [p.n, p.id, p.tokens, p.usage])).toEqual([
    [5, "o2", 10, 0.1],
    [6, "o1", 90, 0.9],
    [7, "o0", 60, 0.6],
  ]);
  expect(pointsOf([], 0, 100)).toEqual([]);
});

describe("findIn", () => {
  const pages: Record<string, Page<{ id: string }>> = {
    "": { items: [{ id: "a" }, { id: "b" }], endCursor: "1", hasNextPage: true },
    "1": { items: [{ id: "c" }], endCursor: "2", hasNextPage: true },
    "2": { items: [{ id: "d" }], endCursor: "3", hasNextPage: false },
  };
  it.each([
    ["no further than needed", ["b", "a"], ["b", "a"], [], 1],
    ["to the page that has the last one", ["a", "c"], ["a", "c"], [], 2],
    ["to the end for what is not there", ["x", "d", "d"], ["d"], ["x"], 3],
    ["nowhere for nothing", [], [], [], 0],
  ])("looks %s", async (_, ids, found, missing, asked) => {
    const after: (string | null)[] = [];
    const result = await findIn(ids, async (cursor) => {
      after.push(cursor);
      return pages[cursor ?? ""] as Page<{ id: string }>;
    });
    expect(result).toEqual({ found: found.map((id) => ({ id })), missing });
    expect(after).toEqual([null, "1", "2"].slice(0, asked));
  });
});

describe("what came of an operation", () => {
  const done = { kind: "WRITE" as const, overruled: null, rejected: null, superseded: [], compression: null };
  const compression = {} as NonNullable<Operation["compression"]>;
  it.each<[string, object, string]>([
    ["nothing special", {}, "DONE"],
    ["a compression on the way", { compression }, "COMPRESSED"],
    ["an older item that left", { superseded: items.slice(0, 1), compression }, "SUPERSEDED"],
    ["a rejection", { rejected: "because" }, "REJECTED"],
    ["an overflow", { kind: "EXCEEDED", rejected: "full" }, "EXCEEDED"],
    ["a rejection that was overruled", { rejected: "because", overruled: "it is so" }, "OVERRULED"],
    ["the overruling itself", { kind: "OVERRULE", overruled: "it is so" }, "DONE"],
  ])("%s", (_, part, want) => expect(outcomeOf({ ...done, ...part })).toBe(want));

  const judged = (relation: Judgement["relation"], overruled = false) => ({ relation, overruled }) as Judgement;
  const rejected = { rejected: "because", content: "The tower is in London." };
  const against = { judgements: [judged("AGREES"), judged("CONTRADICTS")] };
  const superseded = items.slice(0, 1);
  it.each<[string, object, object | null]>([
    ["nothing judged", {}, null],
    ["an agreement", { judgements: [judged("AGREES")] }, null],
    [
      "a rejection that no judge is behind",
      rejected,
      { enters: rejected.content, returns: [], shared: false, believed: true },
    ],
    [
      "one with a contradiction",
      { ...rejected, ...against },
      { enters: rejected.content, returns: [], shared: false, believed: false },
    ],
    [
      "what left by a judge",
      { superseded, ...against },
      { enters: null, returns: superseded, shared: false, believed: false },
    ],
    ["what left by its key", { superseded }, { enters: null, returns: superseded, shared: false, believed: true }],
    [
      "what left what is shared",
      { kind: "SHARE", superseded, ...against },
      { enters: null, returns: superseded, shared: true, believed: false },
    ],
    [
      "what did not enter what is shared",
      { kind: "SHARE", ...rejected, ...against },
      { enters: rejected.content, returns: [], shared: true, believed: false },
    ],
    ["a pair that was overruled elsewhere", { judgements: [judged("CONTRADICTS", true)] }, null],
    ["what somebody has overruled", { ...rejected, ...against, overruled: "it is so" }, null],
  ])("%s can be overruled, or not", (_, part, want) =>
    expect(overrulingOf({ ...done, content: null, judgements: [], ...part })).toEqual(want),
  );

  it("was about what was rejected, or what entered and is still there", () => {
    const known = itemsOf(whole);
    expect(textsOf({ ...done, content: "The tower is in London.", entered: [] }, known)).toEqual([
      "The tower is in London.",
    ]);
    expect(textsOf({ ...done, content: null, entered: ["2", "gone", "8"] }, known)).toEqual([
      "what 2 says",
      "what 8 says",
    ]);
    const selected = { kind: "SELECT" as const, content: "Which tower?", entered: ["8"] };
    expect(textsOf(selected, known)).toEqual(["what 8 says"]);
  });
});

describe("what is written by hand", () => {
  const draft = (part: Partial<Draft>): Draft => ({ ...begin(), content: "Hello", ...part });
  it.each<[string, Partial<Draft>, string[]]>([
    ["is fit", {}, []],
    ["has content", { content: "" }, ["content"]],
    ["of at most a mebibyte", { content: "x".repeat(limits.content + 1) }, ["content"]],
    ["a key of at most 256 bytes", { key: "é".repeat(129) }, ["key"]],
    ["and a moment that is one", { observedAt: "yesterday" }, ["observedAt"]],
  ])("%s", (_, part, want) => expect(Object.keys(problems(draft(part)))).toEqual(want));

  it("is asked with what was given", () => {
    expect(inputOf("w", draft({}))).toEqual({ window: "w", type: "USER_MESSAGE", content: "Hello" });
    const moment = "2026-03-10T12:30";
    expect(inputOf("w", draft({ type: "GOAL", key: "goal.stay", observedAt: moment }))).toEqual({
      window: "w",
      type: "GOAL",
      content: "Hello",
      key: "goal.stay",
      observedAt: new Date(moment).toISOString(),
    });
  });
});

describe("what else is asked for by hand", () => {
  it.each<[string, Partial<tools.Draft>, string[]]>([
    ["a tool is fit", {}, []],
    ["has a name", { name: " " }, ["name"]],
    ["of at most 256 bytes", { name: "é".repeat(129) }, ["name"]],
    ["a description of at most 16 KiB", { description: "x".repeat(tools.limits.description + 1) }, ["description"]],
    ["a schema that is JSON", { schema: "{type: object}" }, ["schema"]],
    ["of at most 64 KiB", { schema: JSON.stringify("x".repeat(tools.limits.schema)) }, ["schema"]],
    ["white space not counted", { schema: `{${" ".repeat(tools.limits.schema)}}` }, []],
  ])("%s", (_, part, want) =>
    expect(Object.keys(tools.problems({ ...tools.begin(), name: "open_door", ...part }))).toEqual(want),
  );
  it("a tool is sent with its schema as JSON, or without one", () => {
    const draft = { ...tools.begin(), name: "open_door", description: "Opens a door" };
    expect(tools.inputOf(draft)).toEqual({ name: "open_door", description: "Opens a door" });
    expect(tools.inputOf({ ...draft, schema: ' {"type": "object"}' }).schema).toEqual({ type: "object" });
  });

  it.each<[string, Partial<select.Draft>, string[]]>([
    ["a selection is fit", {}, []],
    ["asks for something", { query: " " }, ["query"]],
    ["in at most 64 KiB", { query: "x".repeat(select.limits.query + 1) }, ["query"]],
    ["for whole items", { limit: "1.5" }, ["limit"]],
    ["1 to 200", { limit: "201" }, ["limit"]],
    ["within a budget above 0", { tokenBudget: "0" }, ["tokenBudget"]],
    ["by a score", { threshold: "" }, ["threshold"]],
    ["from 0 to 1", { threshold: "1.1" }, ["threshold"]],
  ])("%s", (_, part, want) =>
    expect(Object.keys(select.problems({ ...select.begin(), query: "hotel", ...part }))).toEqual(want),
  );
  it("a selection is asked for with what was given", () => {
    const draft = { ...select.begin(), query: " hotel " };
    expect(select.inputOf(draft)).toEqual({ query: "hotel", limit: 5, threshold: 0.7 });
    expect(select.inputOf({ ...draft, tokenBudget: "40" }).tokenBudget).toBe(40);
  });

  it.each<[string, Partial<share.Draft>, string[]]>([
    ["a segment is fit", {}, []],
    ["has a name", { name: "" }, ["name"]],
    ["of at most 256 bytes", { name: "x".repeat(257) }, ["name"]],
    ["and another window", { windows: [] }, ["windows"]],
    ["at most 99", { windows: Array.from({ length: 100 }, (_, n) => `w${n}`) }, ["windows"]],
  ])("%s", (_, part, want) =>
    expect(Object.keys(share.problems({ name: "team", windows: ["w"], ...part }))).toEqual(want),
  );
});
