import type { ReactNode } from "react";
import { Link } from "wouter";
import { count, precise, short } from "../ui/format";
import { Time } from "../ui/Time";
import { t } from "../words";
import styles from "./Asked.module.css";
import type { Policy, Asked as Request } from "./query";

type Props = { request: Request; policy: Policy; previous: string | null };

/** What was asked, all of it, and the policy that ranked. */
export function Asked({ request: r, policy, previous }: Props) {
  return (
    <details className={styles.asked}>
      <summary>
        <h2>{t("selection.asked")}</h2>
      </summary>
      <dl className={styles.fields}>
        <Field name={t("selection.asked.limit")}>{count(r.limit)}</Field>
        <Field name={t("selection.asked.threshold")}>{precise(r.threshold)}</Field>
        <Field name={t("selection.asked.budget")}>
          {r.tokenBudget === null ? t("selection.asked.none") : count(r.tokenBudget)}
        </Field>
        <Field name={t("selection.asked.at")}>
          <Time at={r.at} />
        </Field>
        <Field name={t("selection.asked.player")}>
          {r.player === null ? t("selection.asked.nobody") : <Hash hash={r.player} />}
        </Field>
        {r.previous !== null && (
          <Field name={t("selection.asked.previous")}>
            {previous ? (
              <Link href={`/selections/${encodeURIComponent(previous)}`}>{short(r.previous)}</Link>
            ) : (
              <Hash hash={r.previous} />
            )}
          </Field>
        )}
        <Scope scope={r.scope} />
      </dl>
      <Weights policy={policy} />
    </details>
  );
}

const Hash = ({ hash }: { hash: string }) => <code title={hash}>{short(hash)}</code>;

function Field({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

const lists = ["sessions", "threads", "players", "owners", "hashtags", "flags", "items", "locations"] as const;

function Scope({ scope }: { scope: Request["scope"] }) {
  const { types, eventTypes, since, until } = scope;
  const narrowed = [types, eventTypes, since, until, ...lists.map((name) => scope[name])].some((v) => v !== null);
  if (!narrowed) return <Field name={t("selection.scope")}>{t("selection.scope.all")}</Field>;
  return (
    <>
      {lists.map((name) => {
        const hashes = scope[name];
        return (
          hashes && (
            <Field key={name} name={t(`selection.scope.${name}`)}>
              <ul className={styles.hashes}>
                {hashes.length === 0 && <li>{t("selection.scope.empty")}</li>}
                {hashes.map((hash) => (
                  <li key={hash}>
                    <Hash hash={hash} />
                  </li>
                ))}
              </ul>
            </Field>
          )
        );
      })}
      {scope.types && <Field name={t("selection.scope.types")}>{scope.types.join(", ").toLowerCase()}</Field>}
      {scope.eventTypes && (
        <Field name={t("selection.scope.events")}>{scope.eventTypes.join(", ").toLowerCase()}</Field>
      )}
      {scope.since && (
        <Field name={t("selection.scope.since")}>
          <Time at={scope.since} />
        </Field>
      )}
      {scope.until && (
        <Field name={t("selection.scope.until")}>
          <Time at={scope.until} />
        </Field>
      )}
    </>
  );
}

function Weights({ policy }: { policy: Policy }) {
  return (
    <div className={styles.policy}>
      <h3>{t("selection.policy", { version: policy.version })}</h3>
      <dl className={styles.weights}>
        {policy.weights.map((w) => (
          <div key={w.name} data-changed={w.value !== w.default || undefined}>
            <dt>{t(`selection.weight.${w.name}`)}</dt>
            <dd>
              {precise(w.value)}
              {w.value !== w.default && ` ${t("selection.policy.now", { value: precise(w.default) })}`}
            </dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
