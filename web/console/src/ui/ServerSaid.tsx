import { T } from "../words";

/** What the server says in words of its own: a cause that no code tells. It says it in English, whoever reads. */
export function ServerSaid({ words }: { words: string }) {
  return <T id="ui.server.said" values={{ words: <q lang="en">{words}</q> }} />;
}
