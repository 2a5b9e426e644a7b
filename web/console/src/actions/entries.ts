import { short } from "../ui/format";
import type { IconName } from "../ui/icons";
import { t } from "../words";
import { score } from "./fuzzy";
import type { Choice } from "./offers";
import type { Named } from "./query";
import type { Recent } from "./recent";
import { actionOf, type Group } from "./registry";
import type { Target } from "./target";

/** One line of the palette: what it says, and what it does or where it leads. */
export type Entry = {
  id: string;
  text: string;
  icon: IconName;
  section: Group | "recent";
  keys?: string | undefined;
} & Recent;

const icons: Record<Group, IconName> = {
  go: "ref",
  page: "item",
  message: "threads",
  table: "records",
  console: "tool",
};

// alone: it is not offered for anything else, so that it need not be said for what.
function ofAction({ id, of }: Choice, alone: boolean, section: Entry["section"] = actionOf(id).group): Entry {
  const { group, keys } = actionOf(id);
  const action = t(`actions.${id}`);
  return {
    id: `${section} ${id} ${of}`,
    text: alone || of === null ? action : t("palette.of", { action, of }),
    icon: icons[group],
    section,
    keys: keys?.[0],
    action: id,
    of,
  };
}

const kinds = { messages: "message", sessions: "session", threads: "thread", records: "record" } as const;

function ofAddress(to: string, section: Entry["section"]): Entry {
  const [, folder = "", rest = ""] = to.split("/");
  const kind = kinds[folder as keyof typeof kinds] ?? "record";
  const hash = short(rest.match(/[0-9a-f]{64}/)?.[0] ?? to.match(/[0-9a-f]{64}/)?.[0] ?? "");
  return {
    id: `${section} ${to}`,
    text: t(`palette.${kind}`, { hash }),
    icon: kind === "record" ? "records" : "threads",
    section,
    to,
  };
}

/** What the palette lists: what was used lately and all that can be done, or of these what matches, the best first. */
export function entriesOf(typed: string, choices: readonly Choice[], latest: readonly Recent[]): Entry[] {
  const alone = (choice: Choice) => choices.filter((c) => c.id === choice.id).length === 1;
  const all = choices.filter((c) => c.id !== "palette.open" && c.id !== "form.send").map((c) => ofAction(c, alone(c)));
  const used = latest.flatMap((r) => {
    if ("to" in r) return [ofAddress(r.to, "recent")];
    const there = choices.find((c) => c.id === r.action && c.of === r.of);
    return there ? [ofAction(there, alone(there), "recent")] : [];
  });
  if (typed.trim() === "") return [...used, ...all];
  return [...all, ...used.filter((e) => "to" in e)]
    .map((entry) => ({ entry, match: score(typed, entry.text) }))
    .filter(({ match }) => match > 0)
    .sort((a, b) => b.match - a.match)
    .map(({ entry }) => entry);
}

/** What a pasted hash or link leads to; named: what the server knows of the hash. */
export function entriesAt(target: Target, named: Named | undefined): Entry[] {
  if (target.kind === "address") return [{ ...ofAddress(target.to, "go"), text: t("palette.link", { to: target.to }) }];
  const { hash } = target;
  return [
    ...(named?.message ? [ofAddress(`/messages/${hash}`, "go")] : []),
    ...(named?.session ? [ofAddress(`/sessions/${hash}`, "go")] : []),
    ...(named?.thread ? [ofAddress(`/threads/${hash}`, "go")] : []),
    ...(named?.record ? [ofAddress(`/records?record=${hash}`, "go")] : []),
  ];
}
