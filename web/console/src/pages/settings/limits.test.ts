import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { limitNames } from "./limits";

it("has words for each limit that the server tells of, and for no others", () => {
  const told = ["../../../../../about.go", "../../../../../graph/about.go"].flatMap((file) => {
    const text = readFileSync(new URL(file, import.meta.url), "utf8");
    return [...text.matchAll(/(?:\{Name: |days\()"(\w+)"/g)].map(([, name]) => name);
  });
  expect(told.length).toBeGreaterThan(20);
  expect([...limitNames].sort()).toEqual(told.sort());
});
