// Ed25519 by WebCrypto, where the browser has it: on https and localhost, and not in every browser.

/** What was found of a signature. unchecked: this browser cannot check it, which says nothing of the signature. */
export type SignatureState = "valid" | "invalid" | "unchecked";

/** Checks an Ed25519 signature on a message. crypto is given for browsers without it. */
export async function checkSignature(
  key: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
  crypto: Crypto | undefined = globalThis.crypto,
): Promise<SignatureState> {
  const subtle: SubtleCrypto | undefined = crypto?.subtle; // absent on plain http, whatever its type says
  if (!subtle) return "unchecked";
  let imported: CryptoKey;
  try {
    imported = await subtle.importKey("raw", new Uint8Array(key), "Ed25519", false, ["verify"]);
  } catch (error) {
    if (error instanceof Error && error.name === "NotSupportedError") return "unchecked";
    return "invalid"; // bytes that are no public key
  }
  const good = await subtle.verify("Ed25519", imported, new Uint8Array(signature), new Uint8Array(message));
  return good ? "valid" : "invalid";
}
