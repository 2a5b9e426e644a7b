import { precise } from "../ui/format";
import { Icon } from "../ui/icons";
import { ServerSaid } from "../ui/ServerSaid";
import { t } from "../words";
import styles from "./Notices.module.css";
import type { Notice, Asked as Request } from "./query";

type Props = { notices: readonly Notice[]; request: Pick<Request, "threshold" | "tokenBudget"> };

/** What there is to know of a selection: that and why it is empty, what the search had to do without. */
export function Notices({ notices, request }: Props) {
  if (notices.length === 0) return null;
  return (
    <ul className={styles.notices} aria-label={t("selection.notices")}>
      {notices.map((notice) => (
        <li key={notice.message}>
          <Icon name="error" size={14} /> <span>{wordsOf(notice, request)}</span>
        </li>
      ))}
    </ul>
  );
}

function wordsOf({ code, message, count, best }: Notice, { threshold, tokenBudget }: Props["request"]) {
  switch (code) {
    case "UNINDEXED":
      return t("selection.notice.UNINDEXED", { n: count ?? 0 });
    case "NOT_EMBEDDED":
      return t("selection.notice.NOT_EMBEDDED");
    case "LONG_QUERY":
      return t("selection.notice.LONG_QUERY");
    case "NOTHING_REACHES":
      return t("selection.notice.NOTHING_REACHES", { threshold: precise(threshold) });
    case "BEST_IS_BELOW":
      return t("selection.notice.BEST_IS_BELOW", { threshold: precise(threshold), best: precise(best ?? 0) });
    case "NOTHING_FITS":
      return t("selection.notice.NOTHING_FITS", { threshold: precise(threshold), budget: tokenBudget ?? 0 });
    case "WORDS_ALONE":
      return (
        <>
          {t("selection.notice.WORDS_ALONE")} <ServerSaid words={message} />
        </>
      );
    case "OTHER":
      return <ServerSaid words={message} />;
  }
}
