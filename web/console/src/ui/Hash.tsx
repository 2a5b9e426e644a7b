import { useState } from "react";
import { t } from "../words";
import { short } from "./format";
import styles from "./Hash.module.css";
import { Icon } from "./icons";

/** The beginning of a hash; the whole of it on hover. */
export function ShortHash({ hash }: { hash: string }) {
  return (
    <code className={styles.short} title={hash}>
      {short(hash)}
    </code>
  );
}

/** A button that copies text, and says that it did. */
export function Copy({ text, label }: { text: string; label: string }) {
  const [state, setState] = useState<"ready" | "copied" | "failed">("ready");
  const copy = () => {
    copyText(text).then(
      () => setState("copied"),
      () => setState("failed"),
    );
  };
  const words = { ready: label, copied: t("ui.copied"), failed: t("ui.uncopied") }[state];
  return (
    <button type="button" className={styles.copy} onClick={copy} onBlur={() => setState("ready")}>
      <Icon name={state === "copied" ? "check" : "copy"} size={14} />
      <span aria-live="polite">{words}</span>
    </button>
  );
}

/** Copies text. navigator.clipboard exists on https and localhost only; the older way works everywhere else. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return await navigator.clipboard.writeText(text);
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (!done) throw new Error("refused");
}

/** A whole hash, with a button to copy it. */
export function FullHash({ hash, what = t("ui.hash") }: { hash: string; what?: string }) {
  return (
    <span className={styles.full}>
      <code>{hash}</code>
      <Copy text={hash} label={t("ui.copy", { what })} />
    </span>
  );
}
