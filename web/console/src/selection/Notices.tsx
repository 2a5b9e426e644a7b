import { Icon } from "../ui/icons";
import { t } from "../words";
import styles from "./Notices.module.css";

/** What there is to know of a selection, in the server's words. */
export function Notices({ notices }: { notices: readonly string[] }) {
  if (notices.length === 0) return null;
  return (
    <ul className={styles.notices} aria-label={t("selection.notices")}>
      {notices.map((notice) => (
        <li key={notice}>
          <Icon name="error" size={14} /> <span>{notice}</span>
        </li>
      ))}
    </ul>
  );
}
