import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { contains, has, lacks, matches } from '../support/matching.ts'
import { admin, seededEnvironment } from '../support/service.ts'
import { copyOfThis } from './support/checkouts.ts'
import { dataDirectory, passedOn, root, send, type ServiceProcess, startReady, stop } from './support/process.ts'

// A service that nothing else knows: one folder, its name in the one list, and a provider that does it. And a format, in the same way. The
// feature of new-feature.test.ts comes for the check of types and walls, which are dear.
const source = join(root, 'test/fixtures')
const checkout = copyOfThis(t)
const paths = {
  fax: join(checkout, 'core/packages/services/fax'),
  faxer: join(checkout, 'providers/faxer'),
  pigeon: join(checkout, 'providers/pigeon'),
  csv: join(checkout, 'core/packages/documents/formats/csv'),
  notes: join(checkout, 'core/packages/features/notes')
}

/** Changes the list beside one of these folders. */
function edit (folder: string, from: string, to: string): void {
  const list = join(folder, '../all.ts')
  const text = readFileSync(list, 'utf8')
  if (!text.includes(from)) throw new Error(`${list} does not contain: ${from}`)
  writeFileSync(list, text.replace(from, to))
}
const starting = {
  dataDirectory: dataDirectory(t),
  cwd: checkout,
  env: { ...await seededEnvironment(t), DISPATCH_SANDBOX_REQUIRED: 'off' }
}

/** Without the environment of this test. */
const run = (...args: string[]): { status: number | null, said: string } => {
  const env = { ...passedOn(checkout), PATH: process.env['PATH'], HOME: process.env['HOME'] }
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
  for (const name of ['fax', 'faxer'] as const) cpSync(join(source, 'services', name), paths[name], { recursive: true })
  cpSync(join(source, 'formats/csv'), paths.csv, { recursive: true })
  edit(paths.fax, 'import { file }', 'import { fax } from \'./fax/index.ts\'\nimport { file }')
  edit(paths.fax, 'email, file,', 'email, fax, file,')
  edit(paths.csv, 'import { docx }', 'import { csv } from \'./csv/index.ts\'\nimport { docx }')
  edit(paths.csv, 'xlsx, ', 'xlsx, csv, ')
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
    const sending = await (await page(`/console/send?template=${template.id}&draft=${randomUUID()}`)).text()
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
  await t.test('a format: validation, dispatch, OpenAPI, preview and the console', async (t) => {
    const table = {
      name: 'Rows',
      source: 'name: Rows\nservice: file\nlocale: en\nbody:\n  - table:\n      each: items\n      as: item\n      columns:\n' +
        '        - { header: Name, value: item.name }\n        - { header: Said, value: item.said }\n',
      schema: {
        type: 'object',
        properties: {
          items: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' }, said: { type: 'string' } } } }
        }
      },
      sample: { items: [{ name: 'Ada', said: 'a, "b"' }] }
    }
    const { body: rows } = await ask('POST', '/api/v1/templates', table)
    await ask('POST', `/api/v1/templates/${rows.id}/publish`, { version: 1 })
    const file = { template: { id: rows.id, data: table.sample }, file: { outputFormat: 'CSV' } }
    t.equal((await ask('POST', '/api/file/validate', file)).status, 200)
    const { body: { generatedDocument } } = await ask('POST', '/api/file', file)
    const download = await fetch(generatedDocument.url)
    t.equal(download.headers.get('content-type'), 'text/csv')
    t.equal(await download.text(), 'Name,Said\r\nAda,"a, ""b"""\r\n')
    const document = await (await fetch(`${service.url()}/openapi/1.1.0.json`)).text()
    contains(t, document, '"enum":["PDF","DOCX","XLSX","CSV"]')
    const page = await signedIn(service)
    contains(t, await (await page(`/console/templates/${rows.id}`)).text(), 'format=CSV')
    const preview = await page(`/console/templates/${rows.id}/preview?format=CSV&version=1`)
    t.equal(preview.headers.get('content-disposition'), 'attachment; filename="Rows.csv"; filename*=UTF-8\'\'Rows.csv')
    contains(t, await (await page(`/console/send?template=${rows.id}&draft=${randomUUID()}`)).text(), '>CSV<')
  })
  await stop(service)
})

await t.test('its scaffold and kit; types and walls, also with the folder of a feature', (t) => {
  cpSync(join(source, 'features/notes'), paths.notes, { recursive: true })
  const made = run('scripts/provider.ts', 'new', 'pigeon', '--service', 'fax')
  t.equal(made.status, 0, made.said)
  const kit = run('scripts/provider.ts', 'test', paths.pigeon)
  // All that is left to write is what its outline says that the vendor gets.
  contains(t, kit.said, 'The parts are none; expected to, file.')
  matches(t, kit.said, /\d+ passed, 1 failed/)
  const walls = run('scripts/check-walls.ts')
  t.equal(walls.status, 0, walls.said)
  const types = run('node_modules/@typescript/native/bin/tsc', '-p', '.', '--checkers', '1')
  t.equal(types.status, 0, types.said)
  t.end()
})

await t.test('without the folders the service is as it was', async (t) => {
  for (const path of Object.values(paths)) rmSync(path, { recursive: true })
  edit(paths.fax, 'import { fax } from \'./fax/index.ts\'\n', '')
  edit(paths.fax, 'fax, ', '')
  edit(paths.csv, 'import { csv } from \'./csv/index.ts\'\n', '')
  edit(paths.csv, 'csv, ', '')
  const service = await startReady(t, starting)
  t.equal((await send(service.url(), 'POST', '/api/fax', {})).status, 404)
  t.equal((await send(service.url(), 'GET', '/api/v1/credits')).status, 200)
  lacks(t, await (await (await signedIn(service))('/console')).text(), 'Télécopie')
  await stop(service)
})
