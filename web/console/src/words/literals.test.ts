// No component has text of its own where the lint does not look: in attributes, and in expressions between tags.
import ts from "typescript";
import { expect, it } from "vitest";
import { sources } from "./uses";

// What a browser shows or reads out of an element of its own.
const shown = ["alt", "label", "placeholder", "summary", "title"].concat(
  ["label", "description", "placeholder", "roledescription", "valuetext"].map((a) => `aria-${a}`),
);

type Place = { of: string; line: number; values: ts.Expression[] };

// Everything that an expression may come out as: both branches of a condition, each side of ??.
function values(node: ts.Expression | undefined): ts.Expression[] {
  if (!node) return [];
  if (ts.isJsxExpression(node) || ts.isParenthesizedExpression(node) || ts.isAsExpression(node))
    return values(node.expression);
  if (ts.isConditionalExpression(node)) return [...values(node.whenTrue), ...values(node.whenFalse)];
  if (ts.isBinaryExpression(node))
    return ["??", "||", "&&", "+"].includes(node.operatorToken.getText())
      ? [node.left, node.right].flatMap(values)
      : [];
  if (ts.isArrayLiteralExpression(node)) return node.elements.flatMap(values);
  return [node];
}

// Where a tree gives text to people or to components: "title" of an element, "Screen title" of a component, "" between tags.
function places(tree: ts.SourceFile): Place[] {
  const found: Place[] = [];
  const visit = (node: ts.Node): void => {
    const line = tree.getLineAndCharacterOfPosition(node.getStart()).line + 1;
    if (ts.isJsxAttribute(node) && node.initializer) {
      const tag = node.parent.parent.tagName.getText();
      const name = node.name.getText();
      found.push({ of: /^[a-z]/.test(tag) ? name : `${tag} ${name}`, line, values: values(node.initializer) });
    } else if (ts.isJsxExpression(node) && !ts.isJsxAttribute(node.parent)) {
      found.push({ of: "", line, values: values(node.expression) });
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

const isWords = (n: ts.Expression) =>
  (ts.isCallExpression(n) && n.expression.getText() === "t") ||
  (ts.isJsxSelfClosingElement(n) && n.tagName.getText() === "T");

// Two letters side by side are a word; a unit, a sign or an example of a hash is not.
function isText(n: ts.Expression): boolean {
  const texts = ts.isTemplateExpression(n) ? [n.head.text, ...n.templateSpans.map((s) => s.literal.text)] : [];
  if (ts.isStringLiteralLike(n)) texts.push(n.text);
  return texts.some((text) => /\p{L}{2}/u.test(text));
}

/** Literal text in trees, as lines: a component's attribute counts if it is given a message anywhere. */
function literals(trees: readonly ts.SourceFile[]): string[] {
  const all = trees.flatMap((tree) => places(tree).map((place) => ({ ...place, file: tree.fileName })));
  const forPeople = new Set(["", ...shown, ...all.filter((p) => p.values.some(isWords)).map((p) => p.of)]);
  return all
    .filter((p) => forPeople.has(p.of) && p.values.some(isText))
    .map((p) => `${p.file}:${p.line} ${p.of}`.trim());
}

it("is found in attributes, their branches and templates, and between tags", () => {
  const tree = ts.createSourceFile(
    "a.tsx",
    `const a = <p title="Some text" id="one" data-kind="two">{ok === "ok" ? "yes" : 1}{"…"}</p>;
     const b = <img alt={\`\${n} pictures\`} />;
     const c = <input aria-label={given ?? ("Name" as string)} placeholder="120 · 5e1f" />;
     const d = <Field label={t("a.b")} name="who" />;
     const e = <Field label="Who" />;`,
    ts.ScriptTarget.Latest,
    true,
    ts.ScriptKind.TSX,
  );
  expect(literals([tree])).toEqual([
    "a.tsx:1 title",
    "a.tsx:1",
    "a.tsx:2 alt",
    "a.tsx:3 aria-label",
    "a.tsx:5 Field label",
  ]);
});

it("is in no component", () => {
  expect(literals(sources.map((s) => s.tree))).toEqual([]);
});
