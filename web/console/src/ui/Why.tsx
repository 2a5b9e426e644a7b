import type { CombinedError } from "urql";
import { describe } from "../api/errors";

/** Why a request failed: in the server's words or the browser's, which are English, whoever reads. */
export function Why({ error }: { error: CombinedError }) {
  const { detail, lang } = describe(error);
  return <span lang={lang}>{detail}</span>;
}
