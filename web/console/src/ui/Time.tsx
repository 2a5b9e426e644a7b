import { ago, dateTime, exact, time } from "./format";

/** A moment; on hover the exact one, in words and as the log holds it. */
export function Time({ at, as = "full" }: { at: string; as?: "full" | "ago" | "clock" }) {
  const text = as === "ago" ? ago(at, Date.now()) : as === "clock" ? time(at) : dateTime(at);
  return (
    <time dateTime={at} title={`${exact(at)}\n${at}`}>
      {text}
    </time>
  );
}
