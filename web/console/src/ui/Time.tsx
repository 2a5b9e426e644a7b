import { ago, dateTime, time } from "./format";

/** A moment; the exact one, as the log holds it, on hover. */
export function Time({ at, as = "full" }: { at: string; as?: "full" | "ago" | "clock" }) {
  const text = as === "ago" ? ago(at, Date.now()) : as === "clock" ? time(at) : dateTime(at);
  return (
    <time dateTime={at} title={at}>
      {text}
    </time>
  );
}
