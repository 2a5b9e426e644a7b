import { type ReactNode, useState } from "react";
import { Button } from "../../ui/Button";
import { t } from "../../words";
import type { PartProps } from "./Body";
import styles from "./Holds.module.css";
import { ItemRow } from "./ItemRow";
import type { Item } from "./query";

const first = 50; // items of a group in the document, until all are asked for

type Props = PartProps & { title: string; note?: ReactNode; items: readonly Item[] };

/** Items that stand together, with what there is to know of all of them. */
export function Items({ title, note, items, ...props }: Props) {
  const [all, setAll] = useState(false);
  const shown = all ? items : items.slice(0, first);
  const tokens = items.reduce((sum, i) => sum + i.tokens, 0);
  return (
    <div className={styles.group}>
      <h3>
        {title} <span>{t("windows.group.sum", { n: items.length, tokens })}</span>
      </h3>
      {note}
      {shown.length > 0 && (
        <ol>
          {shown.map((i) => (
            <li key={i.id}>
              <ItemRow {...props} item={i} />
            </li>
          ))}
        </ol>
      )}
      {shown.length < items.length && (
        <div>
          <Button onClick={() => setAll(true)}>{t("windows.items.rest", { n: items.length - shown.length })}</Button>
        </div>
      )}
    </div>
  );
}
