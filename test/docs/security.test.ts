import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const root = fileURLToPath(new URL('../..', import.meta.url))
const page = readFileSync(join(root, 'SECURITY.md'), 'utf8')

void t.test('each promise of the threat model names a test or a check that exists', (t) => {
  const [, promises = ''] = /^## What is promised$([^]*?)^## /m.exec(page) ?? []
  const rows = promises.split('\n').filter((line) => line.startsWith('| ')).slice(1)
  t.ok(rows.length > 10)
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> }
  for (const row of rows) {
    const [, , promise = '', held = ''] = /^(\|) (.*) \| (.*) \|$/.exec(row) ?? []
    const names = [...held.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)
    t.ok(names.length > 0, promise)
    for (const name of names) {
      t.ok(name.startsWith('npm run ') ? Object.hasOwn(scripts, name.slice('npm run '.length)) : existsSync(join(root, name)),
        `${promise} ${name}`)
    }
  }
  t.end()
})
