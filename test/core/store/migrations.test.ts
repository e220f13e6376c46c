import { globSync, readFileSync } from 'node:fs'
import t from 'tap'
import { concurrentIndexes } from '../../../core/packages/tables/concurrent-indexes.ts'

const core = new URL('../../../core/', import.meta.url)

/** The first migration that a rolling upgrade goes through. Those before ran on databases of development. */
const first = '036'

/** Tables that may have millions of rows. */
const big = ['dispatches', 'dispatch_metadata', 'steps', 'attempts', 'events', 'documents', 'callbacks', 'callback_attempts', 'inbound',
  'idempotency_keys', 'ledger', 'audit', 'callbacks_to_endpoints', 'endpoint_attempts', 'outbox', 'outbox_attempts', 'request_log',
  'exchange_log']

const onBig = `(?:only )?(?:${big.join('|')})\\b`

/** What a migration must not do while an older process works and others wait for its locks, and what to do instead. */
const rules: [forbidden: RegExp, instead: string][] = [
  [/\bdrop (?:table|column)\b|\brename\b/i, 'an older process still uses it: take it away a release later, and raise `needs` then'],
  [/\balter column \w+ (?:set data )?type\b/i, 'it rewrites the table: add a column, write both, and read the new one a release later'],
  [/\badd column [^,;`]*\bgenerated always as [^;`]*\bstored\b/i, 'it rewrites the table: fill a plain column in batches'],
  [/\badd column [^,;`]*\bdefault (?!null|true|false|'|-?\d)/i, 'a default that is computed rewrites the table: use a constant'],
  [/\badd column [^,;`]*\bnot null\b(?![^,;`]*\bdefault\b)(?<!default [^,;`]*)/i,
    'an older process inserts rows without it: give it a default'],
  [/\bset not null\b/i, 'it reads the whole table under a lock: add a check `not valid`, and validate it in the next migration'],
  [/\badd (?:constraint|check|foreign key|unique|primary key)\b(?![^;`]*\bnot valid\b)/i, 'it reads the whole table: `not valid` first'],
  [new RegExp(`\\bcreate (?:unique )?index \\w+ on ${onBig}`, 'i'),
    'nobody writes while it is made: name it in core/packages/tables/concurrent-indexes.ts'],
  [/\bindex concurrently\b/i, 'a migration is a transaction: name it in core/packages/tables/concurrent-indexes.ts'],
  [/\block table\b|\bvacuum full\b|\bcluster\b/i, 'everybody waits']
]

await t.test('an index that is made beside the work is of a big table, named after it, and not unique', (t) => {
  const names = concurrentIndexes.map(({ name }) => name)
  t.equal(new Set(names).size, names.length)
  for (const { name, on } of concurrentIndexes) {
    const [, table = ''] = /^(\w+)(?: using gin)? \(.+$/.exec(on) ?? []
    t.ok(big.includes(table), `${name}: a small table gets its index by a migration`)
    t.ok(name.startsWith(`${table}_`), name)
  }
  t.end()
})

/** A table that the migration makes itself has no rows yet: its indexes are left out. */
function withoutNew (text: string): string {
  const made = [...text.matchAll(/\bcreate table (\w+)/gi)].map(([, table = '']) => table)
  return made.length === 0 ? text : text.replace(new RegExp(`\\bcreate (?:unique )?index \\w+ on (?:${made.join('|')})\\b`, 'gi'), '')
}

const faultsOf = (text: string): string[] => rules.filter(([forbidden]) => forbidden.test(withoutNew(text))).map(([, instead]) => instead)

/** What breaks a rule, and may. */
const exceptions: Readonly<Record<string, readonly string[]>> = {
  // The same migration makes a view of the old name, by which an older process reads, locks and writes the rows. No release looks for the
  // index by its old name.
  'packages/features/callbacks/migrations/outbox.ts': [
    'alter table endpoint_callbacks rename to callbacks_to_endpoints;',
    'alter index if exists endpoint_callbacks_kept rename to callbacks_to_endpoints_kept;'
  ],
  // No release has had these tables before: no older process uses them, and they have no rows.
  'packages/features/batches/migrations/005-facts.ts': ['alter table batches drop column needs_approval'],
  'packages/features/contacts/migrations/003-own-details-time.ts': [
    'alter table own_details add column updated_at timestamptz not null default now()'
  ]
}

const files = [
  ...globSync('store/migrations/*.ts', { cwd: core }).filter((path) => path >= `store/migrations/${first}`),
  ...globSync('packages/features/*/migrations/*.ts', { cwd: core })
]

await t.test('migrations of the core and of features are read', (t) => {
  for (const path of Object.keys(exceptions)) t.ok(files.includes(path), path)
  t.ok(files.length > 60, String(files.length))
  t.end()
})

for (const path of files.toSorted()) {
  await t.test(`${path} may run while others work`, (t) => {
    let text = readFileSync(new URL(path, core), 'utf8')
    for (const allowed of exceptions[path] ?? []) {
      t.equal(text.split(allowed).length, 2, allowed)
      text = text.replace(allowed, '')
    }
    t.same(faultsOf(text), [])
    t.end()
  })
}

await t.test('what blocks or breaks others is found', (t) => {
  const wrong = [
    'alter table steps drop column price',
    'alter table steps rename column price to cost',
    'alter table steps alter column price type bigint',
    'alter table steps add column doubled integer generated always as (price * 2) stored',
    'alter table steps add column at timestamptz not null default now()',
    'alter table steps add column note text not null',
    'alter table steps alter column price set not null',
    'alter table steps add constraint positive check (price > 0)',
    'create index steps_price on steps (price)',
    'create index concurrently steps_price on steps (price)',
    'lock table steps'
  ]
  for (const text of wrong) t.equal(faultsOf(text).length, 1, text)
  const right = [
    'create table notes (note_id uuid primary key, note text not null); create index notes_note on notes (note)',
    'create table ledger (entry_id uuid primary key); create index ledger_entry on ledger (entry_id)',
    'alter table steps add column note text',
    'alter table steps add column note text not null default \'\'',
    'alter table steps add column tries integer not null default 1',
    'alter table steps add constraint positive check (price > 0) not valid'
  ]
  for (const text of right) t.same(faultsOf(text), [], text)
  t.end()
})
