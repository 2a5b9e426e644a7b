/** A field of a payload that is a plain value. */
export type Plain = { name: string; value: string };

/** What a payload holds: its plain values, those of an error first, and whether there is more than these. */
export function payloadOf(payload: unknown): { plain: Plain[]; more: boolean } {
  if (payload === null || typeof payload !== "object") return { plain: [], more: payload !== null };
  if (Array.isArray(payload)) return { plain: [], more: payload.length > 0 };
  const fields = Object.entries(payload);
  const plain = fields
    .filter(([, value]) => value === null || typeof value !== "object")
    .map(([name, value]) => ({ name, value: String(value) }));
  const ofErrors = (name: string) => Number(!name.startsWith("error"));
  plain.sort((a, b) => ofErrors(a.name) - ofErrors(b.name)); // stable: the others stay in order
  return { plain, more: plain.length < fields.length };
}

/** A number of a field in the address, within bounds; the usual one if there is none. */
export function numberOf(text: string | null, usual: number, least: number, most: number): number {
  const n = text === null || text.trim() === "" ? Number.NaN : Number(text);
  return Number.isInteger(n) && n >= least && n <= most ? n : usual;
}
