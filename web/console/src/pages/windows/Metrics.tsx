import { useMemo } from "react";
import { useQuery } from "urql";
import { isAdmin } from "../../api/rights";
import { useSession } from "../../api/session";
import { Choice } from "../../ui/Choice";
import { count, part, percent } from "../../ui/format";
import { ErrorScreen, Loading } from "../../ui/Screen";
import { t } from "../../words";
import { periods, sinceOf } from "./period";
import { type Metrics as Figures, MetricsQuery } from "./query";
import styles from "./Windows.module.css";

const milliseconds = (n: number): string => t("windows.ms", { n });

// The figures in the order that they are read, each as it is written.
const figures = [
  ["contextWindowUsageAvg", percent],
  ["contextWindowUsageP95", percent],
  ["compressionTriggeredCount", count],
  ["compressionRatioAvg", part],
  ["compressionLatencyP95", milliseconds],
  ["windowCriticalExceeded", count],
  ["poisoningAttemptsBlocked", count],
  ["clashesResolved", count],
  ["distractionMitigations", count],
  ["confusionMitigations", count],
  ["contextQualityScoreAvg", part],
  ["relevanceScoreAvg", part],
  ["accuracyScoreAvg", part],
  ["scratchpadWrites", count],
  ["scratchpadReads", count],
  ["ragOverToolsCalls", count],
] as const satisfies readonly [keyof Figures, (n: number) => string][];

type Props = {
  params: URLSearchParams;
  set: (change: Record<string, string | null>, how?: { replace?: boolean }) => void;
};

/** How windows do, over a day, a week or ever. Closed until the address says for how long. */
export function Metrics({ params, set }: Props) {
  const asked = params.get("figures");
  const period = periods.find((p) => p === asked);
  return (
    <details
      className={styles.metrics}
      open={period !== undefined}
      onToggle={(e) => {
        const open = e.currentTarget.open;
        if (open !== (period !== undefined)) set({ figures: open ? "day" : null }, { replace: true });
      }}
    >
      <summary>{t("windows.metrics")}</summary>
      {period && (
        <>
          <Choice
            label={t("windows.metrics.since")}
            value={period}
            options={periods.map((value) => ({ value, word: t(`windows.metrics.${value}`) }))}
            onChoose={(value) => set({ figures: value }, { replace: true })}
          />
          <Since key={period} period={period} />
        </>
      )}
    </details>
  );
}

function Since({ period }: { period: (typeof periods)[number] }) {
  const { identity } = useSession();
  const since = useMemo(() => sinceOf(period, Date.now()), [period]);
  const [{ data, error }, again] = useQuery({ query: MetricsQuery, variables: { since } });
  if (error) return <ErrorScreen error={error} retry={() => again()} />;
  if (!data) return <Loading what={t("windows.metrics")} />;
  const found = data.contextMetrics;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it
    <section className={styles.figures} tabIndex={0} aria-label={t("windows.metrics")}>
      <dl>
        {figures.map(([name, write]) => (
          <div key={name}>
            <dt>{t(`windows.metric.${name}`)}</dt>
            <dd>{write(found[name])}</dd>
          </div>
        ))}
      </dl>
      <p className={styles.scope}>{t(isAdmin(identity) ? "windows.metrics.all" : "windows.metrics.own")}</p>
    </section>
  );
}
