import { sql } from 'kysely'
import t from 'tap'
import { openConsole } from '../../../../../test/plugins/support/console.ts'
import { testProviders } from '../../../../../test/plugins/support/providers.ts'
import { has, matches } from '../../../../../test/support/matching.ts'
import { quickRenderer } from '../../../../../test/support/quick-renderer.ts'
import { type Answer, invoiceRequest, type Login, startService } from '../../../../../test/support/service.ts'
import { exceededOf } from '../../../credits/budgets.ts'
import { createBudgets } from '../service/budgets.ts'

const providers = await testProviders(t)
let [sent, failing] = [0, false]
await providers.add('counter', { of: 'sms', service: 'idempotency: { kind: \'none\' }' }, (_request, { reference }) => {
  sent++
  return Promise.resolve({ id: reference, status: 'sent' })
})
await providers.add('biller', {}, (_request, { reference }) => {
  if (failing) return Promise.reject(new TypeError('Broken.'))
  sent++
  return Promise.resolve({ id: reference, status: 'issued' })
})
// Nobody else tells of budgets.
const service = await startService(t, {
  config: { providerDirectories: providers.directories, runsWorker: false },
  replacements: { renderer: quickRenderer }
})
const { app, send } = service
const path = '/api/v1/budgets'
const late = { 'x-api-version': '1.1.0' }

let companies = 0
/** A company with providers that count what they send. */
async function newCompany () {
  const company = await service.company(`budget${String(++companies)}`)
  for (const code of ['counter', 'biller']) {
    await send('PUT', `/api/v1/company/providers/${code}`, { body: { settings: {}, sandbox: false } }, company.admin)
  }
  return company
}
const text = (login: Login | null, headers: Record<string, string> = late, way = ''): Promise<Answer> =>
  send('POST', `/api/sms${way}`, { body: { providerName: 'counter', sms: { phoneNumber: '+33612345678', message: 'Hello' } }, headers },
    login)
const invoice = (login: Login): Promise<Answer> =>
  send('POST', '/api/invoicing', { body: invoiceRequest({}, { providerName: 'biller' }), headers: late }, login)
const set = (login: Login, body: object): Promise<Answer> =>
  send('POST', path, { body: { scope: 'company', hardStop: true, ...body } }, login)
const usedOf = async (login: Login): Promise<number[]> => (await send('GET', path, {}, login)).body.data.map(({ used }: any) => used)
const statuses = (answers: readonly Answer[]): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}
const fifty = Array.from({ length: 50 })

await t.test('months are those of UTC, whatever the time zone of the server', async (t) => {
  const { admin, companyId } = await newCompany()
  const { body: { id } } = await set(admin, { unit: 'dispatches', amount: 5 })
  const { owner } = app.get('database')
  await sql`insert into budget_use (company_id, budget_id, month, used) values (${companyId}, ${id}, '2027-03-01', 4)`.execute(owner)
  const paris = await owner.connection().execute(async (queries) => {
    await sql`set timezone to 'Europe/Paris'`.execute(queries)
    try {
      const database = { ...app.get('database'), company: (_company: number, work: any) => work(queries) }
      return await exceededOf(database, companyId, Object.assign(new Error(), { detail: `${String(id)} 2027-03-01` }))
    } finally {
      await sql`reset timezone`.execute(queries)
    }
  })
  matches(t, paris.message, /4 of 5 dispatches are used/)
})

await t.test('of 50 at once, nothing is sent above a hard stop of dispatches, and the others say why', async (t) => {
  const { admin } = await newCompany()
  has(t, await set(admin, { unit: 'dispatches', amount: 7 }), { status: 201, body: { used: 0, subject: null } })
  sent = 0
  const answers = await Promise.all(fifty.map(() => text(admin)))
  t.same(statuses(answers), { 200: 7, 402: 43 })
  t.equal(sent, 7)
  const error = {
    error: 'budget_exceeded',
    message: 'The monthly budget of the company does not cover it: 7 of 7 dispatches are used. ' +
      'Nothing was sent.'
  }
  has(t, answers.find(({ status }) => status === 402), { body: error })
  has(t, await text(admin, late, '/validate'), { status: 402, body: error })
  t.equal((await text(admin, {}, '/validate')).status, 200, 'in 1.0.1 a validation knows nothing of budgets')
  has(t, await text(admin, {}), { status: 402, body: { error: 'insufficient_credits' } }, 'by a word that 1.0.1 knows')
  t.same(await usedOf(admin), [7])
  const { body: { data: [{ id }] } } = await send('GET', path, {}, admin)
  t.equal((await send('PUT', `${path}/${id}`, { body: { amount: 8, hardStop: true } }, admin)).status, 200)
  t.same(statuses(await Promise.all([text(admin), text(admin)])), { 200: 1, 402: 1 })
  t.equal((await send('DELETE', `${path}/${id}`, {}, admin)).status, 204)
  t.equal((await text(admin)).status, 200)
})

