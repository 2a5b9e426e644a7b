import type { ReactNode } from "react";
import { count, part, short } from "../../ui/format";
import { Copy } from "../../ui/Hash";
import { PlayerName } from "../../ui/Things";
import { Time } from "../../ui/Time";
import { type Shown, Table } from "../../ui/table/Table";
import { Take } from "../../ui/take/Take";
import { t } from "../../words";
import { Gauge } from "../windows/Gauge";
import { Body, type PartProps } from "./Body";
import { itemColumns } from "./columns";
import styles from "./Holds.module.css";
import { Items } from "./Items";
import { groupsOf, itemsOf, type Part, partsOf } from "./parts";
import { WindowQuery } from "./query";
import { Share } from "./Share";
import { Shared } from "./Shared";

/** What a window holds now: how full it is, what fills it, every item in prompt order, and what it shares. */
export function Holds(props: PartProps) {
  const { window, read } = props;
  const groups = groupsOf(window.items);
  return (
    <Body label={t("windows.which.items")}>
      <Gauge {...window} large />
      <Facts {...props} />
      <Fills {...props} />
      <div className={styles.head}>
        <h2>{t("windows.items")}</h2>
        <Take
          name={t("windows.items")}
          file={`window-${short(window.id)}`}
          columns={itemColumns()}
          rows={[...itemsOf(window).values()]}
          request={{ query: WindowQuery, variables: { id: window.id, read } }}
        />
      </div>
      {groups.length === 0 && <p className={styles.none}>{t("windows.items.none")}</p>}
      {groups.map((g) => (
        <Items key={g.name} {...props} title={t(`windows.group.${g.name}`)} items={g.items} />
      ))}
      <Shared {...props} />
    </Body>
  );
}

function Facts({ window: w }: PartProps) {
  return (
    <dl className={styles.facts}>
      <Fact name={t("windows.task")}>
        {w.task ? (
          <span className={styles.task} dir="auto">
            {w.task}
          </span>
        ) : (
          t("windows.task.none")
        )}
      </Fact>
      <Fact name={t("windows.agent")}>{w.agent ? <PlayerName player={w.agent} link /> : t("windows.agent.none")}</Fact>
      <Fact name={t("table.head.created")}>
        <Time at={w.createdAt} />
      </Fact>
      <Fact name={t("windows.encoding")}>
        <code>{w.encoding}</code>
      </Fact>
      <Fact name={t("table.head.id")}>
        <code>{w.id}</code> <Copy text={w.id} label={t("ui.copy", { what: t("table.head.id") })} />
      </Fact>
    </dl>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

// What fills the window: a row for each type, with its share of the capacity.
function Fills({ window, read }: PartProps) {
  const parts = partsOf(window);
  if (parts.length === 0) return null;
  const columns: Shown<Part>[] = [
    { id: "type", head: t("windows.type"), value: (p) => p.of, cell: (p) => t(`windows.type.${p.of}`) },
    { id: "n", head: t("windows.pieces"), numeric: true, value: (p) => p.n, cell: (p) => count(p.n) },
    { id: "tokens", head: t("windows.tokens"), numeric: true, value: (p) => p.tokens, cell: (p) => count(p.tokens) },
    {
      id: "share",
      head: t("windows.ofCapacity"),
      value: (p) => p.tokens / window.capacity,
      cell: (p) => <Share tokens={p.tokens} capacity={window.capacity} />,
    },
    {
      id: "score",
      head: t("windows.quality"),
      numeric: true,
      value: (p) => p.score,
      cell: (p) => (p.score === null ? t("windows.quality.none") : part(p.score)),
    },
  ];
  return (
    <>
      <div className={styles.head}>
        <h2>{t("windows.fills")}</h2>
        <Take
          name={t("windows.fills")}
          file={`fills-${short(window.id)}`}
          columns={columns}
          rows={parts}
          request={{ query: WindowQuery, variables: { id: window.id, read } }}
        />
      </div>
      <Table id="fills" name={t("windows.fills")} columns={columns} rows={parts} keyOf={(p) => p.of} />
    </>
  );
}
