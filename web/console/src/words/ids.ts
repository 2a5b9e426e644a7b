import type actions from "./en/actions.json";
import type api from "./en/api.json";
import type app from "./en/app.json";
import type chain from "./en/chain.json";
import type components from "./en/components.json";
import type conversations from "./en/conversations.json";
import type erase from "./en/erase.json";
import type events from "./en/events.json";
import type filter from "./en/filter.json";
import type lab from "./en/lab.json";
import type overview from "./en/overview.json";
import type palette from "./en/palette.json";
import type playground from "./en/playground.json";
import type quarantine from "./en/quarantine.json";
import type range from "./en/range.json";
import type records from "./en/records.json";
import type references from "./en/references.json";
import type seal from "./en/seal.json";
import type selection from "./en/selection.json";
import type selections from "./en/selections.json";
import type settings from "./en/settings.json";
import type signin from "./en/signin.json";
import type table from "./en/table.json";
import type thread from "./en/thread.json";
import type threads from "./en/threads.json";
import type tokens from "./en/tokens.json";
import type tree from "./en/tree.json";
import type ui from "./en/ui.json";
import type windows from "./en/windows.json";

// An area has a line here, and a file of its name in each language.
type Areas = {
  actions: typeof actions;
  api: typeof api;
  app: typeof app;
  chain: typeof chain;
  components: typeof components;
  conversations: typeof conversations;
  erase: typeof erase;
  events: typeof events;
  filter: typeof filter;
  lab: typeof lab;
  overview: typeof overview;
  palette: typeof palette;
  playground: typeof playground;
  quarantine: typeof quarantine;
  range: typeof range;
  records: typeof records;
  references: typeof references;
  seal: typeof seal;
  selection: typeof selection;
  selections: typeof selections;
  settings: typeof settings;
  signin: typeof signin;
  table: typeof table;
  thread: typeof thread;
  threads: typeof threads;
  tokens: typeof tokens;
  tree: typeof tree;
  ui: typeof ui;
  windows: typeof windows;
};

type Ids = { [A in keyof Areas]: `${A}.${Extract<keyof Areas[A], string>}` };

/** The name of a message: its area, a dot, its key in the area's files. */
export type Id = Ids[keyof Areas];
