import { useEffect, useRef, useState } from "react";
import { Icon } from "../../ui/icons";
import { t } from "../../words";
import styles from "./ThreadPage.module.css";
import type { Tail } from "./useTail";

type Props = { tail: Tail; total: number | null; atEnd: boolean; onEnd: () => void };

/**
 * Follows the end of the list while it is in view; scrolled away from it, the list stays where it is, and this says how
 * much is new below.
 */
export function TailBar({ tail, total, atEnd, onEnd }: Props) {
  const [read, setRead] = useState<number | null>(null); // how many there were when the end was in view, or at first
  const following = useRef(atEnd);
  const end = useRef(onEnd);
  useEffect(() => {
    end.current = onEnd;
  });
  const before = useRef(total);
  useEffect(() => {
    if (total !== null && before.current !== null && total > before.current && following.current) end.current();
    before.current = total;
  }, [total]);
  useEffect(() => {
    following.current = atEnd;
    if (total !== null) setRead((n) => (n === null || atEnd ? total : n));
  }, [total, atEnd]);
  const fresh = total === null || read === null ? 0 : total - read;
  return (
    <div className={styles.tail}>
      {tail === "lost" && (
        <span className={styles.lost} role="status">
          <Icon name="warning" size={14} />
          {t("thread.tail.lost")}
        </span>
      )}
      <span role="status">
        {fresh > 0 && (
          <button type="button" className={styles.fresh} onClick={onEnd}>
            {t("thread.tail.new", { n: fresh })}
            <Icon name="down" size={14} />
          </button>
        )}
      </span>
    </div>
  );
}
