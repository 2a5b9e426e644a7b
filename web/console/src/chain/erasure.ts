// Whether it is on the record that a content was erased. Pure.
import { type ChainMessage, checkMessage, type Finding, type MessageCheck } from "./check";

/** The messages that a message says were erased, by hash: none unless it is an erasure, and what its own hash covers. */
export function erasedBy(m: ChainMessage, { findings, erased }: MessageCheck): string[] {
  if (m.eventType !== "ERASURE" || findings.length > 0 || erased) return [];
  return m.refs.filter((ref) => ref.type === "CONTEXT").map((ref) => ref.hash);
}

/**
 * Checks a message as it is shown. That its content is gone is wrong unless it is on the record: erasure is what the server
 * gives as the message that says so. Whether the chain holds that, the check of the chain tells.
 */
export function checkShown(m: ChainMessage, erasure: ChainMessage | null): MessageCheck {
  const checked = checkMessage(m);
  if (!checked.erased || (erasure && records(erasure, m))) return checked;
  const at = { session: m.session.hash, sequence: m.sequence, hash: m.hash };
  const detail = { id: erasure ? "chain.erased.other" : "chain.erased" } as const;
  return { ...checked, findings: [...checked.findings, { kind: "content", ...at, detail }] };
}

/** Whether a message is the erasure of another: a later one of its session that names it, and what its own hash covers. */
export function records(erasure: ChainMessage, m: ChainMessage): boolean {
  const later = erasure.session.hash === m.session.hash && erasure.sequence > m.sequence;
  return later && erasedBy(erasure, checkMessage(erasure)).includes(m.hash);
}

/** Whether a finding says of a content that is gone that no erasure of it is on the record. */
export const deniesErasure = ({ detail: { id } }: Finding): boolean =>
  id === "chain.erased" || id === "chain.erased.other";
