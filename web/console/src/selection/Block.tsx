import { Copy } from "../ui/Hash";
import { t } from "../words";
import styles from "./Block.module.css";

/** The block for a prompt, to copy to the byte. */
export function Block({ rendered }: { rendered: string }) {
  return (
    <div className={styles.block}>
      <div className={styles.head}>
        <h2>{t("selection.rendered")}</h2>
        {rendered && <Copy text={rendered} label={t("selection.rendered.copy")} />}
      </div>
      {rendered ? <pre dir="auto">{rendered}</pre> : <p className={styles.none}>{t("selection.rendered.none")}</p>}
    </div>
  );
}
