// Numbers, times and hashes as people read them, in their language.
import { locale, t } from "../words";

// A formatter for each locale that was asked for.
function per<T>(make: (locale: string) => T): () => T {
  const made = new Map<string, T>();
  return () => {
    const of = locale();
    const formatter = made.get(of) ?? make(of);
    made.set(of, formatter);
    return formatter;
  };
}

const number = per((l) => new Intl.NumberFormat(l));
const score = per((l) => new Intl.NumberFormat(l, { minimumFractionDigits: 2, maximumFractionDigits: 2 }));
const every = per((l) => new Intl.NumberFormat(l, { maximumFractionDigits: 20 }));
const share = per((l) => new Intl.NumberFormat(l, { style: "percent", maximumFractionDigits: 1 }));
const size = per((l) => new Intl.NumberFormat(l, { maximumSignificantDigits: 3 }));
const dayTime = per((l) => new Intl.DateTimeFormat(l, { dateStyle: "medium", timeStyle: "short" }));
const exactly = per((l) => new Intl.DateTimeFormat(l, { dateStyle: "full", timeStyle: "long" }));
const day = per((l) => new Intl.DateTimeFormat(l, { dateStyle: "medium" }));
const utcDay = per((l) => new Intl.DateTimeFormat(l, { dateStyle: "medium", timeZone: "UTC" }));
const clock = per((l) => new Intl.DateTimeFormat(l, { timeStyle: "short" }));
const relative = per((l) => new Intl.RelativeTimeFormat(l, { numeric: "auto", style: "short" }));
const list = per((l) => new Intl.ListFormat(l, { type: "conjunction" }));

/** 12,345 */
export const count = (n: number): string => number().format(n);

/** 0.42: for scores and their parts. */
export const part = (n: number): string => score().format(n);

/** 42.2%: for shares, which are 0 to 1. */
export const percent = (n: number): string => share().format(n);

/** 0.4217391304347826: with the fewest digits that give the same number, for who wants to know exactly. */
export const precise = (n: number): string => every().format(shortest(n) as `${number}`);

// String(n) has the fewest digits, but an exponent where it is small.
const shortest = (n: number): string => {
  const text = String(n);
  const [, digits = "", places = ""] = /^(-?\d(?:\.\d+)?)e-(\d+)$/.exec(text) ?? [];
  return digits === "" ? text : n.toFixed(Math.min(20, Number(places) + digits.replace(/^-?\d\.?/, "").length));
};

const units = ["B", "kB", "MB", "GB", "TB"];

/** "12.3 kB": a thousand bytes to the kilobyte. */
export function bytes(n: number): string {
  const power = n < 1000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(n) / 3));
  return `${size().format(n / 1000 ** power)}\u00a0${units[power]}`;
}

/** "1 message", "2 messages". */
export const plural = (n: number, one: string, many = `${one}s`): string => `${count(n)} ${n === 1 ? one : many}`;

/** 3 Mar 2026, 14:05, in this browser's time zone. */
export const dateTime = (iso: string): string => dayTime().format(new Date(iso));

/** Tuesday 3 March 2026 at 14:05:09 GMT: with seconds and time zone, for who wants to know exactly. */
export const exact = (iso: string): string => exactly().format(new Date(iso));

/** 3 Mar 2026, in this browser's time zone. */
export const date = (iso: string): string => day().format(new Date(iso));

/** 3 Mar 2026, by the calendar of UTC: for what the server counts by its days. */
export const utcDate = (iso: string): string => utcDay().format(new Date(iso));

/** 14:05, in this browser's time zone. */
export const time = (iso: string): string => clock().format(new Date(iso));

const steps: [Intl.RelativeTimeFormatUnit, number][] = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

/** "3 hr ago" for the last seven days, and the date before; now is in milliseconds since 1970. */
export function ago(iso: string, now: number): string {
  const seconds = (Date.parse(iso) - now) / 1000;
  if (Math.abs(seconds) < 60) return t("ui.format.now");
  if (Math.abs(seconds) >= 7 * 86_400) return date(iso);
  const [unit, size] = steps.find(([, s]) => Math.abs(seconds) >= s) ?? ["minute", 60];
  return relative().format(Math.round(seconds / size), unit);
}

/** "in 3 days" for the coming seven days, and the date after them; now is in milliseconds since 1970. */
export const until = (iso: string, now: number): string =>
  Date.parse(iso) - now < 60_000 ? t("ui.format.soon") : ago(iso, now);

/** The first eight digits of a hash: enough to tell by eye, never enough to trust. */
export const short = (hash: string): string => hash.slice(0, 8);

/** A component's name: what people call it, else its key, else the beginning of its hash. */
export function nameOf(c: { name: string | null; key: string | null; hash: string }): string {
  return c.name || c.key || short(c.hash);
}

/** Up to two letters that stand for a name. */
export function initials(name: string): string {
  const words = name.match(/[\p{L}\p{N}]+/gu) ?? [];
  const letters = words.length > 1 ? [words[0], words[words.length - 1]] : [words[0]];
  return letters
    .map((w) => [...(w ?? "?")][0])
    .join("")
    .toLocaleUpperCase(locale());
}

/** Names joined for a title: "Ana, Ben and 3 others". */
export function join(names: readonly string[], most = 3): string {
  if (names.length === 0) return t("ui.format.nobody");
  if (names.length <= most) return list().format(names);
  return list().format([...names.slice(0, most - 1), t("ui.format.others", { n: names.length - most + 1 })]);
}
