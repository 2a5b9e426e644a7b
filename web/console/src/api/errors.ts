import { CombinedError } from "urql";
import { SaidError, say, t } from "../words";

/** The server's code for an error, or what stands for it where the server could not answer. */
export function codeOf(error: CombinedError): string {
  const code = error.graphQLErrors[0]?.extensions.code;
  if (typeof code === "string") return code;
  if (error.response?.status === 401) return "UNAUTHENTICATED";
  return error.networkError ? "UNREACHABLE" : "INTERNAL";
}

const known = [
  "UNAUTHENTICATED",
  "FORBIDDEN",
  "NOT_FOUND",
  "BAD_USER_INPUT",
  "RATE_LIMITED",
  "CONTEXT_WINDOW_EXCEEDED",
  "UNAVAILABLE",
  "UNREACHABLE",
] as const;

/** What an error of a code is called, for a person. */
export function titleOf(code: string): string {
  const one = known.find((k) => k === code);
  return one ? t(`api.error.${one}`) : t("api.error.other");
}

/**
 * What went wrong, for a person: a title, the server's words or the browser's, and a code to look up. lang is what these
 * words are in where that is not the reader's language: servers and browsers say such things in English.
 */
export function describe(error: CombinedError): { title: string; detail: string; code: string; lang?: "en" } {
  const code = codeOf(error);
  const title = titleOf(code);
  const { graphQLErrors, networkError } = error;
  const theirs = graphQLErrors.map((e) => e.message).join(" ");
  if (theirs) return { title, detail: theirs, code, lang: "en" };
  if (networkError instanceof SaidError) return { title, detail: say(networkError.said), code };
  if (networkError?.message) return { title, detail: networkError.message, code, lang: "en" };
  return { title, detail: t("api.error.unsaid"), code };
}

/** What the server says of one input: "input.note: is too long" is of the field note, and of those below it. */
export type FieldError = { field: string; detail: string; code: string };

/** The field of the input that an error names, and the server's words; the field is empty if it names none. */
export function fieldError(error: CombinedError): FieldError {
  const { detail, code } = describe(error);
  const [, path, rest] = /^([a-zA-Z]+(?:\.[a-zA-Z]+|\[\d+\])*): (.+)$/s.exec(detail) ?? [];
  if (!path || !rest) return { field: "", detail, code };
  const field = path.replace(/^[a-zA-Z]+(\[\d+\])?\./, "").replace(/[.[].*$/, "");
  return { field, detail: rest, code };
}

/** Whatever was thrown while the server was asked, in words. */
export function words(error: unknown): string {
  if (error instanceof CloseEvent) {
    const { code, reason } = error;
    return reason ? t("api.closed.reason", { code, reason }) : t("api.closed", { code });
  }
  if (error instanceof SaidError) return say(error.said);
  if (error instanceof Event) return t("api.connection");
  if (Array.isArray(error)) return error.map((e) => e.message).join(" "); // GraphQL errors, as graphql-ws throws them
  if (!(error instanceof Error)) return String(error);
  const code = "graphQLErrors" in error ? `${codeOf(error as CombinedError)}: ` : "";
  return code + error.message.replace(/^\[(GraphQL|Network)\] /, "");
}

/** Whatever was thrown while the server was asked, as what a failed request gives. */
export function asCombined(error: unknown): CombinedError {
  if (error instanceof CombinedError) return error;
  return new CombinedError({ networkError: error instanceof Error ? error : new Error(String(error)) });
}
