// How the console's sources use words, for tests: read as TypeScript, not guessed from text.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

/** A source of the console; name: below src. */
export type Source = { name: string; text: string; tree: ts.SourceFile };

/** A use of a message. values: the names of what is given to it; null if that cannot be told. */
export type Use = { id: string; values: string[] | null; line: number };

const folder = new URL("..", import.meta.url).pathname;

/** Every source but tests and what only they use. */
export const sources: Source[] = readdirSync(folder, { recursive: true, encoding: "utf8" })
  .filter((name) => /\.tsx?$/.test(name) && !/(\.test|\.d|\/testing|words\/(uses|setup))\.tsx?$/.test(name))
  .map((name) => {
    const text = readFileSync(join(folder, name), "utf8");
    return { name, text, tree: ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true) };
  });

/** What a source uses: strings as they stand, those put together as patterns, calls, and lines of calls at the module's top. */
export function uses({ tree }: Source): { literals: string[]; patterns: RegExp[]; calls: Use[]; early: number[] } {
  const literals: string[] = [];
  const patterns: RegExp[] = [];
  const calls: Use[] = [];
  const early: number[] = [];
  const line = (node: ts.Node) => tree.getLineAndCharacterOfPosition(node.getStart()).line + 1;
  const visit = (node: ts.Node, inside: boolean): void => {
    if (ts.isStringLiteralLike(node)) literals.push(node.text);
    if (ts.isTemplateExpression(node)) patterns.push(patternOf(node));
    if (ts.isCallExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === "t") {
      const [id, values] = node.arguments;
      if (!inside) early.push(line(node));
      for (const one of idsOf(id)) calls.push({ id: one, values: namesOf(values), line: line(node) });
    }
    if (ts.isJsxSelfClosingElement(node) && node.tagName.getText() === "T") {
      for (const one of idsOf(attribute(node, "id"))) {
        calls.push({ id: one, values: namesOf(attribute(node, "values")), line: line(node) });
      }
    }
    const deeper = inside || ts.isFunctionLike(node);
    ts.forEachChild(node, (child) => visit(child, deeper));
  };
  visit(tree, false);
  return { literals, patterns, calls, early };
}

// Ids that are written out: one, or one of two.
function idsOf(node: ts.Expression | undefined): string[] {
  if (!node) return [];
  if (ts.isStringLiteralLike(node)) return [node.text];
  if (ts.isConditionalExpression(node)) return [...idsOf(node.whenTrue), ...idsOf(node.whenFalse)];
  return [];
}

function namesOf(node: ts.Expression | undefined): string[] | null {
  if (!node) return [];
  if (!ts.isObjectLiteralExpression(node)) return null;
  const names = node.properties.map((p) => p.name?.getText());
  return names.every((n) => n !== undefined) ? (names as string[]) : null; // a spread cannot be told
}

function attribute(node: ts.JsxSelfClosingElement, name: string): ts.Expression | undefined {
  for (const a of node.attributes.properties) {
    if (!ts.isJsxAttribute(a) || a.name.getText() !== name || !a.initializer) continue;
    if (ts.isStringLiteral(a.initializer)) return a.initializer;
    if (ts.isJsxExpression(a.initializer)) return a.initializer.expression;
  }
  return undefined;
}

function patternOf(node: ts.TemplateExpression): RegExp {
  const quote = (s: string) => s.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const rest = node.templateSpans.map((s) => `[\\w.:-]+${quote(s.literal.text)}`).join("");
  // What begins with a place could be anything.
  return node.head.text.includes(".") ? new RegExp(`^${quote(node.head.text)}${rest}$`) : /^$/;
}
