import type { Item, Operation } from "./query";

/** What an operation was about, in order: what was rejected, or what entered and is still in the window. */
export function textsOf(
  op: Pick<Operation, "kind" | "content" | "entered">,
  items: ReadonlyMap<string, Item>,
): string[] {
  if (op.content !== null && op.kind !== "SELECT") return [op.content]; // of a selection, it is what was asked
  return op.entered.flatMap((id) => items.get(id)?.content ?? []);
}

/** What overruling an operation does: what enters, what comes back, whether that is shared, and whether a judge is believed still. */
export type Overruling = { enters: string | null; returns: readonly Item[]; shared: boolean; believed: boolean };

type Overrulable = Pick<Operation, "kind" | "content" | "rejected" | "superseded" | "overruled" | "judgements">;

/** What comes of overruling an operation; null if nothing would, or somebody has. */
export function overrulingOf(op: Overrulable): Overruling | null {
  if (op.overruled !== null) return null;
  const believed = !op.judgements.some((j) => j.relation === "CONTRADICTS" && !j.overruled);
  const shared = op.kind === "SHARE";
  const enters = (op.kind === "WRITE" || shared) && op.rejected !== null ? op.content : null;
  if (believed && enters === null && op.superseded.length === 0) return null;
  return { enters, returns: op.superseded, shared, believed };
}

/** What came of an operation, the worst first: what is said of it before all else. */
export type Outcome = "OVERRULED" | "REJECTED" | "EXCEEDED" | "SUPERSEDED" | "COMPRESSED" | "DONE";

/** What came of an operation. */
export function outcomeOf(
  op: Pick<Operation, "kind" | "overruled" | "rejected" | "superseded" | "compression">,
): Outcome {
  if (op.overruled !== null && op.kind !== "OVERRULE") return "OVERRULED";
  if (op.kind === "EXCEEDED") return "EXCEEDED";
  if (op.rejected !== null) return "REJECTED";
  if (op.superseded.length > 0) return "SUPERSEDED";
  return op.compression === null ? "DONE" : "COMPRESSED";
}
