import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { fromBase64, sha256 } from "./bytes";
import { checkMessage } from "./check";
import { parseContent, parseMessage } from "./preimage";
import { write } from "./testing";

// The vectors that SQL and Go agree on too.
type Vector = {
  name: string;
  message: {
    sessionHash: string;
    sequence: number;
    prevHash: string | null;
    threadHash: string | null;
    ownerId: string;
    playerIds: string[];
    masterPlayer: string | null;
    role: string | null;
    eventType: string;
    importance: number;
    channel: string | null;
    source: string | null;
    content: string | null;
    /** Instead of content: a long one. */
    contentRepeat?: { text: string; count: number };
    attachments: string;
    ambient: string | null;
    salt: string;
    hashtags: string[];
    flagId: string | null;
    masterItemId: string | null;
    itemIds: string[];
    locationId: string | null;
    refs: { type: string; hash: string }[];
    createdAt: string;
  };
  contentPreimage?: string | null;
  contentDigest: string;
  refsDigest: string;
  preimage: string;
  hash: string;
};

const file = new URL("../../../../testdata/chain/messages.json", import.meta.url);
const vectors = JSON.parse(readFileSync(file, "utf8")) as Vector[];

const node = (hash: string | null) => (hash === null ? null : { hash });
const nodes = (hashes: string[]) => hashes.map((hash) => ({ hash }));

function shown({ message: v }: Vector) {
  return write({
    session: { hash: v.sessionHash },
    sequence: v.sequence,
    prevHash: v.prevHash,
    thread: node(v.threadHash),
    owner: { hash: v.ownerId },
    players: nodes(v.playerIds),
    masterPlayer: node(v.masterPlayer),
    role: v.role,
    eventType: v.eventType,
    importance: v.importance,
    channel: v.channel,
    source: v.source,
    content: v.contentRepeat ? v.contentRepeat.text.repeat(v.contentRepeat.count) : v.content,
    attachmentsText: v.attachments,
    ambientText: v.ambient,
    salt: v.salt,
    hashtags: nodes(v.hashtags),
    flag: node(v.flagId),
    masterItem: node(v.masterItemId),
    items: nodes(v.itemIds),
    location: node(v.locationId),
    refs: v.refs,
    createdAt: v.createdAt,
  });
}

it("there are vectors", () => expect(vectors.length).toBeGreaterThan(50));

it.each(vectors)("$name", (vector) => {
  const m = shown(vector);
  expect(m.hash).toBe(vector.hash);
  expect(m.integrity.preimage).toBe(vector.preimage);
  const bytes = fromBase64(vector.preimage);
  expect(sha256(bytes)).toBe(vector.hash);
  expect(parseMessage(bytes)).toMatchObject({ contentDigest: vector.contentDigest, refsDigest: vector.refsDigest });
  if (vector.contentPreimage) {
    expect(m.integrity.contentPreimage).toBe(vector.contentPreimage);
    expect(parseContent(fromBase64(vector.contentPreimage)).salt).toBe(vector.message.salt);
  }
  expect(checkMessage(m)).toEqual({ hash: vector.hash, findings: [], erased: false });
});
