import { type ReactNode, useEffect, useRef } from "react";
import { IconButton } from "./Button";
import styles from "./Side.module.css";

type Props = {
  title: string;
  /** What closes it, in words. */
  close: string;
  onClose: () => void;
  /** Beside the title. */
  note?: ReactNode;
  /** Takes the focus when it opens: a form, not what is read beside the list. */
  focus?: boolean;
  children: ReactNode;
};

/** What is open beside a list: never modal; on a narrow screen in its place. */
export function Side({ title, close, onClose, note, focus = false, children }: Props) {
  const panel = useRef<HTMLElement>(null);
  useEffect(() => {
    if (focus) panel.current?.focus();
  }, [focus]);
  return (
    <aside ref={panel} className={styles.panel} tabIndex={-1} aria-label={title}>
      <header className={styles.head}>
        <h2>{title}</h2>
        {note}
        <IconButton icon="close" label={close} action="panel.close" onClick={onClose} />
      </header>
      {children}
    </aside>
  );
}
