import { type ReactNode, useEffect, useState } from "react";
import { type CombinedError, useQuery } from "urql";
import { Button } from "../../ui/Button";
import type { Outcome } from "../../ui/ConfirmDialog";
import { bytes, count } from "../../ui/format";
import { ReasonDialog } from "../../ui/ReasonDialog";
import { isTheWord, TypedWord } from "../../ui/TypedWord";
import { Why } from "../../ui/Why";
import { T, t } from "../../words";
import styles from "./EraseDialog.module.css";
import { type Impact, ImpactQuery } from "./erasure";

type Props = {
  /** What is to be erased. */
  of: { message: string } | { conversation: string };
  title: string;
  /** What else there is to say of it, before the counts. */
  children?: ReactNode;
  /** Erases, for a reason, what was counted. */
  onErase: (reason: string, counted: Impact) => Promise<Outcome>;
  /** Stops that, where it can be stopped. */
  onStop?: () => void;
  onClose: () => void;
};

const pause = 1_000; // milliseconds between counts of what is being erased

/**
 * Says what erasing touches, counted by the server, and erases it once the word is typed and a reason given. What was said in a
 * conversation is counted again and again from then on: how far it came, and what is left if it did not come to its end, as the
 * server may still be at work.
 */
export function EraseDialog({ of, title, children, onErase, onStop, onClose }: Props) {
  const [{ data, error, fetching }, again] = useQuery({ query: ImpactQuery, variables: of });
  const [typed, setTyped] = useState("");
  const [began, setBegan] = useState<Impact | null>(null); // what was counted before, while it is being erased
  const [failed, setFailed] = useState(false); // or stopped
  const kind = "message" in of ? "message" : "conversation";
  const impact = data?.eraseImpact;
  const several = kind === "conversation";
  const counts = several && (began !== null || failed);
  useEffect(() => {
    if (!counts || fetching) return;
    const timer = setTimeout(() => again(), pause);
    return () => clearTimeout(timer);
  }, [counts, fetching, again]);
  const onConfirm = async (reason: string): Promise<Outcome> => {
    if (!impact) return null;
    setFailed(false);
    setBegan(impact);
    const wrong = await onErase(reason, impact);
    setBegan(null);
    setFailed(wrong !== null);
    if (wrong) again();
    return wrong;
  };
  const retry = () => again();
  return (
    <ReasonDialog
      title={title}
      icon="erased"
      confirm={t("erase.confirm")}
      ready={impact !== undefined && impact.obstacle === null && isTheWord(typed)}
      onConfirm={onConfirm}
      onStop={onStop}
      onClose={onClose}
    >
      {children}
      {fetching && !impact && <p role="status">{t("erase.counting")}</p>}
      {error && (!impact || failed) && <Uncounted error={error} retry={retry} />}
      {impact?.obstacle && !began && (
        <p role="alert">{t(several ? "erase.obstacle.conversation" : `erase.obstacle.message.${impact.obstacle}`)}</p>
      )}
      {failed && impact && several && !impact.obstacle && (
        <p role="status">{t("erase.left", { left: impact.contents, before: impact.erasedBefore })}</p>
      )}
      {began && impact && several ? (
        <Progress done={impact.erasedBefore - began.erasedBefore} of={began.contents} />
      ) : (
        impact && !impact.obstacle && <Touched impact={impact} kind={kind} />
      )}
      <p>{t("erase.copies")}</p>
      <TypedWord typed={typed} onType={setTyped} />
    </ReasonDialog>
  );
}

function Uncounted({ error, retry }: { error: CombinedError; retry: () => void }) {
  return (
    <div role="alert" className={styles.failed}>
      <T id="erase.uncounted" values={{ why: <Why error={error} /> }} />
      <Button icon="retry" onClick={retry}>
        {t("ui.again")}
      </Button>
    </div>
  );
}

// Somebody else may erase of it, too: then what is done is no more than all.
function Progress({ done, of }: { done: number; of: number }) {
  const n = Math.min(done, of);
  return (
    <div className={styles.progress}>
      <span>{t("erase.progress", { n, of })}</span>
      <progress aria-label={t("erase.progress.label")} max={Math.max(of, 1)} value={n} />
    </div>
  );
}

// What goes and what stays, each with how much of it there is.
function Touched({ impact, kind }: { impact: Impact; kind: "message" | "conversation" }) {
  const several: [string, string][] = [
    [t("erase.contents"), count(impact.contents)],
    [t("erase.before"), count(impact.erasedBefore)],
  ];
  const gone: [string, string][] = [
    ...(kind === "conversation" ? several : []),
    [t("erase.content"), bytes(impact.contentBytes)],
    [t("erase.attachments"), bytes(impact.attachmentsBytes)],
    [t("erase.ambient"), bytes(impact.ambientBytes)],
    [t("erase.terms"), count(impact.searchTerms)],
    [t("erase.vectors"), count(impact.lexicalVectors + impact.denseVectors)],
    [t("erase.selections"), count(impact.selections)],
    [t("erase.windows"), count(impact.windows)],
  ];
  const kept: [string, string][] = [
    [t("erase.citedBy"), count(impact.citedBy)],
    [t("erase.refs"), count(impact.refs + impact.records)],
    [t("erase.keys"), count(impact.idempotencyKeys)],
  ];
  return (
    <>
      <p>
        <T id={`erase.goes.${kind}`} />
      </p>
      <Counts of={gone} />
      <p>
        <T id={`erase.stays.${kind}`} />
      </p>
      <Counts of={kept} />
    </>
  );
}

function Counts({ of }: { of: readonly [string, string][] }) {
  return (
    <dl className={styles.counts}>
      {of.map(([what, much]) => (
        <div key={what}>
          <dt>{what}</dt>
          <dd>{much}</dd>
        </div>
      ))}
    </dl>
  );
}