await t.test('of 50 at once, no more credits are used than a hard stop allows; what fails gives them back', async (t) => {
  const { admin } = await newCompany()
  t.equal((await invoice(admin)).status, 200)
  has(t, await set(admin, { unit: 'credits', amount: 6 }), { status: 201, body: { used: 1 } }, 'what was used before counts')
  sent = 0
  t.same(statuses(await Promise.all(fifty.map(() => invoice(admin)))), { 200: 5, 402: 45 })
  t.equal(sent, 5)
  t.equal((await text(admin)).status, 200, 'what costs nothing is sent')
  has(t, (await send('GET', '/api/v1/credits', {}, admin)).body, { balance: 94, held: 0 })
  const { body: { data: [{ id }] } } = await send('GET', path, {}, admin)
  await send('PUT', `${path}/${id}`, { body: { amount: 7, hardStop: true } }, admin)
  failing = true
  t.ok((await invoice(admin)).status >= 400)
  failing = false
  t.same(statuses([await invoice(admin), await invoice(admin)]), { 200: 1, 402: 1 })
  t.same(await usedOf(admin), [7])
})

await t.test('a user and a key have budgets of their own; a soft one refuses nothing', async (t) => {
  const { admin, member } = await newCompany()
  const { body: { id: userId } } = {
    body: (await send('GET', '/api/v1/users?limit=100', {}, admin)).body.data.find(({ email }: any) => email === member.email)
  }
  const { body: key } = await send('POST', '/api/v1/keys', { body: { name: 'Shop', mode: 'live' } }, admin)
  t.equal((await set(admin, { scope: 'user', subject: String(userId), unit: 'dispatches', amount: 1 })).status, 201)
  t.equal((await set(admin, { scope: 'key', subject: key.id, unit: 'dispatches', amount: 2 })).status, 201)
  t.equal((await set(admin, { unit: 'dispatches', amount: 0, hardStop: false })).status, 201)
  t.same(statuses(await Promise.all([text(member), text(member), text(member)])), { 200: 1, 402: 2 })
  const byKey = { ...late, authorization: `Bearer ${key.key}` }
  const answers = await Promise.all(fifty.map(() => text(null, byKey)))
  t.same(statuses(answers), { 200: 2, 402: 48 })
  has(t, answers.find(({ status }) => status === 402), { body: { message: /of this API key/ } })
  t.equal((await text(admin)).status, 200)
  t.same((await usedOf(admin)).toSorted(), [1, 2, 4])
})

await t.test('what was sent is charged above a hard stop, where it comes out only after its hold was given back', async (t) => {
  const { admin } = await newCompany()
  // One that holds nothing stands for it.
  const sendAt = new Date(Date.now() + 3_600_000).toISOString()
  const { body: { dispatchId } } = await send('POST', '/api/invoicing', {
    body: invoiceRequest({}, { providerName: 'biller', sendAt }),
    headers: late
  }, admin)
  const { owner } = app.get('database')
  t.equal((await set(admin, { unit: 'credits', amount: 0 })).status, 201)
  await owner.transaction().execute(async (queries) => {
    await sql`select set_config('app.moment', now()::text, true)`.execute(queries)
    await queries.updateTable('steps').where('dispatch_id', '=', dispatchId as string).set((of) => ({ charged: of.ref('price') })).execute()
  })
  t.ok((await usedOf(admin))[0])
  t.equal((await invoice(admin)).status, 402)
})

