import { type ReactNode, useEffect, useState } from "react";
import type { CombinedError } from "urql";
import { codeOf, describe } from "../api/errors";
import { t } from "../words";
import { Button } from "./Button";
import { Icon, type IconName } from "./icons";
import styles from "./Screen.module.css";

type Props = { icon: IconName; title: string; tone?: "bad"; children?: ReactNode; action?: ReactNode };

/** What stands where a page or a list would: nothing there, not found, failed. Each of these says which it is. */
export function Screen({ icon, title, tone, children, action }: Props) {
  return (
    <div className={styles.screen} role={tone === "bad" ? "alert" : undefined}>
      <span className={tone === "bad" ? styles.badIcon : styles.icon}>
        <Icon name={icon} size={28} />
      </span>
      <h2>{title}</h2>
      {children && <div className={styles.detail}>{children}</div>}
      {action}
    </div>
  );
}

/** A request failed: what the server said, and a way to try again. */
export function ErrorScreen({ error, retry }: { error: CombinedError; retry?: () => void }) {
  const { title, detail, code, lang } = describe(error);
  const action = retry && (
    <Button icon="retry" onClick={retry}>
      {t("ui.again")}
    </Button>
  );
  return (
    <Screen icon={codeOf(error) === "FORBIDDEN" ? "leave" : "error"} title={title} tone="bad" action={action}>
      <p lang={lang}>{detail}</p>
      <p>
        <code>{code}</code>
      </p>
    </Screen>
  );
}

/** Something is on its way. Shows nothing for a moment, so that quick answers don't flicker. */
export function Loading({ what }: { what: string }) {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 150);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div className={styles.screen} role="status" aria-busy="true">
      {late && (
        <>
          <span className={styles.spinner} />
          <p className={styles.detail}>{t("ui.loading", { what })}</p>
        </>
      )}
    </div>
  );
}
