import type api from "./en/api.json";
import type app from "./en/app.json";
import type chain from "./en/chain.json";
import type signin from "./en/signin.json";
import type ui from "./en/ui.json";

// An area has a line here, and a file of its name in each language.
type Areas = { app: typeof app; ui: typeof ui; api: typeof api; signin: typeof signin; chain: typeof chain };

type Ids = { [A in keyof Areas]: `${A}.${Extract<keyof Areas[A], string>}` };

/** The name of a message: its area, a dot, its key in the area's files. */
export type Id = Ids[keyof Areas];
