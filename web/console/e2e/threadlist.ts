// A server whose log has threads to be told apart by every filter, and what is looked for in the list of them.
import { randomBytes } from "node:crypto";
import { startBrowser, type Visit } from "./browser";
import { startServer } from "./server";

/** How many threads the channel many-e2e has: more than a page. */
export const many = 60;
const hash = () => randomBytes(32).toString("hex");

/** Starts it. one: a name of each kind that two threads have, other: of who received and coordinated them; secret: the token of a player who takes part in nothing. */
export async function startThreads() {
  const server = await startServer();
  const browser = await startBrowser();
  const named = (table: string, order = "") => {
    const [found = "", name = ""] = server
      .sql(`SELECT hash, name FROM core.${table} WHERE name IS NOT NULL ORDER BY hash ${order} LIMIT 1`)
      .split("|");
    return { hash: found, name };
  };
  const one = {
    player: named("players"),
    other: named("players", "DESC"),
    tag: named("hashtags"),
    flag: named("flags"),
    item: named("items"),
    place: named("locations"),
  };
  const about = {
    playerIds: [one.other.hash],
    masterPlayer: one.other.hash,
    hashtags: [one.tag.hash],
    flagId: one.flag.hash,
    itemIds: [one.item.hash],
    locationId: one.place.hash,
    importance: 2,
    content: "A zeppelin over the lake",
    channel: "telegram-e2e",
  };
  const small = Array.from({ length: many }, (_, i) => ({ content: `number ${i}`, channel: "many-e2e" }));
  const sessionHash = hash();
  await server.ask("mutation ($m: [MessageInput!]!) { appendMessages(messages: $m) { hash } }", {
    m: [about, { ...about, importance: 1, content: "Another balloon" }, ...small].map((m) => ({
      ...m,
      sessionHash,
      threadHash: hash(),
      ownerId: one.player.hash,
    })),
  });
  const alone = hash();
  server.sql(
    `INSERT INTO core.players (hash, namespace, key, name) VALUES ('${alone}', 'ply', 'nobody-e2e', 'Nobody')`,
  );
  const { secret } = await server.makeToken({ player: alone, kind: "CLIENT", scopes: ["log:read"] });
  return { server, browser, one, secret };
}

export const rows = (v: Visit) => v.page.getByRole("region", { name: "threads" }).getByRole("listitem");
export const chips = (v: Visit) => v.page.getByRole("list", { name: "Filters that are set" }).getByRole("button");
const noted = (n: number) => `${n} ${n === 1 ? "matches" : "match"}, latest first`;
export const shows = (v: Visit, n: number) => v.page.getByText(noted(n), { exact: true }).waitFor();
export const query = (v: Visit) => new URL(v.page.url()).searchParams;
