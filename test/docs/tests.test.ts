import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { isLong, longTier } from '../long-tier.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

void t.test('the second tier is what the page of the tests says, and each of its rows means tests', (t) => {
  const page = readFileSync(`${root}test/README.md`, 'utf8')
  const rows = [...page.matchAll(/^\| `([^` ]+(?:\/|\.test\.ts))` \| (.+) \| (`.+`) \|$/gm)].map(([, ...cells]) => cells)
  t.same(rows, Object.entries(longTier).map(([path, { why, of }]) => [path, why, of.map((word) => `\`${word}\``).join(', ')]))
  const files = globSync('{test,core/packages/*/test,core/packages/features/*/test}/**/*.test.ts', {
    cwd: root,
    exclude: ['test/fixtures/features/**']
  })
  for (const path of Object.keys(longTier)) t.ok(files.some((file) => file === path || (path.endsWith('/') && file.startsWith(path))), path)
  t.ok(files.filter((file) => !isLong(file)).length > 150)
  t.end()
})
