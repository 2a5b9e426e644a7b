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

/**
 * What is known of a message's proof: by the check of the conversation, or by one of this message alone. wrong: what is shown
 * is not what its hash covers, so that no proof of the hash is one of it.
 */
export function useProof(m: WholeMessage, wrong: boolean, before: Kind) {
  const client = useClient();
  const [found, setFound] = useState<{ of: WholeMessage; kind: Kind; problem: string } | null>(null);
  const [running, setRunning] = useState(false);
  const check = () => {
    setRunning(true);
    const now = () => new Date().toISOString();
    Anchor.begin(sourceOf(client), localStorage, now)
      .then((anchor) => proofOf(m, anchor))
      .catch((error: unknown) => ({ kind: before, problem: words(error) }))
      .then((proof) => setFound({ of: m, ...proof }))
      .finally(() => setRunning(false));
  };
  const { kind, problem } = found?.of === m ? found : { kind: before, problem: "" };
  // What the conversation's check found wrong stays so, whatever a proof says.
  const bad = wrong || before === "mismatch";
  return { kind: bad ? "mismatch" : kind, problem: wrong ? "" : problem, running, check };
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
