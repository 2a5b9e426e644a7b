// Which messages are shown: as the address holds it, and as the server is asked.

/** A filter. since and until: a moment (RFC 3339), or how long ago, as in "-24h": that is kept as it is. */
export type Filter = {
  channels: string[];
  /** 0 is normal: all of them if this is empty. */
  importance: number[];
  text: string;
  since: string;
  until: string;
};

/** All messages. */
export const everything: Filter = { channels: [], importance: [], text: "", since: "", until: "" };

/** What the server is asked for. */
export type Match = {
  channels?: string[];
  importance?: number[];
  text?: string;
  since?: string;
  until?: string;
};

const names = ["channel", "importance", "q", "since", "until"] as const;

/** Reads a filter out of an address. What cannot be read is left out. */
export function readFilter(params: URLSearchParams): Filter {
  return {
    channels: params.getAll("channel").filter((c) => c !== ""),
    importance: [...new Set(params.getAll("importance").map(Number))].filter((n) => n === 0 || n === 1 || n === 2),
    text: (params.get("q") ?? "").trim(),
    since: readTime(params.get("since")),
    until: readTime(params.get("until")),
  };
}

/** Writes a filter into an address; the place in the list is another one with another filter. */
export function withFilter(params: URLSearchParams, f: Filter): URLSearchParams {
  const next = new URLSearchParams(params);
  for (const name of [...names, "at"]) next.delete(name);
  for (const c of f.channels) next.append("channel", c);
  for (const n of f.importance) next.append("importance", String(n));
  if (f.text) next.set("q", f.text);
  if (f.since) next.set("since", f.since);
  if (f.until) next.set("until", f.until);
  return next;
}

/** The part of an address that is the filter, as text: the same for the same filter. */
export const filterKey = (params: URLSearchParams): string =>
  withFilter(new URLSearchParams(), readFilter(params)).toString();

/** What the server is asked for; null if for everything. now: milliseconds since 1970, for what is so long ago. */
export function matchOf(f: Filter, now: number): Match | null {
  const match: Match = {
    ...(f.channels.length > 0 && { channels: f.channels }),
    ...(f.importance.length > 0 && { importance: f.importance }),
    ...(f.text !== "" && { text: f.text }),
    ...(f.since !== "" && { since: moment(f.since, now) }),
    ...(f.until !== "" && { until: moment(f.until, now) }),
  };
  return Object.keys(match).length > 0 ? match : null;
}

const units: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

function readTime(text: string | null): string {
  if (text === null) return "";
  return /^-\d{1,5}[mhd]$/.test(text) || !Number.isNaN(Date.parse(text)) ? text : "";
}

/** How long ago "-24h" says; null for a moment, and for nothing. unit: m, h or d. */
export function agoOf(text: string): { n: number; unit: string } | null {
  const [, n, unit] = /^-(\d+)([mhd])$/.exec(text) ?? [];
  return n && unit ? { n: Number(n), unit } : null;
}

function moment(text: string, now: number): string {
  const ago = agoOf(text);
  return new Date(ago ? now - ago.n * (units[ago.unit] ?? 0) : Date.parse(text)).toISOString();
}
