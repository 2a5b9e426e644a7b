import { useEffect, useState } from "react";
import { stringifyDocument } from "urql";
import type { ResultOf } from "../../api/graphql";
import type { Ranges } from "../../api/ranges";
import { useSession } from "../../api/session";
import type { Subject } from "../../chain/verify";
import { Appended } from "./query";

/** Whether what is appended is heard of as it happens. */
export type Tail = "joining" | "live" | "lost";

const pace = 400; // milliseconds between two looks at the end of the log, however much is appended
const longestPause = 30_000;
const patience = 3_000; // milliseconds without a refusal, after which a subscription counts as joined

/**
 * Follows the end of a conversation: as soon as a message is appended, the ranges grow. A subscription that is lost comes
 * back, and what was appended meanwhile is read then, so that there is no gap. What an erasure took from rows that are there
 * is gone from them, too.
 */
export function useTail({ kind, hash }: Subject, ranges: Pick<Ranges<unknown>, "total" | "grow" | "reload">): Tail {
  const { socket } = useSession();
  const [tail, setTail] = useState<Tail>("joining");
  useEffect(() => {
    const controller = new AbortController();
    const look = paced(pace, async () => {
      if (ranges.total === null) return;
      await ranges.grow(controller.signal).catch(() => undefined); // the next one finds it
      if (changed && !controller.signal.aborted) ranges.reload();
      changed = false;
    });
    let changed = false; // what was there before may not be what it was
    let pause = 1_000;
    let leave = () => {};
    let again: ReturnType<typeof setTimeout>;
    let settled: ReturnType<typeof setTimeout>;
    let connected: boolean | null = null; // not known at first: the socket serves other pages, too
    const live = () => {
      setTail("live");
      look(); // whatever was appended while nobody listened
    };
    const join = () => {
      const variables = kind === "thread" ? { threads: [hash] } : { sessions: [hash] };
      const lost = () => {
        if (controller.signal.aborted) return;
        setTail("lost");
        changed = true; // meanwhile nobody tells of an erasure
        clearTimeout(settled);
        again = setTimeout(join, pause);
        pause = Math.min(2 * pause, longestPause);
      };
      const next = ({ data }: { data?: ResultOf<typeof Appended> | null }) => {
        setTail("live");
        changed ||= data?.messageAppended.eventType === "ERASURE";
        look();
      };
      leave = socket.subscribe<ResultOf<typeof Appended>>(
        { query: stringifyDocument(Appended), variables },
        { next, error: lost, complete: lost },
      );
      settled = setTimeout(() => connected !== false && live(), patience);
    };
    const quiet = [
      socket.on("connected", () => {
        connected = true;
        pause = 1_000;
        live();
      }),
      socket.on("closed", () => {
        connected = false;
        changed = true;
        setTail("lost");
      }),
    ];
    join();
    return () => {
      controller.abort();
      clearTimeout(again);
      clearTimeout(settled);
      for (const off of quiet) off();
      leave();
    };
  }, [socket, kind, hash, ranges]);
  return tail;
}

// Carries something out at most once in a while, and once more if it was asked for meanwhile.
function paced(milliseconds: number, act: () => Promise<void>): () => void {
  let [busy, wanted] = [false, false];
  const run = async () => {
    busy = true;
    wanted = false;
    await act();
    await new Promise((resolve) => setTimeout(resolve, milliseconds));
    busy = false;
    if (wanted) void run();
  };
  return () => {
    wanted = true;
    if (!busy) void run();
  };
}
