import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { contains, has, lacks, matches } from '../support/matching.ts'
import { testDatabase } from '../support/postgres.ts'
import { admin } from '../support/service.ts'
import { copyOfThis } from './support/checkouts.ts'
import { dataDirectory, root, send, type ServiceProcess, startReady, stop } from './support/process.ts'

// A service that nothing else knows: one folder, its name in the one list, and a provider that does it.
const source = join(root, 'test/fixtures/services')
const checkout = copyOfThis(t)
const [folder, list, provider] = ['core/services/fax', 'core/services/all.ts', 'providers/faxer'].map((path) => join(checkout, path)) as [
  string,
  string,
  string
]
const without = readFileSync(list, 'utf8')
const { url: databaseUrl } = await testDatabase(t)
const starting = {
  dataDirectory: dataDirectory(t),
  cwd: checkout,
  env: { DATABASE_URL: databaseUrl, DISPATCH_MASTER_KEY: randomBytes(32).toString('base64'), DISPATCH_SANDBOX_REQUIRED: 'off' }
}

/** Without the environment of this test. */
const run = (...args: string[]): { status: number | null, said: string } => {
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'] }
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: checkout,
    env,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024
  })
  return { status, said: stdout + stderr }
}

/** The pages of the console for somebody who has signed in. */
async function signedIn (service: ServiceProcess): Promise<(path: string, form?: [string, string][]) => Promise<Response>> {
  const ask = (path: string, cookie: string, form?: URLSearchParams): Promise<Response> =>
    fetch(`${service.url()}${path}`, {
      redirect: 'manual',
      headers: { cookie, 'accept-language': 'fr', origin: service.url() },
      ...form === undefined ? {} : { method: 'POST', body: form }
    })
  const answer = await ask('/console/sign-in', '', new URLSearchParams(admin))
  const cookie = answer.headers.getSetCookie().map((line) => line.split(';', 1)[0]).join('; ')
  return (path, form) => ask(path, cookie, form === undefined ? undefined : new URLSearchParams(form))
}

const letter = {
  name: 'Note',
  source: 'name: Note\nservice: fax\nlocale: en\nbody:\n  - paragraph: Dear {{ name }}\n',
  schema: { type: 'object', additionalProperties: false, required: ['name'], properties: { name: { type: 'string' } } },
  sample: { name: 'Ada' }
}

