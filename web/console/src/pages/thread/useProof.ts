import { useState } from "react";
import { useClient } from "urql";
import { words } from "../../api/errors";
import { checkMessage } from "../../chain/check";
import { say } from "../../chain/words";
import { Anchor } from "../../seal/anchor";
import { checkSeal } from "../../seal/check";
import { checkpointOf } from "../../seal/proof";
import { sourceOf } from "../../seal/query";
import { t } from "../../words";
import type { LinkState } from "./link";
import type { WholeMessage } from "./query";

type Kind = LinkState["kind"];

/** What is known of a message's proof: by the check of the conversation, or by one of this message alone. */
export function useProof(m: WholeMessage, before: Kind) {
  const client = useClient();
  const [found, setFound] = useState<{ kind: Kind; problem: string } | null>(null);
  const [running, setRunning] = useState(false);
  const check = () => {
    setRunning(true);
    const now = () => new Date().toISOString();
    Anchor.begin(sourceOf(client), localStorage, now)
      .then((anchor) => proofOf(m, anchor))
      .catch((error: unknown) => ({ kind: before, problem: words(error) }))
      .then(setFound)
      .finally(() => setRunning(false));
  };
  const { kind, problem } = found ?? { kind: before, problem: "" };
  return { kind, problem, running, check };
}

async function proofOf(m: WholeMessage, anchor: Anchor): Promise<{ kind: Kind; problem: string }> {
  const { hash, findings } = checkMessage(m);
  if (findings.length > 0) return { kind: "mismatch", problem: findings.map((f) => say(f.detail)).join(" ") };
  if (m.integrity.proof === null) return { kind: "chained", problem: "" };
  const note = checkpointOf(m.integrity.proof);
  const head = await anchor.cover(note);
  const wrong = anchor.standing.problem;
  if (wrong || "kind" in head)
    return { kind: "unchecked", problem: t("thread.proof.seal", { why: wrong ? say(wrong.detail) : "" }) };
  const seal = checkSeal(m, hash, new Map([[note, head]]));
  if (seal.state !== "proved") return { kind: "mismatch", problem: seal.findings.map((f) => say(f.detail)).join(" ") };
  return { kind: anchor.standing.checkpoint?.signature === "valid" ? "proved" : "unsigned", problem: "" };
}
