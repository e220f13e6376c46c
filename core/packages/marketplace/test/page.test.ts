import { readFileSync } from 'node:fs'
import t from 'tap'
import { refusalCodes } from '../index.ts'

void t.test('the page lists every word of a refusal with its meaning', (t) => {
  const page = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  const [, refusals = ''] = page.split('## Refusals')
  const rows = [...refusals.matchAll(/^\| `(\w+)` \| (.+) \|$/gm)].map(([, code = '', meaning = '']) => [code, meaning])
  t.same(Object.fromEntries(rows), refusalCodes)
  t.end()
})