await t.test('a folder and its name in the list: routes, validation, OpenAPI, chains, prices, statuses and the console', async (t) => {
  cpSync(join(source, 'fax'), folder, { recursive: true })
  cpSync(join(source, 'faxer'), provider, { recursive: true })
  writeFileSync(list,
    without.replace('import { file }', 'import { fax } from \'./fax/index.ts\'\nimport { file }').replace('email, file,',
      'email, fax, file,'))
  const service = await startReady(t, starting)
  const ask = (method: string, path: string, body?: object) => send(service.url(), method, path, body)

  await t.test('the document of the API has its routes, chains, fields and statuses', async (t) => {
    const document = await (await fetch(`${service.url()}/openapi/1.1.0.json`)).json() as {
      paths: Record<string, { post?: { operationId: string, summary: string } }>
      webhooks: object
    }
    has(t, document.paths['/api/fax']?.post, { operationId: 'dispatchFax', summary: 'Sends a fax.' })
    for (const path of ['/api/fax/validate', '/api/file/fax', '/api/fax/email', '/api/invoicing/fax']) t.ok(document.paths[path], path)
    t.ok(Object.hasOwn(document.webhooks, 'fax.transmitted'), 'its statuses are callbacks')
    contains(t, JSON.stringify(document), 'FaxFields')
  })

  const { body: template } = await ask('POST', '/api/v1/templates', letter)
  await ask('POST', `/api/v1/templates/${template.id}/publish`, { version: 1 })
  const request = { template: { id: template.id, data: { name: 'Ada' } }, fax: { faxNumber: '+33142685300' } }

  await t.test('a request is validated by its rules, and dispatched through its provider at its price', async (t) => {
    t.equal((await ask('PUT', '/api/v1/company/providers/faxer', { settings: {} })).status < 300, true)
    t.equal((await ask('PUT', '/api/v1/company/defaults/fax', { providerName: 'faxer' })).status, 200)
    const wrong = await ask('POST', '/api/fax/validate', { ...request, fax: { faxNumber: '+33', resolution: 'FINE' } })
    contains(t, JSON.stringify(wrong.body), '/fax/faxNumber')
    const dear = await ask('POST', '/api/fax', { ...request, fax: { faxNumber: '+33142685300', resolution: 'FINE' } })
    contains(t, JSON.stringify(dear.body), '/fax/resolution')
    const sent = await ask('POST', '/api/fax', request)
    has(t, sent, { status: 200, body: { providerResponse: { id: 'fax-+33142685300', status: 'dialled' } } })
    const chained = await ask('POST', '/api/file/fax', { template: request.template, fax: request.fax })
    t.equal(chained.status, 200)
    const { body: { data } } = await ask('GET', '/api/v1/dispatches?service=fax')
    t.equal(data.length, 2)
    const { body: { steps: [step] } } = await ask('GET', `/api/v1/dispatches/${sent.body.dispatchId}`)
    t.equal(step.creditsCharged, 2)
  })

  await t.test('the console offers it, in its words, and takes the right to it from nobody', async (t) => {
    const page = await signedIn(service)
    const sending = await (await page(`/console/send?template=${template.id}`)).text()
    for (const word of ['Télécopie', 'Numéro de télécopie', 'Résolution']) contains(t, sending, word)
    contains(t, await (await page('/console/dispatches')).text(), 'Télécopie')
    const { body: user } = await ask('POST', '/api/v1/users', {
      email: 'faxes@example.com',
      password: 'a long enough password',
      role: 'member',
      services: ['fax']
    })
    const at = `/console/company/users/${user.id}`
    const rights = await (await page(at)).text()
    contains(t, rights, 'name="service" value="fax" checked')
    const names = [...rights.matchAll(/name="service" value="(\w+)" checked/g)].map(([, name = '']): [string, string] => ['service', name])
    await page(`${at}/rights`, [['email', 'faxes@example.com'], ['role', 'member'], ...names])
    t.same((await ask('GET', `/api/v1/users/${user.id}`)).body.services, ['fax'], 'who saves the form as it is changes nothing')
  })
  await stop(service)
})

await t.test('its types, walls, scaffold and kit', (t) => {
  const made = run('scripts/provider.ts', 'new', 'pigeon', '--service', 'fax')
  t.equal(made.status, 0, made.said)
  const kit = run('scripts/provider.ts', 'test', join(checkout, 'providers/pigeon'))
  // All that is left to write is what its outline says that the vendor gets.
  contains(t, kit.said, 'The parts are none; expected to, file.')
  matches(t, kit.said, /\d+ passed, 1 failed/)
  const walls = run('scripts/check-walls.ts')
  t.equal(walls.status, 0, walls.said)
  const types = run('node_modules/@typescript/native/bin/tsc', '-p', '.', '--incremental', 'false')
  t.equal(types.status, 0, types.said)
  t.end()
})

await t.test('without the folder the service is as it was', async (t) => {
  rmSync(folder, { recursive: true })
  for (const name of ['faxer', 'pigeon']) rmSync(join(checkout, 'providers', name), { recursive: true })
  writeFileSync(list, without)
  const service = await startReady(t, starting)
  t.equal((await send(service.url(), 'POST', '/api/fax', {})).status, 404)
  t.equal((await send(service.url(), 'GET', '/api/v1/credits')).status, 200)
  lacks(t, await (await (await signedIn(service))('/console')).text(), 'Télécopie')
  await stop(service)
})
