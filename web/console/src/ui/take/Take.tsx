import { useRef } from "react";
import { useAction } from "../../actions/useAction";
import type { Request } from "../../api/curl";
import type { FetchPage } from "../../api/pages";
import { t } from "../../words";
import { Button } from "../Button";
import { Menu } from "../menu/Menu";
import type { Column } from "../table/cells";
import styles from "./Take.module.css";
import { type How, useTake } from "./useTake";

export type TakeProps<T> = {
  /** What the table is called: a page may hold several. */
  name: string;
  /** What the file is called, without its ending: "tokens". */
  file: string;
  columns: readonly Column<T>[];
  /** The rows, if all of them are loaded; else how to fetch them. */
  rows: readonly T[] | FetchPage<T>;
  /** What the page asked the server for them. */
  request?: Request;
};

const ways = ["copyCsv", "copyJson", "saveCsv", "saveJson"] as const satisfies readonly How[];

/** A menu that copies or downloads what a table holds, or copies the request that fetched it. */
export function Take<T>({ name, request, ...of }: TakeProps<T>) {
  const menu = useRef<HTMLDivElement>(null);
  const { state, take, copyRequest, cancel } = useTake(of);
  // The menu tells how far it is: it opens where it was not opened.
  const show = () => menu.current?.matches(":popover-open") || menu.current?.showPopover();
  const start = (how: How) => {
    show();
    take(how);
  };
  const startRequest = () => {
    show();
    if (request) copyRequest(request);
  };
  useAction("table.copyCsv", () => start("copyCsv"), { of: name });
  useAction("table.copyJson", () => start("copyJson"), { of: name });
  useAction("table.saveCsv", () => start("saveCsv"), { of: name });
  useAction("table.saveJson", () => start("saveJson"), { of: name });
  useAction("request.copy", startRequest, { enabled: request !== undefined, of: name });
  return (
    <Menu icon="copy" word={t("table.take")} box={menu}>
      {ways.map((how) => (
        <Button key={how} look="quiet" disabled={state.kind === "running"} onClick={() => start(how)}>
          {t(`actions.table.${how}`)}
        </Button>
      ))}
      {request && (
        <Button look="quiet" onClick={startRequest}>
          {t("actions.request.copy")}
        </Button>
      )}
      {state.kind === "running" && (
        <label className={styles.progress}>
          <progress max={state.of ?? undefined} value={state.of === null ? undefined : state.rows} />
          <Button onClick={cancel}>{t("ui.cancel")}</Button>
        </label>
      )}
      <p role="status" className={state.kind === "failed" ? styles.failed : styles.note}>
        {state.kind === "running" && progressWords(state)}
        {state.kind === "done" && state.words}
        {state.kind === "failed" && t("table.failed", { why: state.why })}
        {state.kind === "cancelled" && t("table.cancelled")}
      </p>
    </Menu>
  );
}

const progressWords = ({ rows, of }: { rows: number; of: number | null }): string =>
  of === null ? t("table.running", { rows }) : t("table.running.of", { rows, of });
