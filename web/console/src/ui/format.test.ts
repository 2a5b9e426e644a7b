import { expect, it } from "vitest";
import { ago, count, initials, join, nameOf, plural, precise, until } from "./format";

const now = Date.parse("2026-03-10T12:00:00Z");

it.each([
  ["2026-03-10T11:59:30Z", "just now"],
  ["2026-03-10T11:30:00Z", "30 min ago"],
  ["2026-03-10T09:00:00Z", "3 hr ago"],
  ["2026-03-09T12:00:00Z", "yesterday"],
  ["2026-01-05T12:00:00Z", "5 Jan 2026"],
])("ago(%s) = %s", (at, words) => expect(ago(at, now)).toBe(words));

it.each([
  ["2026-03-10T12:00:30Z", "within a minute"],
  ["2026-03-10T15:00:00Z", "in 3 hr"],
  ["2026-03-13T12:00:00Z", "in 3 days"],
  ["2026-06-08T12:00:00Z", "8 Jun 2026"],
])("until(%s) = %s", (at, words) => expect(until(at, now)).toBe(words));

it("joins names and counts the rest", () => {
  expect(join([])).toBe("nobody");
  expect(join(["Ana", "Ben", "Cy"])).toBe("Ana, Ben and Cy");
  expect(join(["Ana", "Ben", "Cy", "Di"])).toBe("Ana, Ben and 2 others");
});

it("names things by name, key or hash", () => {
  const hash = "abcdef0123456789";
  expect(nameOf({ name: "Ana", key: "ana", hash })).toBe("Ana");
  expect(nameOf({ name: null, key: "ana", hash })).toBe("ana");
  expect(nameOf({ name: null, key: null, hash })).toBe("abcdef01");
});

it("writes numbers, plurals and initials", () => {
  expect(count(1234567)).toBe("1,234,567");
  expect(plural(1, "message")).toBe("1 message");
  expect(plural(0, "message")).toBe("0 messages");
  expect(initials("Álvaro de la Peña")).toBe("ÁP");
  expect(initials("scout")).toBe("S");
  expect(initials("!")).toBe("?");
});

it.each([
  [0.1, "0.1"],
  [0.30000000000000004, "0.30000000000000004"],
  [1 / 3, "0.3333333333333333"],
  [1.25e-7, "0.000000125"],
  [-0.05, "-0.05"],
  [31_622_400, "31,622,400"],
  [0, "0"],
])("precise(%d) = %s", (n, text) => expect(precise(n)).toBe(text));
