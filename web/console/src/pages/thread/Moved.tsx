import type { ReactNode } from "react";
import { Button, IconButton } from "../../ui/Button";
import { ErrorScreen, Loading, Screen } from "../../ui/Screen";
import { T, t } from "../../words";
import styles from "./Panel.module.css";
import type { MessageRow } from "./query";
import type { Opened } from "./useOpened";

type Props = {
  opened: Opened;
  onClose: () => void;
  onOpen: (message: MessageRow, position: number) => void;
  children: ReactNode;
};

/** What stands beside the conversation in place of a message that is not there, or not yet; else the message. */
export function Moved({ opened, onClose, onOpen, children }: Props) {
  if (opened.kind === "open" || opened.kind === "none") return children;
  return (
    <aside className={styles.panel} aria-label={t("thread.message")} data-panel tabIndex={-1}>
      <header className={styles.head}>
        <h2>{t("thread.message")}</h2>
        <IconButton icon="close" label={t("thread.close")} action="panel.close" onClick={onClose} />
      </header>
      {opened.kind === "finding" && <Loading what={t("thread.theMessage")} />}
      {opened.kind === "failed" && <ErrorScreen error={opened.error} retry={opened.retry} />}
      {opened.kind === "moved" && <Mismatch {...opened} onOpen={onOpen} />}
    </aside>
  );
}

type MismatchProps = Extract<Opened, { kind: "moved" }> & Pick<Props, "onOpen">;

function Mismatch({ place, prefix, there, onOpen }: MismatchProps) {
  if (place < 0) {
    return (
      <Screen icon="search" title={t("thread.moved.unread")}>
        <T id="thread.moved.unread.detail" values={{ name: <code>{prefix}</code> }} />
      </Screen>
    );
  }
  const action = there && <Button onClick={() => onOpen(there, place)}>{t("thread.moved.open")}</Button>;
  return (
    <Screen icon="broken" tone="bad" title={t("thread.moved")} action={action}>
      <p>
        {there ? (
          <T
            id="thread.moved.other"
            values={{
              n: place + 1,
              prefix: <code>{prefix}</code>,
              found: <code title={there.hash}>{there.hash.slice(0, prefix.length)}</code>,
            }}
          />
        ) : (
          <T id="thread.moved.nothing" values={{ n: place + 1, prefix: <code>{prefix}</code> }} />
        )}
      </p>
      <p>{t("thread.moved.why")}</p>
    </Screen>
  );
}
