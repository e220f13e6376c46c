import { existsSync, globSync, readFileSync } from 'node:fs'
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

void t.test('the section on secrets names files that exist, and every file that seals', (t) => {
  const [, section = ''] = /^## Where secrets are [^]*?$([^]*?)^## /m.exec(page) ?? []
  const named = [...section.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)].map(([, shown, file = '']) => {
    t.equal(shown, file)
    return file
  })
  t.same(named.filter((file) => !existsSync(join(root, file))), [])
  const sealing = globSync('{core,plugins,scripts}/**/*.ts', { cwd: root, exclude: ['**/node_modules/**', '**/test/**'] })
    .filter((file) => /[.\s(]seal\(/.test(readFileSync(join(root, file), 'utf8')))
  t.ok(sealing.length > 4)
  t.same(sealing.filter((file) => !named.includes(file)), [])
  t.end()
})
