import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { directory, provide } from '../fixtures/providers/folders.ts'
import { contains, has, lacks } from '../support/matching.ts'
import { vendorOf } from '../support/vendor.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const secret = 'pigeon_test_c4n4ry9f3b1c7d2e'

/** A provider whose vendor has its address in a setting, so that it can be on this machine. */
const source = `import { defineProvider, Host, Secret, Type } from '@dispatch/core/provider'
export default defineProvider({
  code: 'local',
  name: 'Local',
  settings: Type.Object({ url: Host(), key: Secret() }),
  services: { sms: { idempotency: { kind: 'none' }, dispatch: ({ sms }, { settings, http, reference }) =>
    http.post(settings.url + '/messages', { bearer: settings.key, json: { to: sms.phoneNumber, reference } },
      Type.Object({ id: Type.String(), status: Type.String() })) } }
})`

await t.test('a fixture is recorded by a command; what is missing or there already is one line and exit code 2', async (t) => {
  const { vendor } = await vendorOf(t)
  vendor.on('POST /messages', { status: 201, json: { id: 'msg_1', status: 'queued' } })
  const here = await directory(t)
  const folder = await provide(here, 'local', { 'index.js': source })
  await writeFile(join(here, 'ca.pem'), vendor.ca)
  await writeFile(join(here, 'call.json'),
    JSON.stringify({ service: 'sms', request: { sms: { phoneNumber: '+33612345678', message: 'Hello' } } }))
  const settings = { url: `https://localhost:${vendor.port}`, key: secret }
  await writeFile(join(here, 'settings.json'), JSON.stringify(settings))
  const record = async (given: readonly string[], env: object = {}): Promise<{ code: number, stdout: string, stderr: string }> => {
    const command = [join(root, 'scripts/provider.ts'), 'record', 'local', 'dispatch', 'real', ...given]
    const whole = { ...process.env, INIT_CWD: here, NODE_EXTRA_CA_CERTS: join(here, 'ca.pem'), ...env }
    try {
      return { code: 0, ...await promisify(execFile)(process.execPath, command, { cwd: here, env: whole }) }
    } catch (error) {
      return error as { code: number, stdout: string, stderr: string }
    }
  }

  has(t, await record([]), { code: 2, stderr: /record <folder> <verb> <name> --call <file>/ })
  has(t, await record(['--call', 'call.json']), { code: 2, stderr: /\/settings\/url The field "url" is required/ })
  const first = await record(['--call', 'call.json', '--settings', 'settings.json'])
  has(t, first, { code: 0, stdout: /fixtures\/send\.real\.json is written\. Read it before you share it/ })
  const text = await readFile(join(folder, 'fixtures/send.real.json'), 'utf8')
  lacks(t, text + first.stdout + first.stderr, secret)
  const { exchange, result } = JSON.parse(text)
  t.strictSame(exchange[0].expect.json, { to: '+33612345678', reference: '{{reference}}' })
  t.strictSame(result, { outcome: 'accepted', response: { id: 'msg_1', status: 'queued' } })
  contains(t, vendor.requests[0]?.headers['authorization'], secret)

  has(t, await record(['--call', 'call.json', '--settings', 'settings.json']), { code: 2, stderr: /is there already: .*--force\.\n$/ })
  const env = { DISPATCH_PROVIDER_SETTINGS: JSON.stringify(settings) }
  has(t, await record(['--call', 'call.json', '--force'], env), { code: 0 })
  has(t, await record(['--call', 'call.json', '--force'], { DISPATCH_PROVIDER_SETTINGS: `{ ${secret}` }), {
    code: 2,
    stderr: 'DISPATCH_PROVIDER_SETTINGS is no JSON.\n'
  })
})
