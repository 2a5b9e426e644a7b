import { Link } from "wouter";
import { isAdmin, lacks } from "../../api/rights";
import { useSession } from "../../api/session";
import { places } from "../../app/places";
import { count } from "../../ui/format";
import { t } from "../../words";
import styles from "./OverviewPage.module.css";
import type { Overview } from "./query";

const kinds = ["messages", "sessions", "threads", "players", "selections"] as const;

// Where one can read what was counted.
const leads: Partial<Record<(typeof kinds)[number], string>> = {
  messages: "/threads",
  threads: "/threads",
  players: "/components",
  selections: "/selections",
};

/** How much there is of each, as the server counts it for whoever asks. */
export function Totals({ of }: { of: Overview }) {
  const { identity } = useSession();
  const open = (to: string) => places.some((p) => p.to === to && lacks(identity, p) === "");
  return (
    <section className={styles.section} aria-labelledby="totals">
      <h2 id="totals">{t("overview.totals")}</h2>
      <dl className={styles.totals}>
        {kinds.map((kind) => {
          const to = leads[kind];
          const words = t(`overview.total.${kind}`);
          return (
            <div key={kind}>
              <dt>
                {to && open(to) ? <Link href={kind === "players" ? `${to}?kind=players` : to}>{words}</Link> : words}
              </dt>
              <dd>{count(of[kind])}</dd>
            </div>
          );
        })}
      </dl>
      <p className={styles.note}>
        {t(isAdmin(identity) ? "overview.all" : "overview.yours")} {of.atLeast && t("overview.atLeast")}
      </p>
    </section>
  );
}
