import { useMemo } from "react";
import { checkMessage } from "../../chain/check";
import { say } from "../../chain/words";
import { count } from "../../ui/format";
import { Copy, FullHash } from "../../ui/Hash";
import { Icon, type IconName } from "../../ui/icons";
import type { LinkState } from "./link";
import { Section } from "./Panel";
import styles from "./Panel.module.css";
import type { WholeMessage } from "./query";

const states: Record<WholeMessage["integrity"]["state"], { icon: IconName; words: string }> = {
  CHAINED: { icon: "link", words: "Chained: part of its session’s hash chain, not yet sealed" },
  SEALED: { icon: "sealed", words: "Sealed: the server says that a signed checkpoint covers it" },
  WITNESSED: { icon: "witnessed", words: "Witnessed: the server says that a witness cosigned a checkpoint of it" },
  ERASED: { icon: "erased", words: "Content erased, on the record" },
};

const proofs: Record<LinkState["kind"], { icon: IconName; words: string }> = {
  unchecked: { icon: "unchecked", words: "Its proof was not checked here yet: Verify does." },
  chained: { icon: "link", words: "No proof of it was found to hold here: it is only chained." },
  unsigned: { icon: "warning", words: "Its proof fits the checkpoint, whose signature this browser cannot check." },
  proved: { icon: "check", words: "Proved in this browser to be in the tree that the pinned key signed." },
  mismatch: { icon: "broken", words: "MISMATCH, found by the check of the conversation" },
};

/** How far a message can be proved, and what this browser makes of it. */
export function Integrity({ message: m, state }: { message: WholeMessage; state: LinkState | null }) {
  const { findings, erased } = useMemo(() => checkMessage(m), [m]);
  const good = findings.length === 0;
  const { icon, words } = states[m.integrity.state];
  const proof = proofs[state?.kind ?? "unchecked"];
  return (
    <Section title="Integrity">
      <p className={styles.state}>
        <Icon name={icon} />
        <span>
          {words}
          {m.integrity.leafIndex !== null && `; leaf ${count(m.integrity.leafIndex)} of the tree`}
        </span>
      </p>
      <p className={good ? styles.good : styles.bad}>
        <Icon name={good ? "check" : "broken"} />
        {good
          ? `Recomputed in this browser: hash and fields${erased ? "" : ", content"} and refs match. Its link is checked with the chain.`
          : "MISMATCH, computed in this browser"}
      </p>
      {findings.map((f) => (
        <dl key={f.kind + f.detail.id} className={styles.finding}>
          <dt>{say(f.detail)}</dt>
          {f.computed && <dd>computed {f.computed}</dd>}
          {f.stated && <dd>stated {f.stated}</dd>}
        </dl>
      ))}
      <p className={state?.kind === "proved" ? styles.good : state?.kind === "mismatch" ? styles.bad : styles.state}>
        <Icon name={proof.icon} />
        {proof.words}
      </p>
      <FullHash hash={m.hash} />
      <p className={styles.copies}>
        <Copy text={m.integrity.preimage} label="Copy the bytes that it covers (base64)" />
        {m.integrity.contentPreimage && <Copy text={m.integrity.contentPreimage} label="Copy the content’s bytes" />}
        {m.integrity.proof && <Copy text={m.integrity.proof} label="Copy the proof" />}
      </p>
    </Section>
  );
}
