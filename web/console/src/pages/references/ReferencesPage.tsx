import { Suspense } from "react";
import { useQuery } from "urql";
import { Link } from "wouter";
import { useTitle } from "../../app/title";
import { Choice } from "../../ui/Choice";
import { nameOf } from "../../ui/format";
import { PageHead } from "../../ui/PageHead";
import { ErrorScreen, Loading, Screen } from "../../ui/Screen";
import { useAddress } from "../../ui/useAddress";
import { lazily, T, t } from "../../words";
import { CitedBy } from "./CitedBy";
import { AroundQuery, ReferencesQuery, type Referring } from "./query";
import styles from "./References.module.css";
import { SentWith } from "./SentWith";
import { useCited } from "./useCited";

const Drawn = lazily(() => import("./Drawn"));

/** What a message was sent with, and what was later sent with it: as tables, or as a graph that can be walked. */
export default function ReferencesPage({ hash }: { hash: string }) {
  useTitle(t("references.title"));
  const [{ data, error, fetching }, again] = useQuery({ query: ReferencesQuery, variables: { hash } });
  if (error) return <ErrorScreen error={error} retry={() => again()} />;
  if (data?.message) return <Of message={data.message} />;
  if (fetching) return <Loading what={t("references.what")} />;
  return (
    <Screen icon="search" title={t("references.none")}>
      {t("references.none.detail")}
    </Screen>
  );
}

const views = ["tables", "graph"] as const;

function Of({ message }: { message: Referring }) {
  const [params, set] = useAddress();
  const view = params.get("view") === "graph" ? "graph" : "tables";
  const cited = useCited(message.hash);
  const from = (
    <Link href={`/messages/${message.hash}`}>
      {t("references.message", { n: String(message.sequence), name: nameOf(message.owner) })}
    </Link>
  );
  return (
    <div className={styles.page}>
      <PageHead title={t("references.title")} note={<T id="references.of" values={{ message: from }} />}>
        <Choice
          label={t("references.view")}
          value={view}
          options={views.map((value) => ({ value, word: t(`references.view.${value}`) }))}
          onChoose={(v) => set({ view: v === "tables" ? null : v }, { replace: true })}
        />
      </PageHead>
      <div className={styles.body}>
        {view === "tables" ? (
          <>
            <SentWith message={message} />
            <CitedBy of={message.hash} pages={cited} />
          </>
        ) : (
          <Suspense fallback={<Loading what={t("references.graph")} />}>
            <WithGraph message={message} cited={cited} />
          </Suspense>
        )}
      </div>
    </div>
  );
}

// The graph begins once all is known that it stands on: it does not move under whoever reads it.
function WithGraph({ message, cited }: { message: Referring; cited: ReturnType<typeof useCited> }) {
  const [{ data, error, fetching }] = useQuery({ query: AroundQuery, variables: { hash: message.hash } });
  if (cited.error) return <ErrorScreen error={cited.error} retry={cited.reload} />;
  if (cited.loading || (fetching && !data)) return <Loading what={t("references.graph")} />;
  if (message.refs.length === 0 && cited.items.length === 0) {
    return (
      <Screen icon="empty" title={t("references.alone")}>
        {t("references.alone.detail")}
      </Screen>
    );
  }
  return (
    <Drawn
      message={message}
      cited={cited.items}
      citedCount={cited.totalCount ?? cited.items.length}
      around={data?.message ?? null}
      failed={error ?? null}
    />
  );
}
