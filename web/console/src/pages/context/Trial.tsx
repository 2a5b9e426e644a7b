import { useMemo } from "react";
import { useQuery } from "urql";
import { has, isAdmin } from "../../api/rights";
import { useSession } from "../../api/session";
import { DifferenceOf } from "../../selection/DifferenceOf";
import { TryContext } from "../../selection/query";
import { TriedResult } from "../../selection/TriedResult";
import { weightsOf } from "../../selection/weights";
import { ErrorScreen, Loading } from "../../ui/Screen";
import { t } from "../../words";
import { nameAt, requestOf, type Side } from "./request";
import styles from "./Trial.module.css";

/** What the question of the address would give under its settings, or under both with the difference. Nothing is kept. */
export function Trial({ params }: { params: URLSearchParams }) {
  const two = params.has("two");
  const first = useTrial(params, 1, false);
  const second = useTrial(params, 2, !two);
  if (!two) return <One of={first} title={t("lab.tried")} />;
  const names = [t("lab.side.1"), t("lab.side.2")] as const;
  const [a, b] = [first.data?.tryContext, second.data?.tryContext];
  return (
    <div className={styles.trial}>
      {a && b && !first.fetching && !second.fetching && (
        <section className={styles.difference} aria-label={t("selection.difference")} role="status">
          <h2>{t("selection.difference")}</h2>
          <DifferenceOf before={a} after={b} names={names} />
        </section>
      )}
      <div className={styles.two}>
        <One of={first} title={names[0]} />
        <One of={second} title={names[1]} />
      </div>
    </div>
  );
}

type Tried = ReturnType<typeof useTrial>;

function useTrial(params: URLSearchParams, side: Side, pause: boolean) {
  const { identity } = useSession();
  const address = params.toString();
  const variables = useMemo(() => {
    const of = new URLSearchParams(address);
    if (!isAdmin(identity) && of.get("as") !== identity.player) of.delete("as");
    const request = requestOf(of, side) ?? { query: "" };
    return { request, weights: weightsOf(of.getAll(nameAt("w", side))), read: has(identity, "log:read") };
  }, [address, side, identity]);
  const [state, again] = useQuery({ query: TryContext, variables, pause });
  return { ...state, again };
}

function One({ of: { data, error, fetching, again }, title }: { of: Tried; title: string }) {
  if (fetching) return <Loading what={t("lab.ranking")} />;
  if (error) return <ErrorScreen error={error} retry={() => again()} />;
  return data ? <TriedResult tried={data.tryContext} title={title} /> : null;
}