await t.test('what is scheduled counts in the month in which it is due, and moves with it', async (t) => {
  const { admin } = await newCompany()
  const next = new Date(Date.now() + 45 * 86_400_000).toISOString()
  const later = (way = ''): Promise<Answer> =>
    send('POST', `/api/sms${way}`, {
      body: { providerName: 'counter', sendAt: next, sms: { phoneNumber: '+33612345678', message: 'Hello' } },
      headers: late
    }, admin)
  const move = (id: string, body: object): Promise<Answer> =>
    send('PUT', `/api/v1/dispatches/${id}/schedule`, { body, headers: late }, admin)
  const { body: { dispatchId } } = await later()
  t.equal((await set(admin, { unit: 'dispatches', amount: 1 })).status, 201)
  t.same(await usedOf(admin), [0])
  has(t, await later('/validate'), { status: 402, body: { message: /: 1 of 1 dispatches are used/ } }, 'what was scheduled before counts')
  has(t, await later(), { status: 402, body: { message: /: 1 of 1 dispatches are used/ } })
  t.equal((await text(admin)).status, 200)
  has(t, await move(dispatchId as string, {}), { status: 402, body: { error: 'budget_exceeded' } })
  const { body: { data: [{ id }] } } = await send('GET', path, {}, admin)
  await send('PUT', `${path}/${id}`, { body: { amount: 2, hardStop: true } }, admin)
  t.equal((await move(dispatchId as string, {})).status, 200)
  t.same(await usedOf(admin), [2])
  t.equal((await later()).status, 200, 'its place in the other month is free')
})

await t.test('a dispatch that is cancelled before anything was sent gives back its place in its month', async (t) => {
  const { admin } = await newCompany()
  const later = (days: number): Promise<Answer> =>
    send('POST', '/api/sms', {
      body: {
        providerName: 'counter',
        sendAt: new Date(Date.now() + days * 86_400_000).toISOString(),
        sms: { phoneNumber: '+33612345678', message: 'Hello' }
      },
      headers: late
    }, admin)
  const cancel = async ({ body: { dispatchId } }: Answer): Promise<void> => {
    has(t, await send('POST', `/api/v1/dispatches/${dispatchId}/cancel`, {}, admin), { status: 200 })
  }
  const before = [await later(45), await later(45)]
  await cancel(before[0]!)
  t.equal((await set(admin, { unit: 'dispatches', amount: 1 })).status, 201)
  t.equal((await later(45)).status, 402, 'of what was scheduled before, one counts')
  await cancel(before[1]!)
  const next = await later(45)
  t.equal(next.status, 200)
  t.same(await usedOf(admin), [0])
  t.equal((await text(admin)).status, 200)
  t.same(await usedOf(admin), [1])
  t.equal((await send('POST', `/api/v1/dispatches/${next.body.dispatchId}/cancel`, {}, admin)).status, 200)
  t.equal((await send('POST', `/api/v1/dispatches/${next.body.dispatchId}/cancel`, {}, admin)).status, 409, 'once')
  t.same(await usedOf(admin), [1], 'another month is not touched')
  t.equal((await later(45)).status, 200)
  t.equal((await later(45)).status, 402)
})

await t.test('a budget is for whom the company has, once, and its admins alone set it', async (t) => {
  const [{ admin, member }, other] = [await newCompany(), await newCompany()]
  const [{ id }] = (await send('GET', '/api/v1/users', {}, other.admin)).body.data
  const unit = 'dispatches'
  has(t, await set(admin, { scope: 'user', subject: String(id), unit, amount: 1 }), {
    status: 422,
    body: { details: [{ path: '/subject' }] }
  })
  t.equal((await set(admin, { scope: 'company', subject: '1', unit, amount: 1 })).status, 422)
  has(t, await set(admin, { scope: 'key', unit, amount: 1 }), {
    status: 422,
    body: { details: [{ path: '/subject', code: 'required', message: 'Name the key whose budget it is.' }] }
  })
  t.equal((await set(admin, { unit, amount: -1 })).status, 400)
  t.equal((await set(member, { unit, amount: 1 })).status, 403)
  const { body: budget } = await set(admin, { unit, amount: 1 })
  t.equal((await set(admin, { unit, amount: 1 })).status, 409)
  const { body: { data } } = await send('GET', '/api/v1/audit?limit=50', {}, admin)
  t.equal((data as { action: string }[]).filter(({ action }) => action === 'budget.added').length, 1, 'what was refused was not done')
  t.same(await usedOf(other.admin), [])
  for (const method of ['PUT', 'DELETE']) {
    const body = method === 'PUT' ? { body: { amount: 1, hardStop: false } } : {}
    t.equal((await send(method, `${path}/${budget.id}`, body, other.admin)).status, 404)
  }
})

