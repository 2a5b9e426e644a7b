import { useEffect } from "react";
import { useQuery } from "urql";
import { SealCondition } from "../seal/query";
import { Icon } from "../ui/icons";
import { t } from "../words";
import styles from "./SealBanner.module.css";

const pace = 10_000; // milliseconds between looks at the seal

/**
 * Says on every page that nothing is sealed, while that is so. A server that cannot say it is no reason for an alert
 * here: the page itself says that it does not answer.
 */
export function SealBanner() {
  const [{ data }, again] = useQuery({ query: SealCondition });
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") again();
    }, pace);
    return () => clearInterval(timer);
  }, [again]);
  const { condition, problem } = data?.seal ?? { condition: "SEALING" as const, problem: null };
  if (condition === "SEALING") return null;
  return (
    <div className={styles.banner} role="alert">
      <Icon name="broken" />
      <span>
        <b>{t(condition === "REFUSED" ? "app.seal.refused" : "app.seal.failing")}</b> {problem}
      </span>
      <a href="/seal">{t("app.place.seal")}</a>
    </div>
  );
}
