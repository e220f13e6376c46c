import type { ServicePath } from '@dispatch/contract'
import { type ServiceName, serviceNames } from '@dispatch/services'
import { sql } from 'kysely'
import t from 'tap'
import { isError } from '../hostile/support.ts'
import { chainBody } from '../support/chains.ts'
import { contains } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { admin, type Answer, invoiceRequest, type Login, operator, startService } from '../support/service.ts'
import { letter } from './support/templates.ts'

const service = await startService(t, { replacements: { renderer: quickRenderer } })
const { send } = service
const { owner } = service.app.get('database')

let users = 0
/** A user of "Demo" who may use what an admin has given them. */
async function user (...permitted: readonly string[]): Promise<Login & { id: number }> {
  const login = { email: `permitted-${++users}@example.com`, password: 'a good password' }
  const { body } = await send('POST', '/api/v1/users', { body: { ...login, role: 'member', services: permitted } }, admin)
  return { ...login, id: body.id as number }
}

/** A new number each time: a vendor takes one once. */
const template = (): unknown => invoiceRequest()['template']
const dispatches = async (): Promise<number> =>
  Number((await owner.selectFrom('dispatches').select(({ fn }) => fn.countAll().as('count')).executeTakeFirstOrThrow()).count)
const form = (): FormData => {
  const data = new FormData()
  data.set('file', new Blob(['hello']), 'hello.txt')
  return data
}

/** What a request for one service needs. */
function alone (name: ServiceName): Record<string, unknown> {
  if (name === 'email') return { from: 'demo@example.com', to: ['ada@example.com'], subject: 'Hello', body: 'Hello' }
  return name === 'sms' ? { sms: { phoneNumber: '+33612345678', message: 'Hello' } } : chainBody([name], template())
}

async function request (
  path: readonly ServiceName[],
  ending: '' | '/validate',
  login: Login,
  more: Record<string, unknown> = {}
): Promise<Answer> {
  if (path[0] === 'upload') return upload(login)
  return send('POST', `/api/${path.join('/')}${ending}`, {
    body: { ...path.length === 1 && path[0] !== undefined ? alone(path[0]) : chainBody(path, template()), ...more }
  }, login)
}

async function upload ({ email, password }: Login): Promise<Answer> {
  const response = await fetch(`${service.url}/api/upload`, {
    method: 'POST',
    body: form(),
    headers: { authorization: `Basic ${Buffer.from(`${email}:${password}`).toString('base64')}` }
  })
  return { status: response.status, headers: response.headers, body: await response.json() }
}

await t.test('a user without a service\'s permission gets 403 for it alone: all others answer', async (t) => {
  for (const withheld of serviceNames) {
    const login = await user(...serviceNames.filter((name) => name !== withheld))
    for (const name of serviceNames) {
      for (const ending of name === 'upload' ? [''] as const : ['', '/validate'] as const) {
        const answer = await request([name], ending, login)
        if (name === withheld) isError(t, answer, 'forbidden', `${name}${ending}`)
        else t.equal(answer.status, 200, `without ${withheld}: ${name}${ending} is ${answer.status}`)
      }
    }
  }
})

const paths: readonly ServicePath[] = [
  ['file', 'email'],
  ['invoicing', 'email'],
  ['esign', 'sms'],
  ['postal', 'upload'],
  [
    'invoicing',
    'email',
    'upload'
  ],
  ['file', 'esign', 'email', 'upload'],
  ['invoicing', 'postal', 'email', 'sms']
]

await t.test('in a chain a permission that is missing at any position is a 403, and nothing of the chain is done', async (t) => {
  for (const path of paths) {
    const before = await dispatches()
    for (const withheld of path) {
      const login = await user(...path.filter((name) => name !== withheld))
      for (const ending of ['', '/validate'] as const) {
        const answer = await request(path, ending, login)
        isError(t, answer, 'forbidden', `${path.join('/')}${ending} without ${withheld}`)
        contains(t, answer.body.message, `"${withheld}"`)
      }
    }
    t.equal(await dispatches(), before)
    t.equal((await request(path, '/validate', await user(...path))).status, 200, `${path.join('/')} with all of them`)
    t.equal((await request(path, '/validate', await user('*'))).status, 200)
  }
})

await t.test('what is deferred needs its permission when it is asked for', async (t) => {
  const deferred = { deferred: [{ on: 'esign.completed', service: 'upload' }] }
  const [without, allowed] = [await user('esign'), await user('esign', 'upload')]
  for (const ending of ['', '/validate'] as const) {
    const answer = await request(['esign'], ending, without, deferred)
    isError(t, answer, 'forbidden', ending)
    contains(t, answer.body.message, '"upload"')
    t.equal((await request(['esign'], ending, allowed, deferred)).status, 200)
  }
})

