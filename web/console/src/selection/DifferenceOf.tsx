import { useMemo } from "react";
import { count, precise } from "../ui/format";
import { Icon } from "../ui/icons";
import { Take } from "../ui/take/Take";
import { t } from "../words";
import { changeColumns } from "./columns";
import styles from "./Difference.module.css";
import { type Change, difference, type Result, type Standing } from "./difference";
import { SourceLink } from "./SourceHead";

type Props = {
  before: Result;
  after: Result;
  /** What the two are called, over their columns. */
  names: readonly [string, string];
};

/** How a second result differs from a first: what came in, what left, what moved, whose score is another. */
export function DifferenceOf({ before, after, names }: Props) {
  const d = useMemo(() => difference(before, after), [before, after]);
  if (d.identical) {
    return (
      <p className={styles.same}>
        <Icon name="check" /> <span>{t("selection.difference.none")}</span>
      </p>
    );
  }
  return (
    <div className={styles.difference}>
      <p>
        {t("selection.difference.sum", { n: d.changes.length, same: d.same })}{" "}
        {d.aside > 0 && t("selection.difference.aside", { n: d.aside })}
      </p>
      {d.changes.length > 0 && (
        <Take name={t("selection.difference")} file="difference" columns={changeColumns(names)} rows={d.changes} />
      )}
      {d.changes.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls where it is narrow, so the keyboard has to reach it
        <section className={styles.scroll} tabIndex={0} aria-label={t("selection.difference")}>
          <table className={styles.table}>
            <thead>
              <tr>
                <th scope="col">{t("selection.difference.what")}</th>
                <th scope="col">{t("selection.difference.which")}</th>
                <th scope="col">{names[0]}</th>
                <th scope="col">{names[1]}</th>
                <th scope="col">{t("selection.difference.score")}</th>
              </tr>
            </thead>
            <tbody>
              {d.changes.map((c) => (
                <Row key={c.hash} change={c} />
              ))}
            </tbody>
          </table>
        </section>
      )}
    </div>
  );
}

const signs = { came: "+", left: "−", moved: "↕", rescored: "≈" } as const;

function Row({ change: c }: { change: Change }) {
  return (
    <tr data-kind={c.kind}>
      <td className={styles.kind}>
        <span aria-hidden="true">{signs[c.kind]}</span> {t(`selection.difference.${c.kind}`)}
      </td>
      <td>
        <SourceLink hash={c.hash} source={c.source} />
      </td>
      <td>
        <Where at={c.before} />
      </td>
      <td>
        <Where at={c.after} />
      </td>
      <td className={styles.delta}>{deltaOf(c)}</td>
    </tr>
  );
}

function Where({ at: { position, score, reason } }: { at: Standing }) {
  const place =
    position !== null
      ? t("selection.difference.place", { n: count(position) })
      : reason !== null
        ? t(`selection.reason.${reason}`)
        : t("selection.difference.unreached");
  return (
    <>
      {place}
      {score !== null && <span className={styles.score}>{precise(score)}</span>}
    </>
  );
}

function deltaOf({ before, after }: Change): string {
  if (before.score === null || after.score === null) return "";
  const exact = after.score - before.score;
  const delta = Number(exact.toFixed(12)) || exact; // without what the subtraction itself adds
  return delta === 0 ? "=" : `${delta > 0 ? "+" : ""}${precise(delta)}`;
}
