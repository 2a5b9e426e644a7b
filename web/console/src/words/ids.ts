import type app from "./en/app.json";
import type ui from "./en/ui.json";

// An area has a line here, and a file of its name in each language.
type Areas = { app: typeof app; ui: typeof ui };

type Ids = { [A in keyof Areas]: `${A}.${Extract<keyof Areas[A], string>}` };

/** The name of a message: its area, a dot, its key in the area's files. */
export type Id = Ids[keyof Areas];
