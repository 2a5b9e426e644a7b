import { chooseSingleKeys, singleKeys, usePreference } from "../app/preferences";
import { t } from "../words";
import styles from "./SingleKeys.module.css";

/** The switch of single-letter keys. */
export function SingleKeys() {
  const single = usePreference(singleKeys);
  return (
    <label className={styles.single}>
      <input type="checkbox" checked={single} onChange={(e) => chooseSingleKeys(e.target.checked)} />
      <span>
        <b>{t("palette.help.single")}</b>
        <br />
        <span className={styles.note}>{t("palette.help.singleNote")}</span>
      </span>
    </label>
  );
}
