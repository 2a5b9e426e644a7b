import type { Needs } from "../api/rights";

/** The pages that an action can be offered on. */
export type Page =
  | "overview"
  | "threads"
  | "thread"
  | "references"
  | "context"
  | "selections"
  | "conversations"
  | "events"
  | "windows"
  | "window"
  | "components"
  | "component"
  | "records"
  | "record"
  | "seal"
  | "tokens"
  | "quarantine"
  | "settings";

/** How actions stand together in the palette and the help sheet, in this order. */
export const groups = ["go", "page", "message", "table", "console"] as const;

export type Group = (typeof groups)[number];

/**
 * One thing that can be done in the console. Its words are "actions.ID" in both languages.
 *
 * keys: presses that do it, the first one is shown. "Mod" is Ctrl, or Cmd on a Mac; a space parts the presses of a
 * sequence. Those without Mod are single keys, which can be switched off, and mean nothing while somebody types.
 * on: where it is offered; two actions of the same place never share a key (a test).
 * typing: its keys also count in a field.
 */
export type Action = Needs & {
  group: Group;
  keys?: readonly string[];
  on: "everywhere" | readonly Page[];
  typing?: true;
};

const panels = ["thread", "components", "component", "records", "tokens", "windows", "window"] as const;
const tables = [
  "overview",
  "threads",
  "context",
  "selections",
  "conversations",
  "events",
  "windows",
  "window",
  "references",
  "components",
  "component",
  "records",
  "record",
  "tokens",
  "quarantine",
  "seal",
  "settings",
] as const;
const searched = ["threads", "thread", "components", "records", "window"] as const;

/** Every action of the console. A page offers one with useAction; nothing else listens to keys of its own. */
export const actions = {
  "go.overview": { group: "go", keys: ["G O"], on: "everywhere" },
  "go.threads": { group: "go", keys: ["G T"], on: "everywhere" },
  "go.conversations": { group: "go", keys: ["G V"], on: "everywhere" },
  "go.events": { group: "go", keys: ["G N"], on: "everywhere" },
  "go.windows": { group: "go", keys: ["G W"], on: "everywhere" },
  "go.context": { group: "go", keys: ["G C"], on: "everywhere" },
  "go.selections": { group: "go", keys: ["G E"], on: "everywhere" },
  "go.components": { group: "go", keys: ["G P"], on: "everywhere" },
  "go.records": { group: "go", keys: ["G R"], on: "everywhere" },
  "go.seal": { group: "go", keys: ["G S"], on: "everywhere" },
  "go.playground": { group: "go", keys: ["G Y"], on: "everywhere" },
  "go.tokens": { group: "go", keys: ["G K"], on: "everywhere" },
  "go.quarantine": { group: "go", keys: ["G Q"], on: "everywhere" },
  "go.settings": { group: "go", keys: ["G H"], on: "everywhere" },

  "page.find": { group: "page", keys: ["/"], on: searched },
  "panel.close": { group: "page", keys: ["Escape"], on: panels, typing: true },
  "overview.pause": { group: "page", keys: ["P"], on: ["overview"] },
  "component.new": { group: "page", keys: ["N"], on: ["components"], scope: "memory:write", admin: true },
  "component.edit": { group: "page", keys: ["E"], on: ["component"], scope: "memory:write" },
  "record.new": { group: "page", keys: ["N"], on: ["records"], scope: "memory:write", admin: true },
  "filter.more": { group: "page", keys: ["F"], on: ["threads"] },
  "filter.clear": { group: "page", on: ["threads", "thread"] },
  "views.open": { group: "page", keys: ["V"], on: ["threads"] },
  "token.new": { group: "page", keys: ["N"], on: ["tokens"], scope: "tokens:manage" },
  "token.revoke": { group: "page", on: ["tokens"], scope: "tokens:manage" },
  "seal.check": { group: "page", on: ["seal"], admin: true },
  "seal.cancel": { group: "page", on: ["seal"], admin: true },

  "conversation.reload": { group: "page", keys: ["R"], on: ["conversations"] },
  "conversation.delete": { group: "page", on: ["conversations"], scope: "log:append" },
  "conversation.erase": { group: "page", on: ["conversations"], scope: "erase" },

  "window.new": { group: "page", keys: ["N"], on: ["windows"], scope: "memory:write" },
  "window.write": { group: "page", keys: ["W"], on: ["window"], scope: "memory:write" },
  "window.select": { group: "page", keys: ["S"], on: ["window"], scope: "memory:write" },
  "window.share": { group: "page", keys: ["H"], on: ["window"], scope: "memory:write" },
  "window.register": { group: "page", keys: ["R"], on: ["window"], scope: "memory:write" },

  "message.next": { group: "message", keys: ["J", "ArrowDown"], on: ["thread"] },
  "message.previous": { group: "message", keys: ["K", "ArrowUp"], on: ["thread"] },
  "message.verify": { group: "message", on: ["thread"], scope: "verify" },
  "message.references": { group: "message", keys: ["R"], on: ["thread"] },
  "message.quarantine": { group: "message", on: ["thread"], scope: "log:append", admin: true },
  "message.release": { group: "message", on: ["thread", "quarantine"], scope: "log:append", admin: true },
  "message.erase": { group: "message", on: ["thread"], scope: "erase" },

  "table.copyCsv": { group: "table", on: tables },
  "table.copyJson": { group: "table", on: tables },
  "table.saveCsv": { group: "table", on: tables },
  "table.saveJson": { group: "table", on: tables },
  "request.copy": { group: "table", on: tables },
  "message.full": { group: "message", keys: ["Enter"], on: ["thread"] },
  "list.jump": { group: "page", keys: ["L"], on: ["thread"] },
  "list.end": { group: "page", keys: ["E"], on: ["thread"] },
  "mark.next": { group: "page", keys: ["M"], on: ["thread"] },
  "mark.previous": { group: "page", keys: ["Shift+M"], on: ["thread"] },
  "chain.verify": { group: "page", keys: ["V"], on: ["thread"], scope: "verify" },
  "chain.cancel": { group: "page", on: ["thread"], scope: "verify" },
  "chain.bad": { group: "page", keys: ["X"], on: ["thread"], scope: "verify" },

  "palette.open": { group: "console", keys: ["Mod+K"], on: "everywhere", typing: true },
  "form.send": { group: "console", keys: ["Mod+Enter"], on: "everywhere", typing: true },
  "help.open": { group: "console", keys: ["?"], on: "everywhere" },
  "keys.single": { group: "console", on: "everywhere" },
  "theme.system": { group: "console", on: "everywhere" },
  "theme.light": { group: "console", on: "everywhere" },
  "theme.dark": { group: "console", on: "everywhere" },
  "language.en": { group: "console", on: "everywhere" },
  "language.es": { group: "console", on: "everywhere" },
  "session.leave": { group: "console", on: "everywhere" },
} as const satisfies Record<string, Action>;

/** The name of an action. */
export type ActionId = keyof typeof actions;

/** All of them, in the order of the registry. */
export const actionIds = Object.keys(actions) as ActionId[];

/** An action by its name. */
export const actionOf = (id: ActionId): Action => actions[id];
