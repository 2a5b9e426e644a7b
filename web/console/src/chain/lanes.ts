// SHA-256 of four messages at a time (FIPS 180-4, 6.2): each of the four numbers of a WebAssembly vector belongs to another
// message, and every step is taken for all. The module is put together here, from the standard's formulas: there is
// nothing to compile beforehand, and nothing to fetch.

/**
 * Takes four digests. Of each message there are n whole blocks from p on, and then more, padding included, from tail on:
 * the first message's there, each next one's two blocks behind. The 32 bytes of each are written to d.
 */
export type FourDigests = (
  ...of: [
    ...[p0: number, p1: number, p2: number, p3: number],
    ...[n: number, tail: number, more: number],
    ...[d0: number, d1: number, d2: number, d3: number],
  ]
) => void;

/** Where its memory is free. */
export const free = 320;

// Of the roots of primes (4.2.2, 5.3.3), which stand in the memory.
const primes = Array.from({ length: 310 }, (_, i) => i + 2).filter((n) => {
  for (let i = 2; i * i <= n; i++) if (n % i === 0) return false;
  return true;
});
const fraction = (x: number): number => Math.floor((x - Math.floor(x)) * 2 ** 32);
const constants = primes.map((p) => fraction(Math.cbrt(p)));
const initial = primes.slice(0, 8).map((p) => fraction(Math.sqrt(p)));
const initialAt = 4 * constants.length;

/** Compiles it for a memory of its own. Throws where that cannot be, or may not be. */
export function compiled(): { memory: WebAssembly.Memory; digests: FourDigests } {
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array(module())));
  const memory = exports.memory as WebAssembly.Memory;
  new Uint32Array(memory.buffer).set([...constants, ...initial]);
  return { memory, digests: exports.digests as FourDigests };
}

type Code = readonly number[];

const unsigned = (n: number): Code => (n < 128 ? [n] : [(n & 127) | 128, ...unsigned(n >>> 7)]);
const signed = (n: number): Code => (n >= -64 && n < 64 ? [n & 127] : [(n & 127) | 128, ...signed(n >> 7)]);
const sized = (code: Code): Code => [...unsigned(code.length), ...code];
const text = (words: string): Code => sized([...new TextEncoder().encode(words)]);

// Instructions. Those of a value leave it on the stack.
const vector = (code: number, ...rest: number[]): Code => [0xfd, ...unsigned(code), ...rest];
const get = (local: number): Code => [0x20, local];
const set = (local: number, value: Code): Code => [...value, 0x21, local];
const number = (n: number): Code => [0x41, ...signed(n)];
const plus = (a: Code, b: Code): Code => [...a, ...b, 0x6a];
const ifZero = (a: Code, body: Code): Code => [...a, 0x45, 0x04, 0x40, ...body, 0x0b];
const untilZero = (body: Code, a: Code): Code => [0x03, 0x40, ...body, ...a, 0x0d, 0, 0x0b];
const load = (from: Code, offset: number): Code => [...from, ...vector(0x00, 0, ...unsigned(offset))];
const loadForAll = (from: Code, offset: number): Code => [...from, ...vector(0x09, 0, ...unsigned(offset))];
const store = (to: Code, offset: number, value: Code): Code => [...to, ...value, ...vector(0x0b, 0, offset)];
const shuffled = (a: Code, b: Code, bytes: Code): Code => [...a, ...b, ...vector(0x0d, ...bytes)];
const and = (a: Code, b: Code): Code => [...a, ...b, ...vector(0x4e)];
const xor = (a: Code, b: Code): Code => [...a, ...b, ...vector(0x51)];
const chosen = (mask: Code, a: Code, b: Code): Code => [...a, ...b, ...mask, ...vector(0x52)];
const left = (a: Code, n: number): Code => [...a, ...number(n), ...vector(0xab)];
const right = (a: Code, n: number): Code => [...a, ...number(n), ...vector(0xad)];
const sum = (first: Code, ...rest: Code[]): Code => [...first, ...rest.flatMap((a) => [...a, ...vector(0xae)])];

// Locals: the eleven arguments, the round, and the vectors, of which there are so many each.
const [blocks, tail, more, to, round] = [4, 5, 6, 7, 11];
const [w, s, before, other, x] = [12, 28, 36, 44, 46]; // 16, 8, 8, 2, 4
const ends = 50;

