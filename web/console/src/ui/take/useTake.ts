import { useEffect, useRef, useState } from "react";
import { curlOf, type Request } from "../../api/curl";
import { words } from "../../api/errors";
import { t } from "../../words";
import { copyText } from "../Hash";
import { csvOf, jsonOf } from "../table/cells";
import { collect, most } from "../table/collect";
import type { TakeProps } from "./Take";

/** The ways to take a table away. */
export type How = "copyCsv" | "copyJson" | "saveCsv" | "saveJson";

/** How far it is. of: how many rows there are in all; null if that is not known. */
export type State =
  | { kind: "idle" }
  | { kind: "running"; rows: number; of: number | null }
  | { kind: "done"; words: string }
  | { kind: "failed"; why: string }
  | { kind: "cancelled" };

/** Takes a table away, and tells how far it is. What was begun is cancelled with the page. */
export function useTake<T>({ file, columns, rows }: Omit<TakeProps<T>, "name" | "request">) {
  const [state, setState] = useState<State>({ kind: "idle" });
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);

  const attempt = async (work: (signal: AbortSignal) => Promise<string>) => {
    running.current?.abort();
    const control = new AbortController();
    running.current = control;
    try {
      const words = await work(control.signal);
      if (!control.signal.aborted) setState({ kind: "done", words });
    } catch (error) {
      if (running.current !== control) return; // another has begun since
      setState(control.signal.aborted ? { kind: "cancelled" } : { kind: "failed", why: words(error) });
    }
  };
  const take = (how: How) =>
    void attempt(async (signal) => {
      setState({ kind: "running", rows: 0, of: null });
      const onProgress = (n: number, of: number | null) => setState({ kind: "running", rows: n, of });
      const all = typeof rows === "function" ? await collect(rows, { signal, onProgress }) : { rows, capped: false };
      const csv = how === "copyCsv" || how === "saveCsv";
      const copy = how === "copyCsv" || how === "copyJson";
      const text = (csv ? csvOf : jsonOf)(columns, all.rows);
      if (copy) await copyText(text);
      else if (csv) save(`${file}.csv`, "text/csv;charset=utf-8", text);
      else save(`${file}.json`, "application/json", text);
      const n = all.rows.length;
      return all.capped ? t("table.capped", { most }) : t(copy ? "table.copied" : "table.saved", { n });
    });
  const copyRequest = (request: Request) =>
    void attempt(async () => {
      await copyText(curlOf(request, window.location.origin));
      return t("table.requested");
    });
  return { state, take, copyRequest, cancel: () => running.current?.abort() };
}

function save(name: string, type: string, text: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