const adminsOnly = [['PUT', '/api/v1/company/defaults/sms'], ['PUT', '/api/v1/company/providers/simulator'], ['POST', '/api/v1/users'], [
  'PUT',
  '/api/v1/users/1'
], ['PUT', '/api/v1/company'], ['POST', '/api/v1/templates'], ['PUT', '/api/v1/templates/1'], ['POST', '/api/v1/templates/1/publish'], [
  'POST',
  '/api/v1/templates/preview'
], ['POST', '/api/v1/assets'], ['POST', '/api/v1/queue/release'], ['POST', '/auth/impersonate'], ['POST',
  '/api/v1/dispatches/0198c0de-0000-7000-8000-000000000000/resolve']] as const
const operatorsOnly = [['POST', '/api/v1/companies'], ['PUT', '/api/v1/companies/1'], ['POST', '/api/v1/companies/1/credits'], [
  'POST',
  '/api/v1/queue/holds/0198c0de-0000-7000-8000-000000000000/resolve'
]] as const

await t.test('who has not the role learns nothing of what the body or the query should be', async (t) => {
  const member = await user('*')
  const requested = [...adminsOnly.map(([method, path]) => ({ method, path, by: member })),
    ...operatorsOnly.map(([method, path]) => ({ method, path, by: admin }))]
  for (const { method, path, by } of requested) {
    for (const call of [{ body: { name: 5 } }, { body: '{', headers: { 'content-type': 'application/json' } }]) {
      const answer = await send(method, path, call, by)
      isError(t, answer, 'forbidden', `${method} ${path}`)
      t.equal(Object.hasOwn(answer.body, 'details'), false, `${method} ${path}`)
    }
  }
  isError(t, await send('GET', '/api/v1/companies?limit=none', {}, admin), 'forbidden')
  isError(t, await send('POST', '/api/v1/companies', { body: { name: 5 } }, operator), 'validation_error')
})

await t.test('the permission comes before anything that tells of the company: a template, a configuration, a body', async (t) => {
  const login = await user('sms')
  const hidden = await send('POST', '/api/invoicing', { body: { ...invoiceRequest(), template: { id: 999, data: {} } } }, login)
  isError(t, hidden, 'forbidden')
  isError(t, await send('POST', '/api/invoicing', { body: invoiceRequest({}, { providerName: 'nobody' }) }, login), 'forbidden')
})

await t.test('a permission that is given or taken holds for the next request, by every scheme', async (t) => {
  const login = await user('sms')
  const { body: { data: { token } } } = await send('POST', '/auth', { body: { username: login.email, password: login.password } }, null)
  const statuses = async (): Promise<number[]> => [
    (await send('POST', '/api/invoicing/validate', { body: invoiceRequest() }, login)).status,
    (await send('POST', '/api/invoicing/validate', { body: invoiceRequest(), headers: { authorization: `Bearer ${token}` } }, null)).status
  ]
  for (const [permitted, status] of [[['sms'], 403], [['invoicing'], 200], [[], 403], [['*'], 200]] as const) {
    t.equal((await send('PUT', `/api/v1/users/${login.id}`, { body: { services: permitted } }, admin)).status, 200)
    t.strictSame(await statuses(), [status, status], permitted.join())
  }
})

await t.test('a dispatch is retried and cancelled only by who may use its services, and chosen for oneself ' +
  'is only what one may use', async (t) => {
  const login = await user('sms')
  const failed = (await send('POST', '/api/invoicing', { body: invoiceRequest({}, { invoicing: { reference: 'reject' } }) })).body
    .dispatchId as string
  for (const verb of ['retry', 'cancel']) {
    isError(t, await send('POST', `/api/v1/dispatches/${failed}/${verb}`, {}, login), 'not_found', verb)
  }
  isError(t, await send('PUT', '/api/v1/my/config/invoicing', { body: { providerName: 'simulator' } }, login), 'forbidden')
  t.equal((await send('PUT', '/api/v1/my/config/sms', { body: { providerName: 'simulator' } }, login)).status, 200)
})

