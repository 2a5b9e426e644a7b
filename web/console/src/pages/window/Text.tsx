import { useState } from "react";
import { Button } from "../../ui/Button";
import { t } from "../../words";
import styles from "./Item.module.css";

const shown = 600; // characters, until all are asked for

/** What people, models and tools wrote: text only, the beginning of it if it is long. */
export function Text({ of }: { of: string }) {
  const [all, setAll] = useState(false);
  const cut = !all && of.length > shown;
  return (
    <div>
      <p className={styles.text} dir="auto">
        {cut ? of.slice(0, shown) : of}
        {cut && "…"}
      </p>
      {cut && (
        <Button look="quiet" onClick={() => setAll(true)}>
          {t("windows.text.all", { n: of.length - shown })}
        </Button>
      )}
    </div>
  );
}
