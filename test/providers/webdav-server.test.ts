import { createNetwork } from '@dispatch/vendor-io'
import { spawn } from 'node:child_process'
import { hash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chown, mkdir, readdir, readFile, realpath, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { createAuthority } from '../../core/packages/conformance/vendor/certificates.ts'
import { freePort } from '../../scripts/free-port.ts'
import { has } from '../support/matching.ts'
import { admin, type Answer, shippedProviders, startService } from '../support/service.ts'

const [program, modules] = ['/usr/sbin/apache2', '/usr/lib/apache2/modules']
const community = fileURLToPath(new URL('../../providers/community', import.meta.url))
const skip = existsSync(program) ? false : 'Apache is not installed'
const [user, password] = ['ada', 'correct horse']

/** Apache with mod_dav over TLS: the address of its folder, where its files lie, and who signed its certificate. */
async function startWebdav (t: Test): Promise<{ url: string, folder: string, ca: string }> {
  const root = await realpath(t.testdir())
  const [folder, port, authority] = [join(root, 'files'), await freePort(), await createAuthority()]
  const { cert, key } = await authority.issue('localhost')
  await mkdir(join(folder, 'invoices'), { recursive: true })
  const written = { 'cert.pem': cert, 'key.pem': key, users: `${user}:{SHA}${hash('sha1', password, 'base64')}\n` }
  for (const [name, text] of Object.entries(written)) await writeFile(join(root, name), text)
  const asRoot = process.getuid?.() === 0
  if (asRoot) { for (const path of [root, folder, join(folder, 'invoices')]) await chown(path, 65_534, 65_534) }
  const needed = ['mpm_event', 'authn_core', 'authn_file', 'authz_core', 'authz_user', 'auth_basic', 'ssl', 'dav', 'dav_fs']
  await writeFile(join(root, 'apache.conf'), `
ServerName localhost
ServerRoot ${root}
PidFile ${root}/pid
Listen 127.0.0.1:${port}
ErrorLog ${root}/errors
${asRoot ? 'User nobody\nGroup nogroup' : ''}
${needed.map((name) => `LoadModule ${name}_module ${modules}/mod_${name}.so`).join('\n')}
DocumentRoot ${folder}
DAVLockDB ${root}/locks
SSLEngine on
SSLCertificateFile ${root}/cert.pem
SSLCertificateKeyFile ${root}/key.pem
<Location />
  Dav on
  AuthType Basic
  AuthName files
  AuthUserFile ${root}/users
  Require valid-user
</Location>
`)
  const child = spawn(program, ['-X', '-f', join(root, 'apache.conf')], { stdio: 'ignore' })
  t.teardown(async () => {
    child.kill('SIGTERM')
    if (child.exitCode === null) await new Promise((resolve) => child.once('exit', resolve))
  })
  while (!existsSync(join(root, 'pid'))) {
    if (child.exitCode !== null) throw new Error(await readFile(join(root, 'errors'), 'utf8').catch(() => 'Apache did not start.'))
    await pause(50)
  }
  return { url: `https://localhost:${port}/invoices`, folder: join(folder, 'invoices'), ca: authority.ca }
}

await t.test('webdav stores documents at a real server', { skip }, async (t) => {
  const { url, folder, ca } = await startWebdav(t)
  const network = createNetwork({ ca: [ca], loopback: 'allowed' })
  t.teardown(network.close)
  const service = await startService(t, { config: { providerDirectories: [shippedProviders, community] }, replacements: { network } })
  const configure = (settings: object): Promise<Answer> => service.send('PUT', '/api/v1/company/providers/webdav', { body: { settings } })
  async function upload (content: Uint8Array<ArrayBuffer>, filename: string, key?: string): Promise<{ status: number, body: any }> {
    const form = new FormData()
    form.set('providerName', 'webdav')
    form.set('file', new Blob([content]), filename)
    const authorization = `Basic ${Buffer.from(`${admin.email}:${admin.password}`).toString('base64')}`
    const answer = await fetch(`${service.url}/api/upload`, {
      method: 'POST',
      headers: { authorization, 'x-forwarded-proto': 'https', ...key === undefined ? {} : { 'x-idempotency-key': key } },
      body: form
    })
    return { status: answer.status, body: await answer.json() }
  }
  const bytesOf = async (name: string): Promise<Buffer> => await readFile(join(folder, name))

  has(t, await configure({ url, user, password }), { status: 200, body: { valid: true } })
  const content = Buffer.alloc(3_000_000, 'Rechnung für Zoë\n')
  const sent = await upload(content, 'Rechnung für Zoë #1?.pdf', 'one')
  has(t, sent, { status: 200, body: { providerResponse: { status: 'stored', size: content.length } } })
  t.ok((await bytesOf(sent.body.providerResponse.id as string)).equals(content))
  await upload(content, 'Rechnung für Zoë #1?.pdf', 'one')
  t.equal((await readdir(folder)).length, 1, 'the same request again is the same file')
  has(t, await upload(Buffer.alloc(0), 'empty.txt'), { status: 200 })

  await configure({ url, user, password: 'wrong horse' })
  has(t, await upload(content, 'a.pdf'), { status: 422, body: { error: 'authentication_error' } })
  await configure({ url: `${url}/missing`, user, password })
  has(t, await upload(content, 'a.pdf'), { status: 422, body: { error: 'provider_error' } })
  t.equal((await readdir(folder)).length, 2, 'what was refused left nothing')
})
