import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import t from 'tap'

/** Where money is held and captured stands in one place, so that nobody has to look for it. */
const readme = readFileSync('core/packages/credits/README.md', 'utf8')
const read = (pattern: string): [string, string][] =>
  globSync(pattern).toSorted().map((file) => [basename(file), readFileSync(file, 'utf8')])

await t.test('the page of credits names every function that changes what a step holds', (t) => {
  const named = [...readme.matchAll(/store\/calls\/(\w+\.sql)/g)].map(([, file]) => file)
  const changing = read('core/store/calls/*.sql').filter(([, text]) =>
    /\bheld = (?!0;)|update steps set held|insert into steps \([^)]*\bheld\b/.test(text)
  ).map(([file]) => file)
  t.strictSame(named.toSorted(), changing)
  t.end()
})

await t.test('the page of credits names every trigger that moves credits, where it stands as it is now', (t) => {
  const latest = new Map<string, string>()
  for (const [file, text] of read('core/store/migrations/*.ts')) {
    for (const [, name = '', body = ''] of text.matchAll(/create (?:or replace )?function (\w+)\([^]*?\$\$([^]*?)\$\$/g)) {
      if (/\b(credits|budgets|low_credit|spend_budgets\w*)\b/.test(body)) latest.set(name, file)
    }
  }
  const named = readme.split('\n').flatMap((line) => {
    const [, names, file = ''] = /^\| (`[\w`, ]+`) \| \[([\w.-]+)\]/.exec(line) ?? []
    return names?.match(/\w+/g)?.map((name): [string, string] => [name, file]) ?? []
  })
  t.strictSame(named.toSorted(), [...latest].toSorted())
  t.end()
})
