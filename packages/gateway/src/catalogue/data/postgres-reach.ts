import type { Client } from 'pg';

/** What the account of a connection can do that no transaction keeps in bounds, in words for an operator. */
const rights = `SELECT
  pg_catalog.array_remove(ARRAY[
    CASE WHEN r.rolsuper THEN 'is a superuser' END,
    CASE WHEN r.rolreplication THEN 'may replicate' END
  ]::text[], NULL) AS own,
  ARRAY(
    SELECT g.rolname::text FROM pg_catalog.pg_roles g
    WHERE NOT r.rolsuper AND pg_catalog.pg_has_role(r.oid, g.oid, 'MEMBER') AND g.oid <> r.oid
      AND (g.rolsuper OR g.rolreplication
        OR g.rolname IN ('pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program', 'pg_signal_backend'))
  ) AS groups,
  ARRAY(
    SELECT DISTINCT CASE WHEN l.lanname = 'c' THEN p.probin ELSE l.lanname::text END
    FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_language l ON l.oid = p.prolang
    WHERE NOT r.rolsuper AND p.prorettype <> 'pg_catalog.trigger'::pg_catalog.regtype
      AND p.prorettype <> 'pg_catalog.language_handler'::pg_catalog.regtype
      AND p.prorettype <> 'pg_catalog.event_trigger'::pg_catalog.regtype
      AND ((l.lanname = 'c' AND p.probin ~ '(^|/)(dblink|adminpack|pg_cron|pg_net|http|plsh)(\\.so)?$')
        OR (l.lanname NOT IN ('internal', 'c', 'sql') AND NOT l.lanpltrusted))
      AND pg_catalog.has_function_privilege(r.oid, p.oid, 'EXECUTE')
      AND pg_catalog.has_schema_privilege(r.oid, p.pronamespace, 'USAGE')
  ) AS functions
FROM pg_catalog.pg_roles r WHERE r.rolname = SESSION_USER`;

interface Rights {
  readonly own: readonly string[];
  readonly groups: readonly string[];
  readonly functions: readonly string[];
}

/**
 * Why the account must not be used. Undefined: its reach ends with its transaction. A read-only transaction does not stop
 * a superuser who writes files or starts programs on the server, nor functions that open connections of their own.
 */
export async function explainReach(client: Pick<Client, 'query'>): Promise<string | undefined> {
  const { rows } = await client.query<Rights>(rights);
  const found = rows[0];
  if (found === undefined) return 'PostgreSQL does not tell what the account may do.';
  const { own, groups, functions } = found;
  const reasons = [
    ...own.map((what) => `it ${what}`),
    ...groups.map((name) => `it belongs to ${name}`),
    ...functions.map((name) => `it may call functions of ${name.split('/').at(-1) ?? name}`),
  ];
  if (reasons.length === 0) return undefined;
  return `Use another account, because this one has too many rights: ${reasons.join('; ')}. docs/databases.md shows how to make one.`;
}
