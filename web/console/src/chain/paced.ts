// Reports that a page can follow: each may have it drawn anew, and a check has far more to tell than anybody can read.

/** What tells of something that changes. */
export type Paced<State> = {
  /** How it is by now: told at once after a while in which nothing was, else once that is over. */
  tell: (now: State) => void;
  /** Tells at once what still waits. */
  flush: () => void;
  /** Nothing more is told, not even what waits. */
  stop: () => void;
  /** Tells at once what still waits, and nothing more. */
  finish: () => void;
};

/** Reports at most once in so many milliseconds, and then the newest. */
export function paced<State>(report: (now: State) => void, milliseconds: number): Paced<State> {
  let waiting: { now: State } | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let stopped = false;
  const pause = () => {
    timer = setTimeout(() => {
      timer = undefined;
      flush();
    }, milliseconds);
  };
  const flush = () => {
    if (!waiting || stopped) return;
    const { now } = waiting;
    waiting = null;
    clearTimeout(timer);
    pause();
    report(now);
  };
  const stop = () => {
    stopped = true;
    clearTimeout(timer);
  };
  return {
    tell: (now) => {
      waiting = { now };
      if (timer === undefined) flush();
    },
    flush,
    stop,
    finish: () => {
      flush();
      stop();
    },
  };
}
