// Whether a selection is the one that its receipt commits to, as docs/selection.md describes it: found out here, not asked.
import { concat, fromBase64, sha256 } from "../chain/bytes";
import type { Selection } from "./query";
import { inPolicy } from "./weights";

/** What of a selection the check needs. */
export type Claim = Pick<
  Selection,
  | "receipt"
  | "preimage"
  | "renderedSalt"
  | "rendered"
  | "tokens"
  | "unchangedTokens"
  | "logSize"
  | "embeddingModel"
  | "denseModel"
  | "notices"
  | "items"
  | "dropped"
  | "request"
  | "policy"
>;

/**
 * What was found. holds: the bytes' SHA-256 is the receipt, and they say what is shown. gone: the bytes hold a text that
 * was erased, so that they can no longer be given. mismatch: their SHA-256 is another. differs: they say something else.
 */
export type ReceiptState = "holds" | "gone" | "mismatch" | "differs";

/** What was found of the block. gone: a text in it was erased, and the salt with it. */
export type BlockState = "holds" | "gone" | "mismatch";

export type ReceiptCheck = {
  state: ReceiptState;
  block: BlockState;
  /** SHA-256 of the bytes; null if there are none. */
  computed: string | null;
  /** The receipt's version; null if the bytes name none. */
  version: number | null;
  /** How many fields were held against the bytes. */
  compared: number;
  /** The fields that differ. */
  differs: string[];
};

type Json = Record<string, unknown>;

/** Checks a selection against its receipt. */
export function checkReceipt(s: Claim): ReceiptCheck {
  const nothing = { compared: 0, differs: [], version: null };
  if (s.preimage === null) return { state: "gone", block: "gone", computed: null, ...nothing };
  const bytes = fromBase64(s.preimage);
  const computed = sha256(bytes);
  const text = new TextDecoder().decode(bytes);
  const version = Number(/^context-manager\/selection\/v(\d+)\n/.exec(text)?.[1] ?? Number.NaN);
  let said: Json;
  try {
    said = JSON.parse(text.slice(text.indexOf("\n") + 1)) as Json;
  } catch {
    return { state: "mismatch", block: "mismatch", computed, ...nothing };
  }
  const pairs = pairsOf(s, said, version);
  const absent = (shown: unknown, held: unknown) => version < 3 && held === undefined && `${shown}` === ""; // an empty list
  const differs = pairs.filter(([, a, b]) => !same(a, b) && !absent(a, b)).map(([path]) => path);
  const state = computed !== s.receipt ? "mismatch" : differs.length > 0 || Number.isNaN(version) ? "differs" : "holds";
  const known = Number.isNaN(version) ? null : version;
  return { state, block: blockOf(s, said), computed, version: known, compared: pairs.length, differs };
}

function blockOf(s: Claim, said: Json): BlockState {
  if ("rendered" in said) return said.rendered === s.rendered ? "holds" : "mismatch"; // version 1 covers the text itself
  if (s.renderedSalt === null) return "gone";
  const digest = sha256(concat([fromBase64(s.renderedSalt), new TextEncoder().encode(s.rendered)]));
  return digest === said.renderedDigest ? "holds" : "mismatch";
}

type Pair = [path: string, shown: unknown, held: unknown];

// What is shown beside what the bytes say. What a version does not cover is not compared.
function pairsOf(s: Claim, said: Json, version: number): Pair[] {
  const pairs: Pair[] = [
    ["model", s.embeddingModel, said.model],
    ["logSize", s.logSize, said.logSize],
    ["tokens", s.tokens, said.tokens],
    ...requestPairs(s.request, (said.request ?? {}) as Json),
    ...policyPairs(s.policy, (said.policy ?? {}) as Json),
    ...listPairs("items", s.items.map(itemOf), said.items),
    ...listPairs("dropped", s.dropped.map(droppedOf), said.dropped),
  ];
  if (version >= 3) {
    pairs.push(
      ["denseModel", s.denseModel, said.denseModel],
      ["unchangedTokens", s.unchangedTokens, said.unchangedTokens],
      ["notices", s.notices, said.notices],
    );
  }
  return pairs;
}

const plain = ["query", "player", "limit", "threshold", "tokenBudget", "previous"] as const;
const lists = ["sessions", "threads", "players", "owners", "hashtags", "flags", "items", "locations"] as const;

function requestPairs(r: Claim["request"], held: Json): Pair[] {
  const where = (held.scope ?? {}) as Json;
  const small = (all: readonly string[] | null) => all?.map((t) => t.toLowerCase()) ?? null;
  return [
    ...plain.map((name): Pair => [`request.${name}`, r[name], held[name]]),
    ["request.at", instant(r.at), instant(held.at)],
    ...lists.map((name): Pair => [`request.scope.${name}`, r.scope[name], where[name]]),
    ["request.scope.types", small(r.scope.types), where.types],
    ["request.scope.eventTypes", small(r.scope.eventTypes), where.eventTypes],
    ["request.scope.since", instant(r.scope.since), instant(where.since)],
    ["request.scope.until", instant(r.scope.until), instant(where.until)],
  ];
}

// A constant that an older policy does not have is 0.
function policyPairs(p: Claim["policy"], held: Json): Pair[] {
  return [
    ["policy.version", p.version, held.version],
    ...p.weights.map(({ name, value }): Pair => {
      const { field, index } = inPolicy(name);
      const found = index === null ? held[field] : (held[field] as unknown[] | undefined)?.[index];
      return [`policy.${index === null ? field : `${field}[${index}]`}`, value, found ?? 0];
    }),
  ];
}

const itemOf = ({ position, hash, type, score, tokens, explanation }: Claim["items"][number]): Json => {
  const { relevance, lexical, semantic, neighbours, recency, preference } = explanation;
  const parts = { relevance, lexical, semantic, neighbours, recency, preference };
  return { position, hash, type: type.toLowerCase(), score, tokens, ...parts };
};

const droppedOf = ({ hash, score, tokens, reason }: Claim["dropped"][number]): Json => ({
  hash,
  score,
  tokens,
  reason: reason.toLowerCase(),
});

function listPairs(path: string, shown: readonly Json[], held: unknown): Pair[] {
  const entries = (Array.isArray(held) ? held : []) as Json[];
  const pairs: Pair[] = [[`${path}.length`, shown.length, entries.length]];
  shown.forEach((one, i) => {
    const other = entries[i] ?? {};
    const flat = { ...other, ...((other.explanation ?? {}) as Json) };
    for (const [name, value] of Object.entries(one)) pairs.push([`${path}[${i}].${name}`, value, flat[name]]);
  });
  return pairs;
}

// A moment to the microsecond, however its zeros and its zone are written.
function instant(at: unknown): string | null {
  if (typeof at !== "string") return null;
  const fraction = /\.(\d+)/.exec(at)?.[1] ?? "";
  return `${Math.floor(Date.parse(at) / 1000)}.${fraction.replace(/0+$/, "")}`;
}

// What is not there is null on one side and left out on the other.
const same = (shown: unknown, held: unknown): boolean => JSON.stringify(shown ?? null) === JSON.stringify(held ?? null);
