// Numbers, times and hashes as people read them.
const locale = "en-GB";
const number = new Intl.NumberFormat(locale);
const score = new Intl.NumberFormat(locale, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const dayTime = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" });
const day = new Intl.DateTimeFormat(locale, { dateStyle: "medium" });
const clock = new Intl.DateTimeFormat(locale, { timeStyle: "short" });
const relative = new Intl.RelativeTimeFormat(locale, { numeric: "auto", style: "short" });

/** 12,345 */
export const count = (n: number): string => number.format(n);

/** 0.42: for scores and their parts. */
export const part = (n: number): string => score.format(n);

/** "1 message", "2 messages". */
export const plural = (n: number, one: string, many = `${one}s`): string => `${count(n)} ${n === 1 ? one : many}`;

/** 3 Mar 2026, 14:05, in this browser's time zone. */
export const dateTime = (iso: string): string => dayTime.format(new Date(iso));

/** 3 Mar 2026, in this browser's time zone. */
export const date = (iso: string): string => day.format(new Date(iso));

/** 14:05, in this browser's time zone. */
export const time = (iso: string): string => clock.format(new Date(iso));

const steps: [Intl.RelativeTimeFormatUnit, number][] = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

/** "3 hr ago" for the last seven days, and the date before; now is in milliseconds since 1970. */
export function ago(iso: string, now: number): string {
  const seconds = (Date.parse(iso) - now) / 1000;
  if (Math.abs(seconds) < 60) return "just now";
  if (Math.abs(seconds) >= 7 * 86_400) return date(iso);
  const [unit, size] = steps.find(([, s]) => Math.abs(seconds) >= s) ?? ["minute", 60];
  return relative.format(Math.round(seconds / size), unit);
}

/** "in 3 days" for the coming seven days, and the date after them; now is in milliseconds since 1970. */
export const until = (iso: string, now: number): string =>
  Date.parse(iso) - now < 60_000 ? "within a minute" : ago(iso, now);

/** The first eight digits of a hash: enough to tell by eye, never enough to trust. */
export const short = (hash: string): string => hash.slice(0, 8);

/** A component's name: what people call it, else its key, else the beginning of its hash. */
export function nameOf(c: { name: string | null; key: string | null; hash: string }): string {
  return c.name ?? c.key ?? short(c.hash);
}

/** Up to two letters that stand for a name. */
export function initials(name: string): string {
  const words = name.match(/[\p{L}\p{N}]+/gu) ?? [];
  const letters = words.length > 1 ? [words[0], words[words.length - 1]] : [words[0]];
  return letters
    .map((w) => [...(w ?? "?")][0])
    .join("")
    .toLocaleUpperCase(locale);
}

/** Names joined for a title: "Ana, Ben and 3 others". */
export function join(names: readonly string[], most = 3): string {
  if (names.length === 0) return "nobody";
  if (names.length === 1) return names[0] ?? "";
  if (names.length <= most) return `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}`;
  return `${names.slice(0, most - 1).join(", ")} and ${names.length - most + 1} others`;
}
