import { type Envelope, type Json, type Keyring, SealError } from '@dispatch/common'
import type { Database, OwnerQueries } from '@dispatch/database'
import { type RawBuilder, sql } from 'kysely'

/** The columns whose JSON holds envelopes at any depth, with the key of their rows. */
const columns = [
  { table: 'signing_keys', row: 'key_id', column: 'sealed' },
  { table: 'callback_secrets', row: 'secret_id', column: 'sealed' },
  { table: 'callback_endpoints', row: 'endpoint_id', column: 'secrets' },
  { table: 'inbound', row: 'inbound_id', column: 'parked' },
  { table: 'configurations', row: 'account', column: 'secrets' },
  { table: 'configurations', row: 'account', column: 'secrets_before' },
  { table: 'configurations', row: 'account', column: 'form_secrets' },
  { table: 'connections', row: 'account', column: 'tokens' },
  { table: 'connection_requests', row: 'account', column: 'sealed' },
  { table: 'oauth_apps', row: 'app_id', column: 'client_secret' },
  { table: 'authenticators', row: 'user_id', column: 'sealed' },
  { table: 'single_sign_on', row: 'company_id', column: 'client_secret' },
  { table: 'alerts', row: 'alert_id', column: 'chat' },
  { table: 'erasures', row: 'erasure_id', column: 'subject' }
] as const satisfies readonly Column[]

type Column = { table: string, row: string, column: string }

/** Counts the secrets that are sealed under each master key, by the id of the key. */
export async function countSecretsByMasterKey ({ owner }: Database): Promise<Map<string, number>> {
  // Before its first migrations a database lacks some of them, or all.
  const { rows: present } = await sql<{ table: string, column: string }>`
    select table_name as table, column_name as column from information_schema.columns where table_schema = 'public'`.execute(owner)
  const there = columns.filter(({ table, column }) => present.some((found) => found.table === table && found.column === column))
  if (there.length === 0) return new Map()
  const kids = there.map(({ table, column }) =>
    sql`select kid #>> '{}' as kid from ${sql.table(table)}, jsonb_path_query(${sql.ref(column)}, ${kidsIn}) as kid`
  )
  const { rows } = await sql<{ kid: string, secrets: number }>`select kid, count(*)::integer as secrets
    from (${sql.join(kids, sql` union all `)}) as sealed group by kid`.execute(owner)
  return new Map(rows.map(({ kid, secrets }) => [kid, secrets]))
}

/** Throws a {@link SealError} with one clear sentence where a stored secret needs a master key that this service does not have. */
export async function checkMasterKeys (database: Database, { kid, kids }: Pick<Keyring, 'kid' | 'kids'>): Promise<void> {
  const strange = [...await countSecretsByMasterKey(database)].find(([stored]) => !kids.includes(stored))
  if (strange === undefined) return
  const [stored, secrets] = strange
  throw new SealError(
    `The database holds ${secrets} secrets under the master key ${stored}, but DISPATCH_MASTER_KEY is ${kid}: start with the key ` +
      `that sealed them or, to replace it, give that one as DISPATCH_MASTER_KEY_PREVIOUS and run \`npm run dispatch -- keys rotate\`.`
  )
}

/**
 * Wraps every stored secret under the first master key of the keyring, a few rows at a time, while the service runs. After an interruption
 * it is simply run again. Answers how many rows it changed.
 */
export async function rewrapSecrets (database: Database, keyring: Pick<Keyring, 'kid' | 'rewrap'>): Promise<number> {
  let rows = 0
  for (const column of columns) {
    for (let batch = await rewrapSome(database, column, keyring); batch > 0; batch = await rewrapSome(database, column, keyring)) {
      rows += batch
    }
  }
  return rows
}

/** Rows of one transaction. Requests that change one of them wait for it. */
const atOnce = 100

function rewrapSome ({ owner }: Database, { table, row, column }: Column, keyring: Pick<Keyring, 'kid' | 'rewrap'>): Promise<number> {
  return owner.transaction().execute(async (queries) => {
    const { rows } = await sql<{ row: string, json: Json }>`
      select ${sql.ref(row)} as row, ${sql.ref(column)} as json from ${sql.table(table)}
      where jsonb_path_exists(${sql.ref(column)}, ${otherKids}, jsonb_build_object('kid', ${keyring.kid}::text))
      order by ${sql.ref(row)} limit ${atOnce} for update`.execute(queries)
    for (const { row: key, json } of rows) await write(queries, { table, row, column }, key, mapEnvelopes(json, keyring.rewrap))
    return rows.length
  })
}

async function write (queries: OwnerQueries, { table, row, column }: Column, key: string, json: Json): Promise<void> {
  await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${JSON.stringify(json)}::jsonb where ${sql.ref(row)} = ${key}`.execute(
    queries
  )
}

/** Only texts: a setting may be named "kid" too, and its value is an object. */
const kidsIn = jsonPath('strict $.**.kid ? (@.type() == "string")')
const otherKids = jsonPath('strict $.**.kid ? (@.type() == "string" && @ != $kid)')

function jsonPath (path: string): RawBuilder<unknown> {
  return sql`${sql.lit(path)}::jsonpath`
}

function mapEnvelopes (json: Json, map: (envelope: Envelope) => Envelope): Json {
  if (typeof json !== 'object' || json === null) return json
  if (Array.isArray(json)) return json.map((item: Json) => mapEnvelopes(item, map))
  if (isEnvelope(json)) return map(json)
  return Object.fromEntries(Object.entries(json).map(([name, value]) => [name, mapEnvelopes(value, map)]))
}

function isEnvelope (json: object): json is Envelope {
  return ['kid', 'wrappedKey', 'sealed'].every((name) => name in json && typeof json[name as keyof typeof json] === 'string')
}
