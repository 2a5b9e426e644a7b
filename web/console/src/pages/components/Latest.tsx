import { useQuery } from "urql";
import { nameOf, short } from "../../ui/format";
import { ErrorScreen, Loading } from "../../ui/Screen";
import { Table } from "../../ui/table/Table";
import { Take } from "../../ui/take/Take";
import { t } from "../../words";
import { citedColumns } from "../references/CitedBy";
import { scopes, type Type } from "./kinds";
import { type Filter, LatestQuery } from "./query";
import styles from "./Usage.module.css";

/** The latest messages that name a component. */
export function Latest({ hash, type }: { hash: string; type: Type }) {
  const filter: Filter = { [scopes[type].filter]: [hash] };
  const [{ data, error }, again] = useQuery({ query: LatestQuery, variables: { filter } });
  const rows = data?.messages.edges.map((e) => e.node).reverse();
  const columns = citedColumns();
  return (
    <div className={styles.part}>
      <header className={styles.head}>
        <h2>{t("components.latest")}</h2>
        {rows && rows.length > 0 && (
          <Take
            name={t("components.latest")}
            file={`latest-${short(hash)}`}
            columns={columns}
            rows={rows}
            request={{ query: LatestQuery, variables: { filter } }}
          />
        )}
      </header>
      {rows ? (
        rows.length > 0 ? (
          <Table
            id="latest"
            name={t("components.latest")}
            columns={columns}
            rows={rows}
            keyOf={(m) => `${m.hash} ${nameOf(m.owner)}`}
          />
        ) : (
          <p className={styles.none}>{t("components.use.none")}</p>
        )
      ) : error ? (
        <ErrorScreen error={error} retry={() => again()} />
      ) : (
        <Loading what={t("ui.list.messages")} />
      )}
    </div>
  );
}
