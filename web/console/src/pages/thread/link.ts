import type { Finding } from "../../chain/check";
import { deniesErasure } from "../../chain/erasure";
import { within } from "../../chain/numbers";
import type { RowCheck } from "../../chain/rows";
import type { ServerBreak } from "../../chain/server";
import type { Verification } from "../../chain/verify";
import type { Gone } from "../../ui/Erased";

/** How far a message is proved, as the API names it. */
export type State = "CHAINED" | "SEALED" | "WITNESSED" | "ERASED";

/**
 * What is known of one message's place in the log, and of what is shown of it.
 *
 * - unchecked: nothing; state is the server's word;
 * - chained: its hash and its link were recomputed here, and no more;
 * - unsigned: its proof fits a checkpoint whose signature this browser cannot check;
 * - proved: it is in the tree that the pinned key signed;
 * - mismatch: something is wrong, as findings or the server's breaks say.
 */
export type LinkState = {
  kind: "unchecked" | "chained" | "unsigned" | "proved" | "mismatch";
  state: State;
  findings: Finding[];
  server: ServerBreak[];
};

/** Tells of a message of which all is shown, and of what was found of it by itself, what the checks know of it. */
export type Judge = (m: Row, own: Finding[]) => LinkState;

type Row = {
  hash: string;
  sequence: number;
  session: { hash: string };
  content: string | null;
  integrity: { state: State };
};

/**
 * What is known of a message that is shown. The check of the chain tells of hashes alone, so it takes both: that its very
 * hash is the one that was checked, and `shown`, that what is shown is what this hash covers; undefined: nobody looked.
 */
export function linkState({ browser, server: said }: Verification, m: Row, shown: RowCheck | undefined): LinkState {
  const session = browser.sessions.get(m.session.hash);
  const checked = browser.hashes.get(m.session.hash)?.at(m.sequence) ?? null;
  const told = (session?.findings ?? []).filter((f) => f.hash === m.hash && f.kind !== "tail");
  const own = checked === null || checked === m.hash ? [] : [another(m, checked)];
  const findings = told.length > 0 ? told : [...own, ...(shown?.findings ?? [])];
  const server = said.breaks.filter(
    (b) => b.session === m.session.hash && (b.messageHash === m.hash || (!b.messageHash && b.sequence === m.sequence)),
  );
  const known = { findings, server };
  const { state } = m.integrity;
  const more = session !== undefined && within(session.unlisted, m.sequence); // wrong, and only counted
  if (findings.length > 0 || server.length > 0 || more) return { kind: "mismatch", state, ...known };
  const walked = session !== undefined && checked !== null;
  const linked = walked || shown?.linked === true;
  // Told as the server does until the erasure itself was seen, there, or here beside the row.
  const unrecorded = m.content === null && walked && within(session.gone, m.sequence);
  const { checkpoint } = browser.standing ?? {};
  const inTree = walked ? !within(session.unproved, m.sequence) : shown?.proved === true;
  const proved = inTree && checkpoint ? checkpoint.signature : null;
  if (!shown || unrecorded || !(linked || proved)) return { kind: "unchecked", state, ...known };
  const erased = m.content === null;
  if (!proved) return { kind: "chained", state: erased ? "ERASED" : "CHAINED", ...known };
  const witnessed = walked ? m.sequence <= session.witnessedUpTo : state === "WITNESSED";
  const sealed = witnessed ? "WITNESSED" : "SEALED";
  return { kind: proved === "valid" ? "proved" : "unsigned", state: erased ? "ERASED" : sealed, ...known };
}

/** What is known of a content that is gone. by: the message that erased it, if the server names one. */
export function goneOf({ kind, findings }: LinkState, by: string | undefined): Gone {
  if (kind !== "unchecked" && kind !== "mismatch") return "erased";
  return by === undefined || findings.some(deniesErasure) ? "unrecorded" : "claimed";
}

/** Whether two say the same, so that what shows the one shows the other. */
export const sameState = (a: LinkState, b: LinkState): boolean =>
  a.kind === b.kind && a.state === b.state && sameItems(a.findings, b.findings) && sameItems(a.server, b.server);

const sameItems = <T>(a: readonly T[], b: readonly T[]): boolean =>
  a.length === b.length && a.every((item, i) => item === b[i]);

// What is shown is another message than the one that was checked under its number.
function another(m: Row, checked: string): Finding {
  const at = { session: m.session.hash, sequence: m.sequence, hash: m.hash };
  return { kind: "hash", ...at, detail: { id: "chain.another" }, computed: checked, stated: m.hash };
}
