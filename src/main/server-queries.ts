import type pg from 'pg'

/** `connections`: how many this user may have, whichever of the limits is the least. */
type Server = { version: string; connections: number }

export async function readServer(client: pg.Client): Promise<Server> {
  // all accounts: about the server
  const { rows } = await client.query(
    `select current_setting('server_version') as version,
            least(nullif(rolconnlimit, -1), nullif(datconnlimit, -1), current_setting('max_connections')::int -
              current_setting('superuser_reserved_connections')::int) as connections
       from pg_roles, pg_database where rolname = session_user and datname = current_database()`,
  )
  return rows[0]
}
