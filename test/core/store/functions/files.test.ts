import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import t from 'tap'

const read = (path: string): string => readFileSync(path, 'utf8')
const files = globSync('core/store/calls/*.sql').sort()
/** `takeQueued` calls it as the owner; lease.test.ts does so by that. */
const ofAnyCompany = ['take_queued']
const called = files.filter((path) => read(path).includes('(given jsonb, moment timestamptz)')).map((path) => basename(path, '.sql'))
  .filter((name) => !ofAnyCompany.includes(name))

await t.test('each file defines the function of its name, and no other', (t) => {
  for (const path of files) {
    const defined = [...read(path).matchAll(/create function calls\.(\w+)/g)].map(([, name]) => name)
    t.same(defined, [basename(path, '.sql')])
  }
  t.end()
})

await t.test('each function that is called has a type, and a test that calls it', (t) => {
  const [, types = ''] = /export type DatabaseFunctions = \{\n([\s\S]*?)\n\}\n/.exec(read('core/store/calls/functions.ts')) ?? []
  t.same([...types.matchAll(/^ {2}(\w+): /gm)].map(([, name]) => name).sort(), called)
  const tests = globSync('test/core/store/functions/*.ts').map(read).join('\n')
  t.same(called.filter((name) => !tests.includes(`call('${name}', `)), [])
  t.end()
})