// Rows of four vectors, which become columns.
function turned(v: number): Code {
  const bytes = (numbers: Code) => numbers.flatMap((i) => [0, 1, 2, 3].map((b) => 4 * i + b));
  const [low, high] = [bytes([0, 4, 1, 5]), bytes([2, 6, 3, 7])];
  return [
    ...set(x, shuffled(get(v), get(v + 2), low)),
    ...set(x + 1, shuffled(get(v), get(v + 2), high)),
    ...set(x + 2, shuffled(get(v + 1), get(v + 3), low)),
    ...set(x + 3, shuffled(get(v + 1), get(v + 3), high)),
    ...set(v, shuffled(get(x), get(x + 2), low)),
    ...set(v + 1, shuffled(get(x), get(x + 2), high)),
    ...set(v + 2, shuffled(get(x + 1), get(x + 3), low)),
    ...set(v + 3, shuffled(get(x + 1), get(x + 3), high)),
  ];
}

const lanes = [0, 1, 2, 3];
const numbers = Array.from({ length: 16 }, (_, i) => i);
const variables = numbers.slice(0, 8);

// A vector's numbers, big-endian where they are little-endian.
const swapped = (v: number): Code => {
  const order = numbers.map((b) => b ^ 3);
  return set(v, shuffled(get(v), get(v), order));
};

// The next block of each message, and where the one after it is.
const read: Code = [
  ...numbers.flatMap((i) => [...set(w + i, load(get(i & 3), 16 * (i >> 2))), ...swapped(w + i)]),
  ...[0, 4, 8, 12].flatMap((i) => turned(w + i)),
  ...lanes.flatMap((p) => set(p, plus(get(p), number(64)))),
];

const around = (a: Code, n: number): Code => xor(right(a, n), left(a, 32 - n));
const sigma = (a: Code, i: number, j: number, k: number): Code => xor(xor(around(a, i), around(a, j)), around(a, k));
const scheduling = (a: Code, i: number, j: number, k: number): Code =>
  xor(xor(around(a, i), around(a, j)), right(a, k));

// Sixteen rounds. The eight variables change their places instead of their values.
function rounds(scheduled: boolean): Code {
  return numbers.flatMap((i) => {
    const variable = (k: number) => s + ((k - i) & 7);
    const [a, b, d, h] = [variable(0), variable(1), variable(3), variable(7)];
    const [e, f, g] = [get(variable(4)), get(variable(5)), get(variable(6))];
    const word = (k: number) => get(w + ((i + k) & 15));
    const next = sum(word(0), scheduling(word(1), 7, 18, 3), word(9), scheduling(word(14), 17, 19, 10));
    const [ab, bc] = [other + (i & 1), other + ((i + 1) & 1)];
    return [
      ...(scheduled ? set(w + i, next) : []),
      ...set(h, sum(get(h), sum(word(0), loadForAll(get(round), 4 * i)), chosen(e, f, g), sigma(e, 6, 11, 25))),
      ...set(d, sum(get(d), get(h))),
      ...set(ab, xor(get(a), get(b))), // which is b ^ c in the next round
      ...set(h, sum(get(h), sigma(get(a), 2, 13, 22), xor(get(b), and(get(ab), get(bc))))),
    ];
  });
}

const digests: Code = [
  ...variables.flatMap((i) => set(s + i, loadForAll(number(0), initialAt + 4 * i))),
  ...untilZero(
    [
      ...ifZero(
        get(blocks),
        lanes.flatMap((p) => set(p, plus(get(tail), number(128 * p)))),
      ),
      ...read,
      ...variables.flatMap((i) => set(before + i, get(s + i))),
      ...set(other + 1, xor(get(s + 1), get(s + 2))),
      ...set(round, number(0)),
      ...rounds(false),
      ...untilZero([...set(round, plus(get(round), number(64))), ...rounds(true)], plus(get(round), number(-192))),
      ...variables.flatMap((i) => set(s + i, sum(get(s + i), get(before + i)))),
      ...set(blocks, plus(get(blocks), number(-1))),
    ],
    plus(get(blocks), get(more)),
  ),
  ...variables.flatMap((i) => swapped(s + i)),
  ...[...turned(s), ...turned(s + 4)],
  ...lanes.flatMap((i) => [...store(get(to + i), 0, get(s + i)), ...store(get(to + i), 16, get(s + 4 + i))]),
  0x0b,
];

function module(): Code {
  const [i32, v128] = [0x7f, 0x7b];
  const section = (id: number, ...code: number[]): Code => [id, ...sized(code)];
  return [
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, 1, 0x60, round, ...Array.from({ length: round }, () => i32), 0),
    ...section(3, 1, 0),
    ...section(5, 1, 0, 1),
    ...section(7, 2, ...text("memory"), 2, 0, ...text("digests"), 0, 0),
    ...section(10, 1, ...sized([2, 1, i32, ends - w, v128, ...digests])),
  ];
}
