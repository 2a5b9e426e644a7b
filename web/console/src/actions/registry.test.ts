import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import en from "../words/en/actions.json";
import es from "../words/es/actions.json";
import { type Action, actionIds, actionOf } from "./registry";

const src = new URL("..", import.meta.url).pathname;
const sources = readdirSync(src, { recursive: true, encoding: "utf8" })
  .filter((name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$/.test(name) && name !== "actions/registry.ts")
  .map((name) => readFileSync(join(src, name), "utf8"))
  .join("\n");

const meet = ({ on: a }: Action, { on: b }: Action): boolean =>
  a === "everywhere" || b === "everywhere" || a.some((page) => b.includes(page));

// Whether a press of one is also a press of the other, or begins it.
const clash = (a: string, b: string): boolean => a === b || a.startsWith(`${b} `) || b.startsWith(`${a} `);

describe("the registry of actions", () => {
  it.each(actionIds)("%s has words in both languages", (id) => {
    for (const words of [en, es] as Record<string, string>[]) expect(words[id]?.trim()).toBeTruthy();
  });

  it("has words for nothing else", () => {
    for (const words of [en, es]) expect(Object.keys(words).sort()).toEqual([...actionIds].sort());
  });

  it.each(actionIds)("%s is offered by some page", (id) => {
    expect(sources).toMatch(new RegExp(`(useAction\\(\\s*|action: )"${id.replace(".", "\\.")}"`));
  });

  it("has no key twice at the same place", () => {
    const clashes = actionIds.flatMap((a, i) =>
      actionIds.slice(i).flatMap((b) => {
        const keysOf = actionOf(b).keys ?? [];
        const both = (actionOf(a).keys ?? []).filter((k, at) =>
          a === b
            ? keysOf.indexOf(k) !== at
            : meet(actionOf(a), actionOf(b)) && keysOf.some((other) => clash(k, other)),
        );
        return both.map((k) => `${k}: ${a}, ${b}`);
      }),
    );
    expect(clashes).toEqual([]);
  });
});
