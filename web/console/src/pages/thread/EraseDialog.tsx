import { type ReactNode, useState } from "react";
import { type CombinedError, useQuery } from "urql";
import { Button } from "../../ui/Button";
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
  /** Erases, for a reason, what was counted; gives what went wrong, null if nothing did. */
  onErase: (reason: string, counted: Impact) => Promise<CombinedError | null>;
  onClose: () => void;
};

/**
 * Says what erasing touches, counted by the server, and erases it once the word is typed and a reason given. If that fails, it is
 * counted anew, as there may be less of it by then.
 */
export function EraseDialog({ of, title, children, onErase, onClose }: Props) {
  const [{ data, error, fetching }, again] = useQuery({ query: ImpactQuery, variables: of });
  const [typed, setTyped] = useState("");
  const [failed, setFailed] = useState(false);
  const kind = "message" in of ? "message" : "conversation";
  const impact = data?.eraseImpact;
  const onConfirm = async (reason: string): Promise<CombinedError | null> => {
    if (!impact) return null;
    const wrong = await onErase(reason, impact);
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
      onClose={onClose}
    >
      {children}
      {fetching && !impact && <p role="status">{t("erase.counting")}</p>}
      {error && (!impact || failed) && <Uncounted error={error} retry={retry} />}
      {impact?.obstacle && <p role="alert">{t(`erase.obstacle.${kind}.${impact.obstacle}`)}</p>}
      {failed && impact && kind === "conversation" && !impact.obstacle && (
        <p role="status">{t("erase.left", { left: impact.contents, before: impact.erasedBefore })}</p>
      )}
      {impact && !impact.obstacle && <Touched impact={impact} kind={kind} />}
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
