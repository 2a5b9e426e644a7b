// Reads C2SP signed notes and the keys that check them: a text, an empty line, and signatures. docs/seal.md.

import { fromBase64, sha256, toBase64, toHex } from "../chain/bytes";
import { SaidError } from "../words/said";

/** Something of the seal that is not as it must be; said says what, for a person. */
export class SealError extends SaidError {}

/** The most that is read of a note, in bytes. */
export const maxNote = 64 * 1024;

const maxSignatures = 100;
const ed25519 = 1; // the algorithm of a log's own key
const keyBytes = 32;
const idBytes = 4;
const encoder = new TextEncoder();

/** A key that checks signatures: its name, its id as 8 hexadecimal digits, and the Ed25519 public key. */
export type VerifierKey = { name: string; id: string; key: Uint8Array };

/** A line of a note: who signed by which key, and what stands behind the key's id. Not checked. */
export type Signature = { name: string; id: string; bytes: Uint8Array };

/** A note that was read and not yet checked. text is what was signed, its last newline included. */
export type Note = { text: string; signatures: Signature[] };

/** Reads a verifier key, name+id+key. Throws SealError unless it is one of Ed25519 whose id fits. */
export function parseKey(text: string): VerifierKey {
  const match = /^([^+\s]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/.exec(text);
  const [, name = "", id = "", base64 = ""] = match ?? [];
  const key = match ? strictBase64(base64) : null;
  if (!key || key.length !== keyBytes + 1 || key[0] !== ed25519) throw new SealError({ id: "chain.key" });
  const named = new Uint8Array([...encoder.encode(`${name}\n`), ...key]);
  if (sha256(named).slice(0, 2 * idBytes) !== id) throw new SealError({ id: "chain.key.id" });
  return { name, id, key: key.subarray(1) };
}

/** Reads a signed note. Throws SealError unless every byte fits. */
export function parseNote(note: string): Note {
  if (encoder.encode(note).length > maxNote) throw new SealError({ id: "chain.note.long", values: { n: maxNote } });
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a note has none but newlines
  if (/[\0-\x09\x0b-\x1f\p{Cs}]/u.test(note)) {
    throw new SealError({ id: "chain.note.characters" });
  }
  const at = note.lastIndexOf("\n\n");
  if (at < 0 || !note.endsWith("\n") || at + 2 >= note.length) throw new SealError({ id: "chain.note.unsigned" });
  const lines = note.slice(at + 2, -1).split("\n");
  if (lines.length > maxSignatures) throw new SealError({ id: "chain.note.signatures", values: { n: maxSignatures } });
  return { text: note.slice(0, at + 1), signatures: lines.map(parseSignature) };
}

function parseSignature(line: string): Signature {
  const match = /^— ([^+\s]+) ([A-Za-z0-9+/=]+)$/.exec(line);
  const bytes = match?.[2] ? strictBase64(match[2]) : null;
  if (!match?.[1] || !bytes || bytes.length <= idBytes) throw new SealError({ id: "chain.note.signature" });
  return { name: match[1], id: toHex(bytes.subarray(0, idBytes)), bytes: bytes.subarray(idBytes) };
}

/** The bytes of base64 that is written the one way that it is; null for anything else. */
export function strictBase64(text: string): Uint8Array | null {
  try {
    const bytes = fromBase64(text);
    return toBase64(bytes) === text ? bytes : null;
  } catch {
    return null;
  }
}
