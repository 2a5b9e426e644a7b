import { Link } from "wouter";
import { useTitle } from "../../app/title";
import { Kept } from "../../selection/Kept";
import { PageHead } from "../../ui/PageHead";
import { t } from "../../words";
import styles from "./SelectionPage.module.css";

/** One stored selection. id is its global one. */
export default function SelectionPage({ id }: { id: string }) {
  useTitle(t("selection.title"));
  return (
    <>
      <PageHead title={t("selection.title")} note={t("selection.note")}>
        <Link href="/selections">{t("selection.all")}</Link>
      </PageHead>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it */}
      <section className={styles.page} aria-label={t("selection.title")} tabIndex={0}>
        <Kept id={id} />
      </section>
    </>
  );
}
