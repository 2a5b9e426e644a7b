/** The times that a list can be narrowed to; "dates" has its own two, and no other is kept in the address as a moment. */
export const whens = ["always", "day", "week", "month", "dates"] as const;

export type When = (typeof whens)[number];

const days = { day: 1, week: 7, month: 30 } as const;

/** What the address says of the time; what it does not know is always. */
export const whenOf = (params: URLSearchParams): When => whens.find((w) => w === params.get("when")) ?? "always";

/** From when, and until before when, as RFC 3339; now in milliseconds since 1970. Days are those of UTC. */
export function rangeOf(params: URLSearchParams, now: number): { since: string | null; until: string | null } {
  const when = whenOf(params);
  if (when === "always") return { since: null, until: null };
  if (when !== "dates") return { since: new Date(now - days[when] * 86_400_000).toISOString(), until: null };
  const at = (name: string) => {
    const day = params.get(name) ?? "";
    return /^\d{4}-\d\d-\d\d$/.test(day) ? `${day}T00:00:00Z` : null;
  };
  return { since: at("since"), until: at("until") };
}
