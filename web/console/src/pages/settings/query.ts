import { graphql, type ResultOf } from "../../api/graphql";

export const ServerQuery = graphql(`
  query Server {
    server {
      version goVersion startedAt databaseVersion pgvectorVersion migration databaseBytes privateDatabase rowLevelSecurity
      roles { name purpose superuser bypassesRowSecurity }
      dataDirectory { freeBytes totalBytes low }
      limits { name value unit setting description }
      retention { name value unit setting description }
    }
  }
`);

/** The server and its database. */
export type Server = ResultOf<typeof ServerQuery>["server"];

/** A limit or a time that is in force. */
export type Limit = Server["limits"][number];

/** A role in the database. */
export type DatabaseRole = Server["roles"][number];
