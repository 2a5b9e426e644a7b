/** What somebody pasted that leads somewhere: a hash of anything, or an address of this console. */
export type Target = { kind: "hash"; hash: string } | { kind: "address"; to: string };

const whole = /^[0-9a-f]{64}$/i;
const subject = /^\/(threads|sessions|messages)\/[0-9a-f]{64}(?:[/?#]|$)/i;

/** What a text leads to; null if it is no whole hash and no link to something by its hash. origin: this console's. */
export function targetOf(text: string, origin: string): Target | null {
  const typed = text.trim();
  if (whole.test(typed)) return { kind: "hash", hash: typed.toLowerCase() };
  let url: URL;
  try {
    url = new URL(typed, typed.startsWith("/") ? origin : undefined);
  } catch {
    return null;
  }
  // A link to another server may name the same thing there; its address is followed here, never there.
  if (!/^https?:$/.test(url.protocol) || !subject.test(url.pathname)) return null;
  return { kind: "address", to: url.pathname + url.search };
}
