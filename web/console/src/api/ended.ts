import { createContext } from "react";
import type { SessionState } from "./session";

/** A session that has ended: why, in the server's words, and whether the console asks to sign in again now. */
export type Ended = { why: string; asking: boolean };

/** Whether the session has ended, and what can be done about it. */
export type EndedControl = {
  ended: Ended | null;
  /** Shows the dialog, or puts it away for now. */
  ask: (asking: boolean) => void;
  /** Called with what signing in came to. */
  arrive: (state: SessionState) => void;
};

/** Holds whether the session has ended. */
export const EndedContext = createContext<EndedControl | null>(null);
