import { parseNote, SealError, strictBase64, type VerifierKey } from "./note";
import { checkSignature } from "./signature";

/** The head of a tree: how many leaves it has, and its root in base64. */
export type Head = { size: number; root: string };

/** A checkpoint that was checked. signature: "unchecked" where this browser could not check it, and never a bad one. */
export type Checkpoint = Head & { note: string; signature: "valid" | "unchecked" };

const encoder = new TextEncoder();
const signatureBytes = 64;

/**
 * Reads a checkpoint and checks its signature. Throws SealError unless it is written the one way that it is, of the
 * log that the key names, and signed by that key. Signatures of others are not looked at.
 */
export async function openCheckpoint(note: string, key: VerifierKey, crypto?: Crypto): Promise<Checkpoint> {
  const { text, signatures } = parseNote(note);
  const [origin, size, root, end, ...more] = text.split("\n");
  if (more.length > 0 || end !== "") throw new SealError({ id: "chain.checkpoint.lines" });
  if (origin !== key.name)
    throw new SealError({ id: "chain.checkpoint.origin", values: { origin: origin ?? "", name: key.name } });
  if (!/^(0|[1-9]\d{0,15})$/.test(size ?? "") || !Number.isSafeInteger(Number(size))) {
    throw new SealError({ id: "chain.checkpoint.size" });
  }
  if (strictBase64(root ?? "")?.length !== 32) throw new SealError({ id: "chain.checkpoint.root" });
  const own = signatures.find((s) => s.name === key.name && s.id === key.id);
  if (!own || own.bytes.length !== signatureBytes) {
    throw new SealError({ id: "chain.checkpoint.unsigned" });
  }
  const signature = await checkSignature(key.key, encoder.encode(text), own.bytes, crypto);
  if (signature === "invalid") throw new SealError({ id: "chain.checkpoint.signature" });
  return { size: Number(size), root: root ?? "", note, signature };
}
