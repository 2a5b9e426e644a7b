import { useQuery } from "urql";
import { Link } from "wouter";
import { useTitle } from "../../app/title";
import { PageHead } from "../../ui/PageHead";
import { ErrorScreen, Loading, Screen } from "../../ui/Screen";
import { t } from "../../words";
import { CitedBy } from "./CitedBy";
import { RecordQuery, type WholeRecord } from "./query";
import styles from "./RecordsPage.module.css";
import { RecordText } from "./RecordText";
import { UsedBy } from "./UsedBy";

/** One record at an address of its own: what it holds, which selections held it, and what was sent with it. */
export default function RecordPage({ hash }: { hash: string }) {
  const [{ data, error, fetching }, again] = useQuery({ query: RecordQuery, variables: { hash } });
  useTitle(data?.record?.title ?? t("records.one"));
  if (error) return <ErrorScreen error={error} retry={() => again()} />;
  if (data?.record) return <Whole record={data.record} />;
  if (fetching) return <Loading what={t("records.loading")} />;
  return (
    <Screen icon="search" title={t("records.unknown")} action={<Link href="/records">{t("records.every")}</Link>}>
      {t("records.unknown.help")}
    </Screen>
  );
}

function Whole({ record }: { record: WholeRecord }) {
  return (
    <div className={styles.column}>
      <PageHead title={record.title} note={t("records.one")}>
        <Link href="/records">{t("records.every")}</Link>
      </PageHead>
      <div className={styles.whole}>
        <RecordText record={record} heading={false} />
        <UsedBy hash={record.hash} />
        <CitedBy hash={record.hash} />
      </div>
    </div>
  );
}
