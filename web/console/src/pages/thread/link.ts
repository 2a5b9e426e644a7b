import type { Finding } from "../../chain/check";
import type { ServerBreak } from "../../chain/server";
import type { Verification } from "../../chain/verify";

/** How far a message is proved, as the API names it. */
export type State = "CHAINED" | "SEALED" | "WITNESSED" | "ERASED";

/**
 * What is known of one message's place in the log.
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

type Row = {
  hash: string;
  sequence: number;
  session: { hash: string };
  content: string | null;
  integrity: { state: State };
};

/** Looks up what a check found of a message. */
export function linkState({ browser, server: said }: Verification, m: Row): LinkState {
  const session = browser.sessions.get(m.session.hash);
  const reached = session !== undefined && m.sequence <= session.upTo;
  const row = reached ? undefined : browser.rows.get(m.hash);
  const findings = row?.findings ?? (session?.findings ?? []).filter((f) => f.hash === m.hash && f.kind !== "tail");
  const server = said.breaks.filter(
    (b) => b.session === m.session.hash && (b.messageHash === m.hash || (!b.messageHash && b.sequence === m.sequence)),
  );
  const known = { findings, server };
  if (findings.length > 0 || server.length > 0) return { kind: "mismatch", state: m.integrity.state, ...known };
  const { checkpoint } = browser.standing ?? {};
  const erased = m.content === null;
  if (!reached) {
    if (!row || !(row.proved || row.linked)) return { kind: "unchecked", state: m.integrity.state, ...known };
    const sealed = row.proved && m.integrity.state !== "WITNESSED" ? "SEALED" : m.integrity.state;
    const kind = !row.proved ? "chained" : checkpoint?.signature === "valid" ? "proved" : "unsigned";
    return { kind, state: erased ? "ERASED" : row.proved ? sealed : "CHAINED", ...known };
  }
  if (!checkpoint || session.unproved.some((u) => u.hash === m.hash)) {
    return { kind: "chained", state: erased ? "ERASED" : "CHAINED", ...known };
  }
  const state = erased ? "ERASED" : m.sequence <= session.witnessedUpTo ? "WITNESSED" : "SEALED";
  return { kind: checkpoint.signature === "valid" ? "proved" : "unsigned", state, ...known };
}
