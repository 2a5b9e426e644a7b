import "graphiql/setup-workers/vite";
import { createGraphiQLFetcher } from "@graphiql/toolkit";
import { GraphiQL } from "graphiql";
import "graphiql/style.css";
import { newSocket } from "../../api/client";
import { storedTheme } from "../../app/theme";
import "./editor.css";

const fetcher = createGraphiQLFetcher({ url: "/graphql", wsClient: newSocket() });

const example = `# Ctrl-Enter runs this. The book on the left is the schema's documentation.
query LatestThreads {
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

/** The editor, in the theme that the console has. */
export default function Editor() {
  const theme = storedTheme();
  return (
    <GraphiQL
      fetcher={fetcher}
      defaultQuery={example}
      isHeadersEditorEnabled={false}
      forcedTheme={theme === "system" ? undefined : theme}
    />
  );
}
