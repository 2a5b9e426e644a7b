import { type SubmitEvent, useEffect, useRef, useState } from "react";
import { useQuery } from "urql";
import { Link } from "wouter";
import { has } from "../api/rights";
import { useSession } from "../api/session";
import { Button } from "../ui/Button";
import { precise, short } from "../ui/format";
import { Icon } from "../ui/icons";
import { ErrorScreen, Loading } from "../ui/Screen";
import { useSearchParams } from "../ui/useSearchParams";
import { t } from "../words";
import { type Verdict, WhyNotQuery } from "./query";
import { Score } from "./Score";
import { SourceHead, SourceText } from "./SourceHead";
import styles from "./WhyNot.module.css";

const wholeHash = /^[0-9a-f]{64}$/i;

/** Asks what became of a message or record in a selection, by its hash or by what it says. The address holds the question. */
export function WhyNot({ id }: { id: string }) {
  const [params, setParams] = useSearchParams();
  const asked = params.get("why") ?? "";
  const [typed, setTyped] = useState(asked);
  const section = useRef<HTMLElement>(null);
  const before = useRef(asked);
  useEffect(() => {
    setTyped(asked);
    if (asked !== before.current) section.current?.scrollIntoView({ block: "nearest" }); // asked from elsewhere on the page
    before.current = asked;
  }, [asked]);
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const next = new URLSearchParams(params);
    if (typed.trim()) next.set("why", typed.trim());
    else next.delete("why");
    setParams(next);
  };
  return (
    <section ref={section} className={styles.why} aria-label={t("selection.why")}>
      <h2>{t("selection.why")}</h2>
      <form className={styles.form} onSubmit={submit}>
        <label>
          <span>{t("selection.why.field")}</span>
          <input value={typed} onChange={(e) => setTyped(e.target.value)} spellCheck={false} autoComplete="off" />
        </label>
        <Button type="submit" icon="search">
          {t("selection.why.ask")}
        </Button>
      </form>
      {asked && <Answer id={id} asked={asked} />}
    </section>
  );
}

function Answer({ id, asked }: { id: string; asked: string }) {
  const { identity } = useSession();
  const isHash = wholeHash.test(asked);
  const [{ data, error, fetching }, again] = useQuery({
    query: WhyNotQuery,
    variables: {
      selection: id,
      hash: isHash ? asked.toLowerCase() : null,
      text: isHash ? null : asked,
      read: has(identity, "log:read"),
    },
  });
  if (fetching) return <Loading what={t("selection.why.loading")} />;
  if (error) return <ErrorScreen error={error} retry={() => again()} />;
  const verdicts = data?.whyNot.verdicts ?? [];
  return (
    <div role="status">
      {verdicts.length === 0 ? (
        <p className={styles.none}>{t("selection.why.none")}</p>
      ) : (
        <ol className={styles.verdicts} aria-label={t("selection.why.verdicts")}>
          {verdicts.map((v) => (
            <li key={v.hash}>
              <Told verdict={v} />
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}

function Told({ verdict: v }: { verdict: Verdict }) {
  const selected = v.kind === "SELECTED";
  return (
    <>
      <p className={styles.verdict} data-selected={selected}>
        <Icon name={selected ? "check" : v.kind === "UNKNOWN" ? "unchecked" : "close"} />
        <b>{t(`selection.why.kind.${v.kind}`)}</b>
        {v.stage && (
          <span className={styles.stage}>{t("selection.why.stage", { stage: t(`selection.stage.${v.stage}`) })}</span>
        )}
      </p>
      <SourceHead hash={v.hash} source={v.source} />
      {v.source && (
        <p className={styles.text} dir="auto">
          <SourceText source={v.source} terms={v.explanation?.matchedTerms ?? []} />
        </p>
      )}
      <p className={styles.facts}>
        {v.position !== null && <span>{t("selection.why.position", { n: v.position })}</span>}
        {v.rank !== null && <span>{t("selection.why.rank", { n: v.rank })}</span>}
        {v.tokens !== null && <span>{t("selection.tokens", { n: v.tokens })}</span>}
        {v.score !== null && !v.explanation && <span>{t("selection.why.score", { score: precise(v.score) })}</span>}
        {v.near !== null && (
          <Link href={v.source?.__typename === "Record" ? `/records?record=${v.near}` : `/messages/${v.near}`}>
            {t("selection.why.near", { hash: short(v.near) })}
          </Link>
        )}
      </p>
      {v.score !== null && v.explanation && <Score score={v.score} explanation={v.explanation} />}
      <p className={styles.said}>{t(`selection.why.detail.${v.kind}`)}</p>
    </>
  );
}