await t.test('a company is told at 80 and at 100 %, once each: by callback, and its admins by mail', async (t) => {
  const keeper = await service.company('keeper')
  await send('PUT', '/api/v1/company/providers/simulator', { body: { settings: { allowedSenders: ['@acme.test'] } } }, keeper.admin)
  t.equal(
    (await send('PUT', '/api/v1/link-mail', { body: { providerName: 'simulator', from: 'hello@acme.test' } }, keeper.operator)).status,
    200
  )
  const { admin: unlucky, companyId: broken } = await newCompany()
  await set(unlucky, { unit: 'dispatches', amount: 0 })
  const { admin, companyId } = await newCompany()
  const { body: { id } } = await send('POST', '/api/v1/company/callback-endpoints', { body: { name: 'A', url: 'https://a.acme.test/' } },
    admin)
  const get = app.get.bind(app)
  const linkMail = get('linkMail')
  let failure: Error | undefined
  /** What happens while the mails are sent. */
  let meanwhile: (() => Promise<unknown>) | undefined
  const { tell } = createBudgets({
    database: get('database'),
    linkMail: {
      ...linkMail,
      async message (mail) {
        if (failure !== undefined) throw failure
        await meanwhile?.()
        await linkMail.message(mail)
      }
    },
    outbox: {
      async tell (queries, ofCompany, event) {
        if (ofCompany === broken) throw new Error('The callbacks of this company fail.')
        await get('outbox').tell(queries, ofCompany, event)
      }
    },
    log: get('log'),
    newId: get('newId'),
    now: get('now'),
    publicUrl: get('config').publicUrl
  })
  const reported = async (): Promise<number> =>
    (await send('GET', `/api/v1/company/callback-endpoints/${id}/callbacks`, {}, admin)).body.data
      .filter(({ type }: any) => type === 'company.budget_reached').length
  const mails = async (): Promise<number> => {
    const query = `metadata[mail]=message&metadata[company]=${String(companyId)}`
    const { body } = await send('GET', `/api/v1/dispatches?${query}`, {}, keeper.operator)
    return body.data.length
  }
  await set(admin, { unit: 'dispatches', amount: 5 })
  for (const [dispatches, expected] of [[3, 0], [1, 1], [1, 2], [0, 2]] as const) {
    for (let number = 0; number < dispatches; number++) t.equal((await text(admin)).status, 200)
    await Promise.all([tell(), tell(), tell()])
    await tell()
    t.equal(await reported(), expected)
    t.equal(await mails(), expected)
  }

  const change = async (amount: number): Promise<unknown> => {
    const { body: { data: [budget] } } = await send('GET', path, {}, admin)
    return send('PUT', `${path}/${budget.id}`, { body: { amount, hardStop: false } }, admin)
  }
  await change(7)
  t.equal((await text(admin)).status, 200)
  failure = new Error('The database is away.')
  await tell()
  t.same([await reported(), await mails()], [3, 2], 'a mail that fails holds up no callback')
  failure = undefined
  meanwhile = () => text(admin)
  await tell()
  t.same([await reported(), await mails()], [3, 3], 'a mail that failed is tried again')
  meanwhile = undefined
  await tell()
  t.same([await reported(), await mails()], [4, 4], 'what is used while a mail is sent has a mail of its own')
})

await t.test('the page sets, changes and removes budgets, and says what is wrong', async (t) => {
  const { admin } = await newCompany()
  const console = openConsole(service)
  const cookie = await console.signIn(admin)
  matches(t, (await console.open('/usage/budgets', cookie)).body, /There is no budget/)
  matches(t, (await console.post('/usage/budgets', { of: 'company', unit: 'dispatches', amount: 'many' }, cookie)).body, /value="many"/)
  t.equal((await console.post('/usage/budgets', { of: 'company', unit: 'dispatches', amount: '9', hardStop: 'true' }, cookie)).status, 303)
  matches(t, (await console.open('/usage/budgets', cookie)).body, /0 of 9 dispatches/)
  const [{ id }] = (await send('GET', path, {}, admin)).body.data
  t.equal((await console.post(`/usage/budgets/${id}`, { amount: '10' }, cookie)).status, 303)
  has(t, (await send('GET', path, {}, admin)).body.data, [{ amount: 10, hardStop: false }])
  const removed = await console.post(`/usage/budgets/${id}/remove`, {}, cookie)
  matches(t, removed.body, /name="of" value="company">.*name="amount" value="10">/s, 'it can be set again')
  t.same(await usedOf(admin), [])
})
