import { beforeAll, describe, expect, it } from "vitest";
import { checkSignature } from "./signature";

const message = new TextEncoder().encode("What was signed.\n");
let key = new Uint8Array();
let signature = new Uint8Array();

beforeAll(async () => {
  const pair = (await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"])) as CryptoKeyPair;
  key = new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey));
  signature = new Uint8Array(await crypto.subtle.sign("Ed25519", pair.privateKey, message));
});

const flipped = (bytes: Uint8Array, at: number) => bytes.map((b, i) => (i === at ? b ^ 1 : b));

// What a signature's second half is modulo: added to it, the equation holds as before, and the signature must not.
const order = 2n ** 252n + 27742317777372353535851937790883648493n;

function malleated(bytes: Uint8Array): Uint8Array {
  const half = [...bytes.slice(32)].reduceRight((n, b) => (n << 8n) + BigInt(b), 0n) + order;
  return new Uint8Array([
    ...bytes.slice(0, 32),
    ...Array.from({ length: 32 }, (_, i) => Number((half >> BigInt(8 * i)) & 255n)),
  ]);
}

const refusing = {
  subtle: { importKey: () => Promise.reject(new DOMException("no", "NotSupportedError")) },
} as unknown as Crypto;

describe.each([
  ["with Ed25519", globalThis.crypto],
  ["on plain http", {} as Crypto],
  ["that does not know Ed25519", refusing],
])("a browser %s", (_, crypto) => {
  const check = (k: Uint8Array, m: Uint8Array, s: Uint8Array) => checkSignature(k, m, s, crypto);

  it("finds a signature valid, and not if anything of it is another", async () => {
    expect(await check(key, message, signature)).toBe("valid");
    for (const at of [0, 31, 32, 62])
      expect(await check(key, message, flipped(signature, at)), `${at}`).toBe("invalid");
    expect(await check(key, flipped(message, 3), signature)).toBe("invalid");
    expect(await check(flipped(key, 0), message, signature)).toBe("invalid");
  });

  it("refuses what is written otherwise than it must be", async () => {
    expect(await check(key, message, malleated(signature))).toBe("invalid");
    expect(await check(key, message, signature.slice(1))).toBe("invalid");
    expect(await check(key.slice(1), message, signature)).toBe("invalid");
    expect(await check(new Uint8Array(32).fill(255), message, signature)).toBe("invalid");
  });
});

it("where no library comes either, a signature stays unchecked", async () => {
  const lost = () => Promise.reject(new Error("not found"));
  expect(await checkSignature(key, message, signature, {} as Crypto, lost)).toBe("unchecked");
  expect(await checkSignature(key, message, signature, refusing, lost)).toBe("unchecked");
  expect(await checkSignature(key, message, signature, globalThis.crypto, lost)).toBe("valid");
});
