import { globSync, readFileSync } from 'node:fs'
import t from 'tap'

await t.test('every kind of entry that is written into a timeline is one that the documentation tells: SQL names none without its type', (t) => {
  const written = globSync('core/**/*.ts', { exclude: (name) => name === 'node_modules' }).flatMap((file) =>
    readFileSync(file, 'utf8').split('insert into events').slice(1).map((rest) => ({ file, statement: rest.slice(0, 400) })))
  t.ok(written.length > 8)
  for (const { file, statement } of written) t.notMatch(statement, /, '[a-z]+', (?:'\{"kind|\$\{JSON)/, file)
  t.end()
})
