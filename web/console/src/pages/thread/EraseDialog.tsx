import { useState } from "react";
import { type CombinedError, useMutation, useQuery } from "urql";
import { Button } from "../../ui/Button";
import { bytes, count } from "../../ui/format";
import { ReasonDialog } from "../../ui/ReasonDialog";
import { isTheWord, TypedWord } from "../../ui/TypedWord";
import { Why } from "../../ui/Why";
import { T, t } from "../../words";
import styles from "./EraseDialog.module.css";
import { EraseMessage, type Impact, ImpactQuery, type Receipt } from "./erasure";

type Props = {
  hash: string;
  sequence: number;
  onErased: (receipt: Receipt) => void;
  onClose: () => void;
};

/** Says what erasing a message touches, counted by the server, and erases it once the word is typed and a reason given. */
export function EraseDialog({ hash, sequence, onErased, onClose }: Props) {
  const [{ data, error, fetching }, again] = useQuery({
    query: ImpactQuery,
    variables: { hash },
  });
  const [, erase] = useMutation(EraseMessage);
  const [typed, setTyped] = useState("");
  const impact = data?.eraseImpact;
  const onConfirm = async (reason: string): Promise<CombinedError | null> => {
    const { data: done, error: refused } = await erase({ hash, reason });
    if (!done) return refused ?? null;
    onErased(done.eraseMessage);
    return null;
  };
  const retry = () => again();
  return (
    <ReasonDialog
      title={t("erase.title", { n: String(sequence) })}
      icon="erased"
      confirm={t("erase.confirm")}
      ready={impact !== undefined && impact.obstacle === null && isTheWord(typed)}
      onConfirm={onConfirm}
      onClose={onClose}
    >
      {fetching && !impact && <p role="status">{t("erase.counting")}</p>}
      {error && !impact && <Uncounted error={error} retry={retry} />}
      {impact?.obstacle && <p role="alert">{t(`erase.obstacle.${impact.obstacle}`)}</p>}
      {impact && !impact.obstacle && <Touched impact={impact} />}
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
function Touched({ impact }: { impact: Impact }) {
  const gone: [string, string][] = [
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
        <T id="erase.goes" />
      </p>
      <Counts of={gone} />
      <p>
        <T id="erase.stays" />
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
