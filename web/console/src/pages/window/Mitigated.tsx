import { Link } from "wouter";
import { T, t } from "../../words";
import styles from "./Operation.module.css";
import type { Mitigation } from "./query";

/** The failures that were detected, what was done about each, and why. told: the reasons that stand above already. */
export function Mitigated({ of, told }: { of: readonly Mitigation[]; told: string | null }) {
  if (of.length === 0) return null;
  return (
    <ul className={styles.mitigations} aria-label={t("windows.mitigations")}>
      {of.map((m, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an operation does not change, and may detect the same twice
        <li key={i} data-failure={m.failure}>
          <b>{t(`windows.failure.${m.failure}`)}</b> <span>{t(`windows.action.${m.action}`)}</span>
          {m.items.length > 0 && <span>{t("windows.about", { n: m.items.length })}</span>}
          {!told?.includes(m.reason) && <q lang="en">{m.reason}</q>}
          {m.record && (
            <span>
              <T
                id="windows.record"
                values={{
                  record: (
                    <Link href={`/records?record=${m.record.hash}`}>
                      <bdi>{m.record.title}</bdi>
                    </Link>
                  ),
                }}
              />
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}
