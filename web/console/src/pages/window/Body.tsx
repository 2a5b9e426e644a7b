import type { ReactNode } from "react";
import type { WholeWindow } from "./query";
import styles from "./Window.module.css";

/**
 * What every part of the page is given: the window, whether the log may be read, how often something was done here, and
 * what to call once something was.
 */
export type PartProps = { window: WholeWindow; read: boolean; turn: number; onChanged: () => void };

/** A part of the page that scrolls as a whole. */
export function Body({ label, children }: { label: string; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it
    <section className={styles.body} tabIndex={0} aria-label={label}>
      {children}
    </section>
  );
}
