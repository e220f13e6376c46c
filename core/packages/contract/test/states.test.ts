import { globSync, readFileSync } from 'node:fs'
import t from 'tap'
import { lacks } from '../../../../test/support/matching.ts'
import { eventKinds } from '../states.ts'

/** What stands behind each `insert into events` of the core, by the file that it stands in. */
function entriesIn (pattern: string): { file: string, statement: string }[] {
  const files = globSync(pattern, { exclude: (name) => name === 'node_modules' || name === 'test' })
  return files.flatMap((file) => readFileSync(file, 'utf8').split('insert into events').slice(1).map((statement) => ({ file, statement })))
}

await t.test('every kind of entry that is written into a timeline is one that the documentation tells: SQL ' +
  'names none without its type', (t) => {
  const written = entriesIn('core/**/*.ts')
  t.ok(written.length > 4)
  for (const { file, statement } of written) lacks(t, statement.slice(0, 400), /, '[a-z]+', (?:'\{"kind|\$\{JSON)/, file)
  t.end()
})

await t.test('so is every kind that a function of the database writes', (t) => {
  const written = entriesIn('core/store/calls/*.sql')
  t.equal(written.length, 7)
  // The kind comes after the ids.
  const kinds = written.flatMap(({ statement }) => (statement.split(';', 1)[0] ?? '').match(/(?<=_id, ')[a-z]+(?=')/g) ?? [])
  t.strictSame(kinds.sort(), ['cancelled', 'fetched', 'recovered', 'released'])
  t.ok(kinds.every((kind) => eventKinds.some((known) => known === kind)))
  t.end()
})
