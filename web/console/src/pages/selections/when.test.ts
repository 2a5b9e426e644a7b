import { expect, it } from "vitest";
import { rangeOf } from "./when";

const now = Date.parse("2026-03-10T12:00:00Z");

it.each([
  ["", null, null],
  ["when=week", "2026-03-03T12:00:00.000Z", null],
  ["when=day&since=2026-01-01", "2026-03-09T12:00:00.000Z", null],
  ["when=dates&since=2026-01-01&until=2026-02-01", "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"],
  ["when=dates&since=yesterday", null, null],
  ["when=ever", null, null],
])("rangeOf(%s)", (address, since, until) =>
  expect(rangeOf(new URLSearchParams(address), now)).toEqual({ since, until }),
);
