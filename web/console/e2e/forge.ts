import type { Visit } from "./browser";

/**
 * Makes the server lie: the data of each answer to an operation of that name passes through change on its way to the
 * page. Several may be in force at a time. Of VerifyPage: as often as it is asked for, so there are no stretches.
 */
export async function forge<Data>(v: Visit, operation: string, change: (data: Data) => void): Promise<void> {
  if (operation === "VerifyPage") await v.page.route("**/stretch?*", (route) => route.fulfill({ body: "" }));
  await v.page.route("**/graphql", async (route) => {
    const asked = route.request().postDataJSON() as { operationName?: string } | null;
    if (asked?.operationName !== operation) return await route.fallback();
    const response = await route.fetch();
    const answer = (await response.json()) as { data: Data };
    change(answer.data);
    await route.fulfill({ response, json: answer });
  });
}

/** Text with the character at an index exchanged for another of base64. */
export function flip(text: string, index: number): string {
  const at = index < 0 ? text.length + index : index;
  return text.slice(0, at) + (text[at] === "A" ? "B" : "A") + text.slice(at + 1);
}
