import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { directory } from '../fixtures/providers/folders.ts'
import { packed } from '../support/adapters.ts'
import { has } from '../support/matching.ts'
import { seededDatabase } from '../support/service.ts'
import { type CommandResult, dataDirectory, runDispatch } from './support/process.ts'

const DATABASE_URL = await seededDatabase(t)
const env = { DATABASE_URL, DISPATCH_DATA_DIR: dataDirectory(t) }
const packages = await directory(t)

const market = (...args: string[]): Promise<CommandResult> => runDispatch(['marketplace', ...args], { env })
const json = async (...args: string[]): Promise<any> => JSON.parse((await market(...args, '--json')).stdout)

/** The path of a package on the disk. */
async function packageAt (code: string, version: string): Promise<string> {
  const path = join(packages, `${code}-${version}.tgz`)
  await writeFile(path, packed({ code, version }))
  return path
}

await t.test('adapters are taken in, installed, upgraded, rolled back and removed while the service is down', async (t) => {
  has(t, await json('add', await packageAt('acme', '1.0.0')), { code: 'acme', state: 'available', hosts: ['api.acme.test'] })
  const refused = await market('install', 'acme')
  has(t, refused, { code: 1, stdout: '', stderr: /asks for api\.acme\.test, invoicing: list in "consent" what it may have\.\n$/ })
  const consent = ['--hosts', 'api.acme.test', '--services', 'invoicing']
  has(t, await json('install', 'acme', ...consent), { state: 'installed', version: '1.0.0', enabled: true, offer: 'all' })
  await json('add', await packageAt('acme', '1.1.0'))
  has(t, await json('upgrade', 'acme', '--version', '1.1.0'), { version: '1.1.0', previous: '1.0.0' })
  has(t, await json('rollback', 'acme'), { version: '1.0.0', previous: '1.1.0', state: 'updatable' })
  has(t, await market('list'), { code: 0, stdout: 'acme 1.0.0 (updatable): invoicing; reaches api.acme.test\n' })
  has(t, await json('show', 'acme'), {
    health: { state: 'stopped', reason: 'The service is down.' },
    versions: [{ version: '1.1.0' }, { licence: 'MIT' }]
  })
  const found = async (...query: string[]): Promise<string[]> => (await json('list', ...query)).map(({ code }: { code: string }) => code)
  t.same(await found('--service', 'invoicing', '--state', 'updatable', '--document-type', 'INVOICE', '--country', 'FR'), ['acme'])
  t.same(await found('--service', 'sms'), [])
  const wrong = await market('list', '--state', 'new')
  has(t, wrong, { code: 1, stdout: '', stderr: /^state: Expected one of .*"installed"/ })
  t.same(await json('remove', 'acme'), [])
})
