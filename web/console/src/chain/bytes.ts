import { sha256 as digest } from "@noble/hashes/sha2.js";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";

// @noble/hashes and not crypto.subtle: browsers offer that only on https and localhost.

/** SHA-256 of data, as 64 lower-case hexadecimal digits. */
export function sha256(data: Uint8Array): string {
  return bytesToHex(digest(data));
}

/** SHA-256 of data, as 32 bytes. */
export function sha256Bytes(data: Uint8Array): Uint8Array {
  return digest(data);
}

// Where the browser has base64 of its own, it is ten times as fast.
const native = Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array };

/** The bytes that base64 text stands for. Throws on anything that is not base64. */
export function fromBase64(text: string): Uint8Array {
  if (native.fromBase64) return native.fromBase64(text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** Base64 of bytes, with padding. */
export function toBase64(bytes: Uint8Array & { toBase64?: () => string }): string {
  if (bytes.toBase64) return bytes.toBase64();
  return btoa(Array.from(bytes, (b) => String.fromCharCode(b)).join(""));
}

/** The bytes that hexadecimal digits stand for. Throws on anything else. */
export const fromHex = hexToBytes;

/** Lower-case hexadecimal digits of bytes. */
export const toHex = bytesToHex;

/** Whether two byte strings are the same. */
export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** Joins byte strings. */
export function concat(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((n, p) => n + p.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** A number as 4 bytes, big-endian. */
export function uint32(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value);
  return bytes;
}
