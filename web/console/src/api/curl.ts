import { type DocumentInput, stringifyDocument } from "urql";

/** A GraphQL request of a page. */
export type Request = { query: DocumentInput; variables: object };

/** Text as one word of a POSIX shell, which finds nothing in it to expand. */
export const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/**
 * A request as a command for a shell. The token is the shell's own $TOKEN: the console does not know the one in the
 * cookie, and none may stand in what is copied. origin: the server's, as the browser reached it.
 */
export function curlOf({ query, variables }: Request, origin: string): string {
  const body = JSON.stringify({ query: stringifyDocument(query), variables });
  return [
    `curl --silent --show-error ${quote(`${origin}/graphql`)}`,
    `--header "Authorization: Bearer $TOKEN"`,
    `--header 'Content-Type: application/json'`,
    `--data-binary ${quote(body)}`,
  ].join(" \\\n  ");
}
