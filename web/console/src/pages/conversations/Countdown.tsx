import { useEffect, useRef, useState } from "react";
import { exact } from "../../ui/format";
import { Icon } from "../../ui/icons";
import { T, t } from "../../words";
import styles from "./Conversations.module.css";
import { clockOf, secondsTo } from "./prompt";

const again = 5_000; // milliseconds: this browser's clock may be ahead of the database's, which decides

type Props = { until: string /** Asks the server whether it is over. */; onEnd: () => void };

/**
 * How long a conversation stays in memory. Screen readers may read it, and are not told of each second. At its end it asks
 * the server, and does not guess.
 */
export function Countdown({ until, onEnd }: Props) {
  const [now, setNow] = useState(Date.now);
  const ask = useRef(onEnd);
  useEffect(() => {
    ask.current = onEnd;
  });
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  const left = secondsTo(until, now);
  const over = left === 0;
  useEffect(() => {
    if (!over) return;
    ask.current();
    const timer = setInterval(() => ask.current(), again);
    return () => clearInterval(timer);
  }, [over]);
  return (
    <span role="timer" aria-live="off" className={styles.timer} data-soon={left < 60} title={exact(until)}>
      {left < 60 && <Icon name="warning" size={14} />}
      <span>
        {over ? t("conversations.ending") : <T id="conversations.ends" values={{ left: <b>{clockOf(left)}</b> }} />}
      </span>
    </span>
  );
}
