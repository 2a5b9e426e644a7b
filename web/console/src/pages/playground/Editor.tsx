import "graphiql/setup-workers/vite";
import { createGraphiQLFetcher } from "@graphiql/toolkit";
import { GraphiQL } from "graphiql";
import { useEffect, useMemo, useRef } from "react";
import { createPortal } from "react-dom";
import "graphiql/style.css";
import { isAdmin } from "../../api/rights";
import { useSession } from "../../api/session";
import { useShownTheme } from "../../app/theme";
import "./editor.css";
import { Examples } from "./Examples";

const example = `query LatestThreads {
  threads(first: 5) {
    edges {
      node {
        hash
        messageCount
        lastMessageAt
        players { name }
      }
    }
  }
}
`;

/** The editor, in the theme that the console has. corner: where the page has room for what leads to the examples. */
export default function Editor({ corner }: { corner: HTMLElement | null }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => (box.current ? keepTabsPlain(box.current) : undefined), []);
  const { identity, socket, fetch } = useSession();
  const fetcher = useMemo(() => createGraphiQLFetcher({ url: "/graphql", wsClient: socket, fetch }), [socket, fetch]);
  const theme = useShownTheme();
  return (
    <div ref={box} className="playground">
      <GraphiQL
        fetcher={fetcher}
        schema={isAdmin(identity) ? undefined : null}
        defaultQuery={example}
        isHeadersEditorEnabled={false}
        forcedTheme={theme}
      >
        <GraphiQL.Logo>{null}</GraphiQL.Logo>
        <GraphiQL.Toolbar>
          {({ prettify, merge, copy }) => (
            <>
              {prettify}
              {merge}
              {copy}
              {corner && createPortal(<Examples />, corner)}
            </>
          )}
        </GraphiQL.Toolbar>
      </GraphiQL>
    </div>
  );
}

// GraphiQL gives the role of a tab to list items that hold two buttons each. A tab may hold none, so screen readers
// lose them; as plain items of a list, both are there.
function keepTabsPlain(box: HTMLElement): () => void {
  const plain = () => {
    for (const list of box.querySelectorAll('[role="tablist"]')) list.setAttribute("role", "list");
    for (const tab of box.querySelectorAll('li[role="tab"]')) {
      tab.setAttribute("role", "listitem");
      tab.removeAttribute("aria-selected");
    }
  };
  const observer = new MutationObserver(plain);
  observer.observe(box, { subtree: true, childList: true, attributeFilter: ["role", "aria-selected"] });
  plain();
  return () => observer.disconnect();
}
