// Ed25519 by a library, for browsers that have none: a file of its own, loaded only there.
import { ed25519 } from "@noble/curves/ed25519.js";

/** Whether an Ed25519 signature on a message holds, by the rules of RFC 8032. False as well if any of it cannot be read. */
export function holds(key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  try {
    return ed25519.verify(signature, message, key, { zip215: false });
  } catch {
    return false; // not of the length that it must have
  }
}
