import { useState } from "react";
import { useAction } from "../../actions/useAction";
import { has } from "../../api/rights";
import { useSession } from "../../api/session";
import { useTitle } from "../../app/title";
import { Button } from "../../ui/Button";
import { PageHead } from "../../ui/PageHead";
import { ErrorScreen, Loading } from "../../ui/Screen";
import { Time } from "../../ui/Time";
import { Why } from "../../ui/Why";
import { T, t } from "../../words";
import { Embedding } from "./Embedding";
import styles from "./OverviewPage.module.css";
import { Pace } from "./Pace";
import { Problems } from "./Problems";
import { SealState } from "./SealState";
import { Totals } from "./Totals";
import { useOverview } from "./useOverview";

/** What there is, how it goes, and first of all what is wrong. */
export default function OverviewPage() {
  useTitle(t("overview.title"));
  const { identity } = useSession();
  const [paused, setPaused] = useState(false);
  const { overview, at, samples, error, again } = useOverview(paused);
  useAction("overview.pause", () => setPaused(!paused));
  return (
    <>
      <PageHead title={t("overview.title")} note={t(paused ? "overview.paused" : "overview.note")}>
        <Button action="overview.pause" aria-pressed={paused}>
          {t("overview.pause")}
        </Button>
      </PageHead>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it */}
      <section className={styles.page} tabIndex={0} aria-label={t("overview.title")}>
        {overview ? (
          <>
            {error && (
              <p className={styles.stale} role="alert">
                <T
                  id="overview.stale"
                  values={{ when: <Time at={new Date(at).toISOString()} />, why: <Why error={error} /> }}
                />
                <Button icon="retry" onClick={again}>
                  {t("ui.again")}
                </Button>
              </p>
            )}
            <Problems problems={overview.problems} />
            <Totals of={overview} />
            <Pace samples={samples} sealing={has(identity, "verify")} />
            {has(identity, "verify") && <SealState of={overview} />}
            {overview.embeddingModels && <Embedding models={overview.embeddingModels} />}
          </>
        ) : error ? (
          <ErrorScreen error={error} retry={again} />
        ) : (
          <Loading what={t("overview.what")} />
        )}
      </section>
    </>
  );
}
