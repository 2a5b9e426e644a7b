import { useCallback, useEffect, useRef, useState } from "react";
import { Link } from "wouter";
import { useAction } from "../../actions/useAction";
import { words } from "../../api/errors";
import { isAdmin } from "../../api/rights";
import { useSession } from "../../api/session";
import { follow, mostTold, type ServerProgress } from "../../chain/server";
import type { Amount } from "../../chain/verify";
import { atLeast, type Break, Breaks, fromServer } from "../../ui/Breaks";
import { Button } from "../../ui/Button";
import { Icon } from "../../ui/icons";
import { t } from "../../words";
import styles from "./SealPage.module.css";

type State =
  | { phase: "idle" }
  | { phase: "running" | "ended" | "cancelled"; progress: ServerProgress | null }
  | { phase: "failed"; progress: ServerProgress | null; error: string };

/** The server's check of all of the log, for administrators. */
export function WholeLog() {
  const { identity } = useSession();
  const section = useRef<HTMLElement>(null);
  useEffect(() => {
    if (window.location.hash === "#whole") section.current?.scrollIntoView();
  }, []);
  return (
    <section ref={section} className={styles.section} aria-labelledby="whole">
      <h2 id="whole">{t("seal.whole")}</h2>
      {isAdmin(identity) ? <Check /> : <p className={styles.none}>{t("seal.whole.admin")}</p>}
    </section>
  );
}

// Chains and tree, as far as the server has come.
function Check() {
  const { socket } = useSession();
  const [state, setState] = useState<State>({ phase: "idle" });
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);

  const start = useCallback(() => {
    running.current?.abort();
    const controller = new AbortController();
    running.current = controller;
    let progress: ServerProgress | null = null;
    const set = (next: State) => {
      if (!controller.signal.aborted) setState(next);
    };
    set({ phase: "running", progress });
    follow(socket, null, controller.signal, (p) => {
      progress = p;
      set({ phase: "running", progress });
    }).then(
      (last) => set({ phase: "ended", progress: last }),
      (error) => set({ phase: "failed", progress, error: words(error) }),
    );
  }, [socket]);
  const cancel = () => {
    running.current?.abort();
    setState((s) => ("progress" in s ? { phase: "cancelled", progress: s.progress } : s));
  };

  useAction("seal.check", start, { enabled: state.phase !== "running" });
  useAction("seal.cancel", cancel, { enabled: state.phase === "running" });

  const progress = "progress" in state ? state.progress : null;
  return (
    <>
      <div className={styles.row}>
        {state.phase === "running" ? (
          <Button icon="close" action="seal.cancel">
            {t("seal.cancel")}
          </Button>
        ) : (
          <Button icon="server" action="seal.check">
            {state.phase === "idle" ? t("seal.whole.check") : t("seal.known.again")}
          </Button>
        )}
        {state.phase === "idle" ? (
          <span className={styles.none}>{t("seal.whole.what")}</span>
        ) : (
          <Outcome state={state} />
        )}
      </div>
      <Breaks
        who={t("seal.whole.server")}
        breaks={progress?.breaks ?? []}
        found={found(progress)}
        as={fromServer}
        action={open}
      />
    </>
  );
}

function found(p: ServerProgress | null): Amount {
  const n = p?.breaks.length ?? 0;
  return { n, least: n >= mostTold };
}

function open(b: Break) {
  if (!b.hash || b.missing) return null;
  return <Link href={`/messages/${b.hash}`}>{t("seal.open")}</Link>;
}

function Outcome({ state }: { state: Exclude<State, { phase: "idle" }> }) {
  const { progress: p } = state;
  const breaks = found(p);
  const tone = state.phase === "failed" || breaks.n > 0 ? "bad" : state.phase === "ended" ? "good" : "muted";
  const said =
    state.phase === "failed"
      ? t("seal.whole.failed", { why: state.error })
      : breaks.n > 0
        ? t("seal.whole.breaks", atLeast(breaks))
        : { running: t("seal.whole.checking"), ended: t("seal.whole.well"), cancelled: t("seal.whole.cancelled") }[
            state.phase
          ];
  return (
    <div className={styles.outcome} data-tone={tone} aria-live="polite">
      <span>{t("seal.whole.of", { n: p?.checked ?? 0, total: p?.total ?? 0 })}</span>
      <progress aria-label={t("seal.whole")} max={Math.max(p?.total ?? 1, 1)} value={p?.checked ?? 0} />
      <span className={styles.said}>
        <Icon name={tone === "bad" ? "broken" : tone === "good" ? "check" : "unchecked"} size={14} />
        {said}
      </span>
    </div>
  );
}
