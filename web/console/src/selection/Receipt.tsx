import { useMemo } from "react";
import { Copy, FullHash } from "../ui/Hash";
import { Icon, type IconName } from "../ui/icons";
import { t } from "../words";
import type { Selection } from "./query";
import styles from "./Receipt.module.css";
import { type BlockState, checkReceipt, type ReceiptCheck, type ReceiptState } from "./receipt";

const look = {
  holds: { icon: "verified", tone: "good" },
  gone: { icon: "erased", tone: "plain" },
  mismatch: { icon: "broken", tone: "bad" },
  differs: { icon: "broken", tone: "bad" },
} satisfies Record<ReceiptState, { icon: IconName; tone: "good" | "plain" | "bad" }>;

/** The receipt, and whether it is one of what is shown: this browser computes that, whatever the server says. */
export function Receipt({ selection: s }: { selection: Selection }) {
  const check = useMemo(() => checkReceipt(s), [s]);
  return (
    <section className={styles.receipt} aria-label={t("selection.receipt")}>
      <h2>{t("selection.receipt")}</h2>
      <FullHash hash={s.receipt} what={t("selection.receipt.what")} />
      <State of={check} />
      {check.state === "holds" && <Block state={check.block} />}
      <p className={styles.note}>{t("selection.receipt.note")}</p>
      {s.preimage !== null && <Copy text={s.preimage} label={t("selection.receipt.copy")} />}
    </section>
  );
}

function State({ of: check }: { of: ReceiptCheck }) {
  const { icon, tone } = look[check.state];
  return (
    <div className={styles.state} data-tone={tone} role={tone === "bad" ? "alert" : undefined}>
      <Icon name={icon} />
      <div>
        <b>{t(`selection.receipt.${check.state}`)}</b>{" "}
        {check.state === "holds"
          ? t("selection.receipt.holds.detail", { n: check.compared })
          : t(`selection.receipt.${check.state}.detail`)}
        {check.state === "mismatch" && check.computed && (
          <dl className={styles.pair}>
            <dt>{t("selection.receipt.computed")}</dt>
            <dd>
              <code>{check.computed}</code>
            </dd>
          </dl>
        )}
        {check.differs.length > 0 && (
          <ul className={styles.fields} aria-label={t("selection.receipt.fields")}>
            {check.differs.slice(0, 20).map((path) => (
              <li key={path}>
                <code>{path}</code>
              </li>
            ))}
          </ul>
        )}
      </div>
    </div>
  );
}

function Block({ state }: { state: BlockState }) {
  const { icon, tone } = look[state];
  return (
    <div className={styles.state} data-tone={tone} role={tone === "bad" ? "alert" : undefined}>
      <Icon name={icon} />
      <div>
        <b>{t(`selection.block.${state}`)}</b> {t(`selection.block.${state}.detail`)}
      </div>
    </div>
  );
}
