// Ed25519 by WebCrypto, where the browser has it: on https and localhost, and not in every browser. Elsewhere by a library.

/**
 * What was found of a signature. unchecked: this browser has no Ed25519, and the library did not come, which says nothing of
 * the signature.
 */
export type SignatureState = "valid" | "invalid" | "unchecked";

type Library = typeof import("./ed25519");

/** Checks an Ed25519 signature on a message. crypto and library are given for browsers without them. */
export async function checkSignature(
  key: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
  crypto: Crypto | undefined = globalThis.crypto,
  library: () => Promise<Library> = () => import("./ed25519"),
): Promise<SignatureState> {
  const subtle: SubtleCrypto | undefined = crypto?.subtle; // absent on plain http, whatever its type says
  const imported = subtle ? await publicKey(subtle, key) : "unsupported";
  if (imported === "invalid") return imported;
  if (imported !== "unsupported" && subtle) {
    const good = await subtle.verify("Ed25519", imported, new Uint8Array(signature), new Uint8Array(message));
    return good ? "valid" : "invalid";
  }
  let by: Library;
  try {
    by = await library();
  } catch {
    return "unchecked";
  }
  return by.holds(key, message, signature) ? "valid" : "invalid";
}

// invalid: bytes that are no public key. unsupported: this browser has no Ed25519.
async function publicKey(subtle: SubtleCrypto, key: Uint8Array): Promise<CryptoKey | "invalid" | "unsupported"> {
  try {
    return await subtle.importKey("raw", new Uint8Array(key), "Ed25519", false, ["verify"]);
  } catch (error) {
    return error instanceof Error && error.name === "NotSupportedError" ? "unsupported" : "invalid";
  }
}
