import { useMemo } from "react";
import { useAction } from "../../actions/useAction";
import { has } from "../../api/rights";
import { useSession } from "../../api/session";
import { fromBase64, toHex } from "../../chain/bytes";
import { checkShown } from "../../chain/erasure";
import { say } from "../../chain/words";
import { keyOf, valueText } from "../../ui/Breaks";
import { Button } from "../../ui/Button";
import { Copy, FullHash } from "../../ui/Hash";
import { Icon, type IconName } from "../../ui/icons";
import { type Id, T, t } from "../../words";
import type { Judge, LinkState } from "./link";
import { Section } from "./Panel";
import styles from "./Panel.module.css";
import type { WholeMessage } from "./query";
import { saidOf } from "./said";
import { useProof } from "./useProof";

const proofs: Record<LinkState["kind"], { icon: IconName; words: Id }> = {
  unchecked: { icon: "unchecked", words: "thread.proof.unchecked" },
  chained: { icon: "link", words: "thread.proof.chained" },
  unsigned: { icon: "warning", words: "thread.proof.unsigned" },
  proved: { icon: "check", words: "thread.proof.proved" },
  mismatch: { icon: "broken", words: "thread.proof.mismatch" },
};

/** How far a message can be proved, and what this browser makes of it. */
export function Integrity({ message: m, judge }: { message: WholeMessage; judge: Judge | null }) {
  const { identity } = useSession();
  const own = useMemo(() => checkShown(m, m.recorded.erasure), [m]);
  // The check of the conversation knows more: what was altered, and the link.
  const state = judge?.(m, own.findings) ?? null;
  const findings = state && state.findings.length > 0 ? state.findings : own.findings;
  const { kind, running, problem, check } = useProof(m, own.findings.length > 0, state?.kind ?? "unchecked");
  const provable = kind !== "proved" && own.findings.length === 0;
  useAction("message.verify", check, { enabled: provable && !running });
  const good = findings.length === 0;
  const said = saidOf(m, own);
  const proof = proofs[kind];
  const words = own.findings.length > 0 ? "thread.proof.own" : proof.words;
  return (
    <Section title={t("thread.integrity")}>
      <p className={styles.state}>
        <Icon name={said.icon} />
        <span>{said.words}</span>
      </p>
      <p className={good ? styles.good : styles.bad}>
        <Icon name={good ? "check" : "broken"} />
        {!good
          ? t("thread.recomputed.bad")
          : own.erased
            ? t("thread.recomputed.erased", { n: String(m.recorded.erasure?.sequence) })
            : t("thread.recomputed")}
      </p>
      {findings.map((f) => (
        <dl key={keyOf(f)} className={styles.finding}>
          <dt>{say(f.detail)}</dt>
          {f.was !== undefined && f.is !== undefined && (
            <>
              <dd dir="auto">
                <T id="thread.finding.was" values={{ value: valueText(f.was) }} />
              </dd>
              <dd dir="auto">
                <T id="thread.finding.is" values={{ value: valueText(f.is) }} />
              </dd>
            </>
          )}
          {f.computed && (
            <dd>
              <T id="thread.finding.computed" values={{ value: f.computed }} />
            </dd>
          )}
          {f.stated && (
            <dd>
              <T id="thread.finding.stated" values={{ value: f.stated }} />
            </dd>
          )}
        </dl>
      ))}
      <p
        className={kind === "proved" ? styles.good : kind === "mismatch" ? styles.bad : styles.state}
        aria-live="polite"
      >
        <Icon name={proof.icon} />
        {problem === "" ? t(words) : problem}
      </p>
      {provable && has(identity, "verify") && (
        <div>
          <Button icon="verified" disabled={running} action="message.verify">
            {t(running ? "thread.proof.running" : "thread.proof.check")}
          </Button>
        </div>
      )}
      <FullHash hash={m.hash} />
      <p className={styles.copies}>
        <Copy text={m.integrity.preimage} label={t("thread.copy.bytes")} />
        <Copy text={toHex(fromBase64(m.integrity.preimage))} label={t("thread.copy.hex")} />
        {m.integrity.contentPreimage && <Copy text={m.integrity.contentPreimage} label={t("thread.copy.content")} />}
        {m.integrity.proof && <Copy text={m.integrity.proof} label={t("thread.copy.proof")} />}
      </p>
    </Section>
  );
}