await t.test('who may use some services reads what has no step of another one, deferred steps too', async (t) => {
  const { admin, companyId } = await service.company('bounded')
  const login = { email: 'of-esign@bounded.example.com', password: 'a good password' }
  await send('POST', '/api/v1/users', { body: { ...login, role: 'member', services: ['esign', 'file'] } }, admin)
  const sent = async (path: readonly ServiceName[], more: object = {}): Promise<string> =>
    (await send('POST', `/api/${path.join('/')}`, { body: { ...chainBody(path, template()), ...more } }, admin)).body.dispatchId
  for (const name of ['esign', 'upload']) {
    await send('PUT', `/api/v1/company/defaults/${name}`, { body: { providerName: 'simulator' } }, admin)
  }
  const [invoice, both, deferred, signed, file] = [
    await sent(['invoicing']),
    await sent(['file', 'upload']),
    await sent(['esign'], { deferred: [{ on: 'esign.completed', service: 'upload' }] }),
    await sent(['esign']),
    await sent(['file'])
  ]
  const listed = async (query = ''): Promise<string[]> =>
    (await send('GET', `/api/v1/dispatches${query}`, {}, login)).body.data.map(({ dispatchId }: any) => dispatchId as string)
  t.same(await listed(), [file, signed])
  t.same(await listed('?limit=1'), [file])
  t.same(await listed(`?limit=1&cursor=${file}`), [signed])
  t.same([await listed('?service=esign'), await listed('?service=invoicing'), await listed(`?search=${invoice}`)], [[signed], [], []])
  for (const id of [invoice, both, deferred]) {
    for (const ending of ['', '/request', '/events', '/choices', '/callbacks', '/changes?seconds=1']) {
      t.equal((await send('GET', `/api/v1/dispatches/${id}${ending}`, {}, login)).status, 404, ending)
    }
    for (const verb of ['retry', 'cancel']) isError(t, await send('POST', `/api/v1/dispatches/${id}/${verb}`, {}, login), 'not_found', verb)
  }
  const { rows } = await sql<{ document_id: string, dispatch_id: string }>`select document_id, dispatch_id from documents
    where company_id = ${companyId}`.execute(owner)
  for (const { document_id: document, dispatch_id: dispatch } of rows) {
    t.equal((await send('GET', `/api/v1/documents/${document}`, {}, login)).status, [signed, file].includes(dispatch) ? 200 : 404)
  }
  const { body: { data: counted } } = await send('GET', '/api/v1/dispatches/statistics', {}, login)
  t.same(counted.map(({ service, count }: any) => [service, count]), [['esign', 2], ['file', 1]], 'numbers tell nothing of deferred steps')
  const { body: changes } = await send('GET', '/api/v1/dispatches/changes?seconds=1', {}, login)
  for (const [id, isReported] of [[invoice, false], [both, false], [signed, true], [file, true]] as const) {
    t.equal(String(changes).includes(id), isReported)
  }
})

await t.test('who may use some services configures what offers nothing else, and reads what offers some of them', async (t) => {
  const { admin } = await service.company('configured')
  const login = { email: 'of-sms@configured.example.com', password: 'a good password' }
  await send('POST', '/api/v1/users', { body: { ...login, role: 'admin', services: ['sms'] } }, admin)
  const configure = (code: string, whose = 'company', method = 'PUT', by = login): Promise<Answer> =>
    send(method, `/api/v1/${whose}/providers/${code}`, method === 'PUT' ? { body: { settings: {} } } : {}, by)
  for (const [code, whose] of [['simulator', 'company'], ['stripe', 'company'], ['stripe', 'my']] as const) {
    for (const method of ['PUT', 'DELETE']) isError(t, await configure(code, whose, method), 'forbidden', `${method} ${whose} ${code}`)
  }
  isError(t, await send('POST', '/api/v1/company/providers/simulator/check', {}, login), 'forbidden')
  isError(t, await send('PUT', '/api/v1/company/defaults/email', { body: { providerName: 'simulator' } }, login), 'forbidden')
  t.equal((await send('PUT', '/api/v1/company/defaults/sms', { body: { providerName: 'simulator' } }, login)).status, 200)
  t.equal((await configure('simulator', 'my')).status, 200, 'their own counts for what they may use')
  const { body } = await send('GET', '/api/v1/my/config', {}, login)
  t.same([Object.keys(body.services), Object.keys(body.company.choices)], [['sms'], ['sms']])
  t.same(Object.keys((await send('GET', '/api/v1/my/config', {}, admin)).body.company.choices).sort(), ['invoicing', 'sms'])
  isError(t, await send('POST', '/api/v1/templates', { body: letter({ name: 'Letter' }) }, login), 'forbidden')
  const { body: { id } } = await send('POST', '/api/v1/templates', { body: letter({ name: 'Letter' }) }, admin)
  isError(t, await send('PUT', `/api/v1/templates/${String(id)}`, { body: { baseVersion: 1, ...letter({ name: 'Letter' }) } }, login),
    'forbidden')
  isError(t, await send('POST', `/api/v1/templates/${String(id)}/publish`, { body: { version: 1 } }, login), 'forbidden')
  isError(t, await send('DELETE', `/api/v1/templates/${String(id)}`, {}, login), 'forbidden')
  isError(t, await send('POST', '/api/v1/company/callback-endpoints', { body: { name: 'All', url: 'https://all.test/' } }, login),
    'forbidden')
})
