import examples from "readme:examples";
import { useGraphiQL, useGraphiQLActions } from "@graphiql/react";
import { Kind, parse } from "graphql";
import { useRef } from "react";
import { Menu } from "../../ui/menu/Menu";
import { t } from "../../words";
import styles from "./Examples.module.css";

/** The README's examples, each to open in a tab of its own. */
export function Examples() {
  const box = useRef<HTMLDivElement>(null);
  const { addTab, setOperationFacts } = useGraphiQLActions();
  const request = useGraphiQL((state) => state.queryEditor);
  const variables = useGraphiQL((state) => state.variableEditor);
  const open = (example: (typeof examples)[number]) => {
    box.current?.hidePopover();
    addTab();
    request?.setValue(example.query);
    variables?.setValue(example.variables);
    // GraphiQL reads what was put in a moment later; who runs it at once would be asking for the last tab's operation.
    const documentAST = parse(example.query);
    const operations = documentAST.definitions.filter((one) => one.kind === Kind.OPERATION_DEFINITION);
    setOperationFacts({ documentAST, operations, operationName: operations[0]?.name?.value });
    request?.focus();
  };
  return (
    <Menu icon="records" word={t("playground.examples")} box={box}>
      <p className={styles.note}>{t("playground.examples.note")}</p>
      <ol className={styles.examples}>
        {examples.map((example) => (
          <li key={example.title}>
            <button type="button" lang="en" onClick={() => open(example)}>
              {example.title}
            </button>
          </li>
        ))}
      </ol>
    </Menu>
  );
}
