import { PDFDocument } from '@cantoo/pdf-lib'
import type { LinkMail } from '@dispatch/accounts'
import { DispatchError } from '@dispatch/contract'
import type { Pipeline } from '@dispatch/core'
import fc from 'fast-check'
import { sql } from 'kysely'
import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { languages } from '../../../../../plugins/console/language/language.ts'
import { until } from '../../../../../test/core/work/support.ts'
import { openConsole } from '../../../../../test/plugins/support/console.ts'
import { invoiceYaml, letter } from '../../../../../test/plugins/support/templates.ts'
import { contains, has, matches, type Pattern } from '../../../../../test/support/matching.ts'
import { quickRenderer } from '../../../../../test/support/quick-renderer.ts'
import { type Answer, invoiceRequest, type Login, operator, startService } from '../../../../../test/support/service.ts'
import { createVendor, vendorNetwork } from '../../../conformance/vendor/vendor.ts'
import { maxWaiting } from '../contract/approvals.ts'
import { maxRules } from '../contract/rules.ts'
import { rowsSection } from '../pages/rows.ts'
import { wordsOf } from '../pages/words.ts'
import { createApprovals } from '../service/approvals.ts'
import { createNotifier } from '../service/notify.ts'
import { addApproval, lapseConsents, listUnnotified, noteMailed, notifyLater, removeOld } from '../store/approvals.ts'

const receiver = await createVendor()
const service = await startService(t, { replacements: { network: vendorNetwork(receiver), renderer: quickRenderer } })
t.teardown(receiver.close)
const { app } = service
/** Before 1.1.0 nothing waits. */
const send: typeof service.send = (method, path, { headers = {}, ...sending } = {}, ...login) =>
  service.send(method, path, { ...sending, headers: { 'x-api-version': '1.1.0', ...headers } }, ...login)
const { owner } = app.get('database')
const none = () => Promise.resolve(undefined)
const noBatches = { resumeApproved: none, find: none, end: none, toApprove: none, kept: () => Promise.resolve({ rows: [], next: null }) }
const rulesPath = '/api/v1/company/approval-rules'

/** A company with rules, and what two of its people do. */
async function approving (name: string, ...rules: object[]) {
  const company = await service.company(name)
  const { admin, member, companyId } = company
  await send('POST', `/api/v1/companies/${companyId}/credits`, { body: { amount: 100, reason: 'Test' } }, operator)
  for (const rule of rules) has(t, await send('POST', rulesPath, { body: rule }, admin), { status: 201 })
  const keyOf = async (scopes: string[], login: Login, mode = 'live'): Promise<string> =>
    (await send('POST', '/api/v1/keys', { body: { name: 'Program', mode, scopes } }, login)).body.key as string
  const as = (bearer: string, method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
    send(method, path, { headers: { authorization: `Bearer ${bearer}`, ...headers }, ...body === undefined ? {} : { body } }, null)
  /** Everything that was sent in earnest. */
  const sent = async (): Promise<string[]> =>
    (await send('GET', '/api/v1/dispatches?limit=100&test=false', {}, admin)).body.data
      .map(({ dispatchId }: { dispatchId: string }) => dispatchId)
  const read = async (id: string, login: Login = admin): Promise<Answer> => send('GET', `/api/v1/approvals/${id}`, {}, login)
  const approve = async (id: string, login: Login = admin): Promise<Answer> => {
    const { body } = await read(id, login)
    return send('POST', `/api/v1/approvals/${id}/approve`, { body: body.review === null ? {} : { seen: body.review.seen } }, login)
  }
  return { ...company, admin, member, companyId, keyOf, as, sent, read, approve }
}

const idOf = async ({ email: username, password }: Login): Promise<number> =>
  (await send('POST', '/auth', { body: { username, password } }, null)).body.data.userId as number

const everything = { name: 'Everything' }
const text = (message = 'Hello'): object => ({ providerName: 'simulator', sms: { phoneNumber: '+33612345678', message } })

await t.test('what needs it waits; somebody else sees and approves it, and it is sent once, as its asker', async (t) => {
  const { admin, member, sent, read, approve } = await approving('waiting', {
    name: 'Invoices above 1,000',
    services: ['invoicing'],
    amountAbove: 1_000
  })
  const small = invoiceRequest({
    lines: [{ description: 'x', quantity: 1, unitPrice: 10, total: 10 }],
    subtotal: 10,
    taxAmount: 2,
    total: 12
  }, { providerName: 'simulator' })
  has(t, await send('POST', '/api/invoicing', { body: small }, member), { status: 200, body: { success: true } })
  const [before, body] = [await sent(), invoiceRequest({}, { providerName: 'simulator', metadata: { order: '7' } })]
  const headers = { 'x-idempotency-key': 'big-1', 'x-api-version': '1.1.0' }
  has(t, await send('POST', '/api/invoicing/validate', { body, headers }, member), {
    status: 200,
    body: { approval: { rules: ['Invoices above 1,000'] } }
  })
  const requested = await send('POST', '/api/invoicing', { body, headers }, member)
  has(t, requested, { status: 202, body: { success: true, status: 'approval_required', metadata: { order: '7' } } })
  const { approvalId } = requested.body
  const again = await send('POST', '/api/invoicing', { body, headers }, member)
  has(t, again, { status: 202, body: { approvalId } })
  t.equal(again.headers.get('idempotency-replayed'), 'true')
  has(t, await send('POST', '/api/invoicing', { body: small, headers }, member), { status: 422, body: { error: 'idempotency_key_reused' } })
  t.same(await sent(), before, 'nothing has left')

  has(t, await approve(approvalId, member), { status: 403 })
  const seen = await read(approvalId)
  has(t, seen, {
    body: {
      status: 'waiting',
      mayDecide: true,
      askedBy: member.email,
      amount: 1080,
      currency: 'EUR',
      recipient: 'Ada Lovelace',
      request: body as Pattern,
      review: { plan: [{ service: 'invoicing', providerName: 'simulator', credits: 1 }] }
    }
  })
  has(t, await send('POST', `/api/v1/approvals/${approvalId}/approve`, { body: { seen: 'else' } }, admin), { status: 409 })
  has(t, await send('POST', `/api/v1/approvals/${approvalId}/approve`, { body: {} }, admin), { status: 400 })
  t.same(await sent(), before)
  // Two who press at once, and one who presses again.
  const both = await Promise.all([approve(approvalId), approve(approvalId), approve(approvalId)])
  t.ok(both.some(({ status }) => status === 200))
  has(t, await approve(approvalId), { status: 200, body: { status: 'approved' } })
  const { body: done } = await read(approvalId)
  const after = await sent()
  t.same(after.filter((id) => !before.includes(id)), [done.dispatchId])
  const { body: dispatch } = await send('GET', `/api/v1/dispatches/${String(done.dispatchId)}`, {}, admin)
  t.equal(dispatch.userId, done.userId)
  has(t, await send('POST', '/api/invoicing', { body, headers }, member), { status: 200, body: { dispatchId: done.dispatchId } })
  has(t, (await send('GET', '/api/v1/audit?action=approval.approved', {}, admin)).body, {
    data: [{ author: { userId: done.decidedBy }, facts: { askedBy: done.userId, decidedBy: done.decidedBy, dispatchId: done.dispatchId } }]
  })
})

await t.test('an amount counts where its document was made before, and nobody knows that of a file', async (t) => {
  const { admin, member, sent } = await approving('in two')
  await send('PUT', '/api/v1/company/providers/simulator', { body: { settings: { allowedSenders: ['@acme.test'] } } }, admin)
  const headers = { 'x-api-version': '1.1.0' }
  const made = async (total: number): Promise<string> => {
    const body = invoiceRequest({
      lines: [{ description: 'x', quantity: 1, unitPrice: total, total }],
      subtotal: total,
      taxRate: 0,
      taxAmount: 0,
      total
    })
    const answer = await send('POST', '/api/invoicing', { body, headers }, member)
    has(t, answer, { status: 200 })
    return answer.body.generatedDocument.id as string
  }
  const { body: { id: fileId } } = await send('POST', '/api/v1/files?filename=x.pdf', {
    body: Buffer.from('%PDF-1.7\n%%EOF\n'),
    headers: { 'content-type': 'application/pdf' }
  }, member)
  const [small, large] = [await made(10), await made(50_000)]
  await send('POST', rulesPath, { body: { name: 'Above 1,000', services: ['invoicing'], amountAbove: 1_000 } }, admin)
  const mail = (attachment: object): Promise<Answer> =>
    send('POST', '/api/email', {
      body: { providerName: 'simulator', from: 'a@acme.test', to: 'ada@example.com', subject: 'S', body: 'T', attachments: [attachment] },
      headers
    }, member)
  has(t, await mail({ documentId: small }), { status: 200 })
  has(t, await mail({ documentId: large }), { status: 202, body: { status: 'approval_required' } })
  has(t, await mail({ fileId }), { status: 200 })
  await send('POST', rulesPath, { body: { name: 'Any above 1,000', amountAbove: 1_000 } }, admin)
  const before = await sent()
  has(t, await mail({ fileId }), { status: 202, body: { rules: ['Any above 1,000'] } })
  t.same(await sent(), before)
})

await t.test('before 1.1.0 nothing waits: it is refused, and the sentence says how it can', async (t) => {
  const { admin, member, sent } = await approving('old clients', everything)
  has(t, await send('POST', '/api/sms', { body: text(), headers: { 'x-api-version': '1.0.1' } }, member), {
    status: 403,
    body: { error: 'forbidden', message: /"Everything".*x-api-version: 1\.1\.0/ }
  })
  has(t, (await send('GET', '/api/v1/approvals', {}, admin)).body, { data: [] })
  t.same(await sent(), [])
})

await t.test('a rule that has come since wants its approval too', async (t) => {
  const { admin, member, operator: second, sent, read, approve } = await approving('more rules', everything)
  const { body: { approvalId } } = await send('POST', '/api/sms', { body: text() }, member)
  const by = await idOf(second)
  const { body: { id } } = await send('POST', rulesPath, { body: { name: 'Texts', services: ['sms'], amountAbove: 5, approvers: [by] } },
    admin)
  await send('PUT', `${rulesPath}/${String(id)}`, { body: { name: 'Texts', services: ['sms'], approvers: [by] } }, admin)
  has(t, (await read(approvalId)).body, { rules: ['Everything', 'Texts'], mayDecide: true })
  has(t, await approve(approvalId), {
    status: 200,
    body: {
      status: 'waiting',
      decider: null,
      mayDecide: false,
      mayRefuse: true,
      asks: [{ name: 'Everything', approvedBy: admin.email }, { name: 'Texts', approvers: [second.email], approvedBy: null }]
    }
  })
  // Whoever has approved it cannot do it for others.
  has(t, await approve(approvalId), { status: 200, body: { status: 'waiting' } })
  t.same(await sent(), [])
  const audit = async (action: string): Promise<any> => (await send('GET', `/api/v1/audit?action=${action}`, {}, admin)).body.data[0].facts
  has(t, await audit('approval.consented'), { waitsFor: ['Texts'] })
  has(t, await approve(approvalId, second), { status: 200, body: { status: 'approved', decider: second.email } })
  t.equal((await sent()).length, 1)
  t.same(await audit('approval_rule.changed'), {
    name: 'Texts',
    fields: ['name', 'services', 'approvers'],
    before: { amountAbove: 5 },
    after: {}
  })
})

await t.test('a rule that comes while it is sent wants its approval too', async (t) => {
  const { admin, member, operator: second, sent, read, approve } = await approving('a late rule', everything)
  const { body: { approvalId } } = await send('POST', '/api/sms', { body: text() }, member)
  const late = { name: 'Late', approvers: [await idOf(second)] }
  const racing = await processOf(admin, async (command) => {
    await send('POST', rulesPath, { body: late }, admin)
    await app.get('freshness').check()
    return app.get('pipeline').dispatch(command)
  })
  const { body: { review: { seen } } } = await read(approvalId)
  await t.rejects(racing.approve(racing.by, approvalId, { seen }), /Another rule wants it approved as well \("Late"\)/)
  has(t, (await send('GET', '/api/v1/audit?action=approval.returned', {}, admin)).body, {
    data: [{ facts: { reason: 'approval_required', rules: ['Late'] } }]
  })
  t.same(await sent(), [])
  has(t, await approve(approvalId, second), { status: 200, body: { status: 'approved' } })
  t.equal((await sent()).length, 1)
})

await t.test('who has approved it for one rule looks again where the other one saw something else', async (t) => {
  const { admin, member, operator: second, sent, approve } = await approving('two looks', everything)
  await send('POST', rulesPath, { body: { name: 'Second', approvers: [await idOf(second)] } }, admin)
  const { body: { approvalId } } = await send('POST', '/api/sms', { body: text() }, member)
  has(t, await approve(approvalId), { status: 200, body: { status: 'waiting' } })
  await send('PUT', '/api/v1/company/providers/simulator', { body: { settings: {}, sandbox: true } }, admin)
  has(t, await approve(approvalId, second), {
    status: 200,
    body: { status: 'waiting', asks: [{ approvedBy: null }, { approvedBy: second.email }] }
  })
  t.same(await sent(), [])
  has(t, await approve(approvalId), { status: 200, body: { status: 'approved' } })
})

await t.test('what somebody has approved counts no more once the rule names others', async (t) => {
  const { admin, member, operator: second, sent, approve } = await approving('named no more')
  const rule = async (name: string, approver: Login): Promise<object> => ({ name, approvers: [await idOf(approver)] })
  const { body: { id } } = await send('POST', rulesPath, { body: await rule('First', second) }, admin)
  await send('POST', rulesPath, { body: await rule('Second', admin) }, admin)
  const { body: { approvalId } } = await send('POST', '/api/sms', { body: text() }, member)
  has(t, await approve(approvalId, second), { status: 200, body: { status: 'waiting' } })
  await send('PUT', `${rulesPath}/${String(id)}`, { body: await rule('First', member) }, admin)
  has(t, await approve(approvalId), {
    status: 200,
    body: { status: 'waiting', asks: [{ name: 'First', approvedBy: null }, { name: 'Second', approvedBy: admin.email }] }
  })
  t.same(await sent(), [])
})

await t.test('another brand of the company makes another document than was seen', async (t) => {
  const { admin, member, sent, read } = await approving('painted', everything)
  const { body: { approvalId } } = await send('POST', '/api/invoicing', {
    body: invoiceRequest({}, { providerName: 'simulator' })
  }, member)
  const { body: { review: { seen } } } = await read(approvalId)
  has(t, await send('PUT', '/api/v1/company/brand', { body: { accent: '#7a1f3d' } }, admin), { status: 200 })
  has(t, await send('POST', `/api/v1/approvals/${String(approvalId)}/approve`, { body: { seen } }, admin), { status: 409 })
  t.same(await sent(), [])
})

/** What approvers look at, and what may change meanwhile, one act after the other. */
type Act =
  | 'first approves'
  | 'second approves'
  | 'first approves the old'
  | 'second approves the old'
  | 'first refuses'
  | 'taken back'
  | 'brand'
  | 'partial'
  | 'provider'
  | 'asked again'
  | 'looked at again'
  | 'all at once'
const acts = fc.array(fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom<Act>('first approves', 'second approves') },
  { weight: 2, arbitrary: fc.constantFrom<Act>('brand', 'partial', 'looked at again', 'all at once') },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Act>('first approves the old', 'second approves the old', 'first refuses', 'taken back', 'provider',
      'asked again')
  }
), { minLength: 3, maxLength: 10 })

await t.test('in any order, one request is sent once at most, and only where each rule has a consent to what is sent', async (t: Test) => {
  const { admin, member, operator: second, companyId, sent } = await approving('any order', everything)
  await send('POST', rulesPath, { body: { name: 'Second', approvers: [await idOf(second)] } }, admin)
  const partial = (version: number): object => ({
    kind: 'partial',
    source: `blocks:\n  - paragraph: "Terms ${version}"\n`,
    ...version > 0 && { baseVersion: version }
  })
  await send('PUT', '/api/v1/partials/terms', { body: partial(0) }, admin)
  const source = 'name: Ours\nservice: postal\nlocale: en\nbrand: true\nbody:\n  - heading: { text: "Dear {{ name }}", color: accent }\n' +
    '  - partial: terms\n'
  const { body: { id } } = await send('POST', '/api/v1/templates', { body: letter({ source }) }, admin)
  has(t, await send('POST', `/api/v1/templates/${String(id)}/publish`, { body: { version: 1 } }, admin), { status: 200 })
  const recipient = { name: 'Ada', address: '1 High Street', postalCode: '69001', city: 'Lyon', country: 'FR' }
  const body = { providerName: 'simulator', template: { id, data: { name: 'Ada' } }, postal: { recipient } }
  const other = await processOf(admin, (command) => app.get('pipeline').dispatch(command))
  const state = { version: 1, accent: '#000000', sandbox: false }
  let [requested, approved] = [0, 0]

  await fc.assert(fc.asyncProperty(acts, async (order) => {
    const headers = { 'idempotency-key': `any-${++requested}` }
    const before = await sent()
    const ask = (): Promise<Answer> => send('POST', '/api/postal', { body, headers }, member)
    const { body: { approvalId } } = await ask()
    const path = `/api/v1/approvals/${String(approvalId)}`
    /** What each review stood for. */
    const reviews = new Map<string, string>()
    const look = async (login: Login): Promise<string> => {
      const { review } = (await send('GET', path, {}, login)).body
      if (review) reviews.set(review.seen, JSON.stringify(state))
      return review?.seen ?? 'nothing'
    }
    const approve = async (login: Login, seen?: string): Promise<unknown> =>
      send('POST', `${path}/approve`, { body: { seen: seen ?? await look(login) } }, login)
    const brand = async (accent: string): Promise<unknown> => send('PUT', '/api/v1/company/brand', { body: { accent } }, admin)
    const old = await look(admin)
    const does: Record<Act, () => Promise<unknown>> = {
      'first approves': () => approve(admin),
      'second approves': () => approve(second),
      'first approves the old': () => approve(admin, old),
      'second approves the old': () => approve(second, old),
      'first refuses': () => send('POST', `${path}/refuse`, { body: { reason: 'No' } }, admin),
      'taken back': () => send('POST', `${path}/withdraw`, {}, member),
      brand: () => brand(state.accent = state.accent === '#000000' ? '#7a1f3d' : '#000000'),
      async partial () {
        await send('PUT', '/api/v1/partials/terms', { body: partial(state.version) }, admin)
        state.version += 1
        await send('POST', `/api/v1/templates/${String(id)}/publish`, { body: { version: state.version } }, admin)
      },
      provider: () =>
        send('PUT', '/api/v1/company/providers/simulator', { body: { settings: {}, sandbox: state.sandbox = !state.sandbox } }, admin),
      'asked again': ask,
      async 'looked at again' () {
        await sql`update approvals set worked_at = now() - interval '2 minutes' where approval_id = ${approvalId} and status = 'waiting'`
          .execute(owner)
        await other.lookAgain()
      },
      async 'all at once' () {
        const [one, two] = [await look(admin), await look(second)]
        await Promise.all([approve(admin, one), approve(second, two), approve(admin, one), does.brand()])
      }
    }
    for (const act of order) await does[act]()

    const made = (await sent()).filter((one) => !before.includes(one))
    const { rows: [row] } = await sql<any>`select * from approvals where approval_id = ${approvalId}`.execute(owner)
    if (row.status !== 'approved') return t.same(made, [], `${order.join(', ')}: ${String(row.status)}`)
    approved += 1
    t.same(made, [row.dispatch_id], order.join(', '))
    const { rows: [dispatch] } = await sql<any>`select template_version as version, content->>'accent' as accent,
        (select sandbox from steps where steps.dispatch_id = dispatches.dispatch_id limit 1) as sandbox
      from dispatches left join brand_versions on brand_versions.company_id = dispatches.company_id and version = brand_version
      where dispatches.company_id = ${companyId} and dispatch_id = ${row.dispatch_id}`.execute(owner)
    for (const { consent } of row.rules) {
      t.equal(consent?.seen, row.seen, order.join(', '))
      t.same(JSON.parse(reviews.get(consent.seen) ?? '{}'), { ...dispatch, accent: dispatch.accent ?? '#000000' }, order.join(', '))
    }
  }), { numRuns: 12, examples: [[['first approves', 'brand', 'first approves', 'second approves']]] })
  t.ok(approved > 0)
})

await t.test('who has approved what has changed since is told, and looks again', async (t) => {
  const { admin, member, operator: second, companyId, approve, read, sent } = await approving('changed since', everything)
  await send('POST', rulesPath, { body: { name: 'Second', approvers: [await idOf(second)] } }, admin)
  const { body: { approvalId } } = await send('POST', '/api/invoicing', { body: invoiceRequest({}, { providerName: 'simulator' }) }, member)
  has(t, await approve(approvalId), { status: 200, body: { asks: [{ approvedBy: admin.email, lapsedBy: null }, { approvedBy: null }] } })
  await sql`update approvals set mailed_at = now() where approval_id = ${approvalId}`.execute(owner)
  const other = await processOf(admin, (command) => app.get('pipeline').dispatch(command))
  const lookAgain = async (): Promise<any> => {
    await sql`update approvals set worked_at = now() - interval '2 minutes' where approval_id = ${approvalId}`.execute(owner)
    await other.lookAgain()
    return (await sql<any>`select rules->0 as rule from approvals where approval_id = ${approvalId}`.execute(owner)).rows[0].rule
  }
  has(t, await lookAgain(), { consent: { by: await idOf(admin) } })
  has(t, await send('PUT', '/api/v1/company/details', { body: { seller: { name: 'Acme Ltd' } } }, admin), { status: 200 })
  const { lapsed, consent } = await lookAgain()
  t.same([lapsed.by, consent], [await idOf(admin), undefined])
  t.same((await send('GET', '/api/v1/audit?action=approval.lapsed', {}, admin)).body.data.map(({ facts }: any) => facts.rules), [[
    'Everything'
  ]])
  has(t, await read(approvalId), {
    body: { mayDecide: true, asks: [{ approvedBy: null, lapsedBy: admin.email }, { lapsedBy: null }] }
  })
  const { open, signIn } = openConsole(service)
  contains(t, (await open(`/approvals/${String(approvalId)}`, await signIn(admin))).body,
    `${admin.email} had approved it, but it has changed since`)
  await lookAgain()
  t.equal((await send('GET', '/api/v1/audit?action=approval.lapsed', {}, admin)).body.data.length, 1, 'they are told once')
  has(t, await approve(approvalId, second), { body: { status: 'waiting', asks: [{ approvedBy: null }, { approvedBy: second.email }] } })
  t.same(await sent(), [])
  has(t, await approve(approvalId), { body: { status: 'approved' } })
  t.equal((await sent()).length, 1)

  const { messages, ...telling } = toldBy({ approvals: other })
  await sql`update approvals set status = 'waiting', mailed_at = null, rules = jsonb_set(rules, '{0}', ${
    JSON.stringify({ id: '00000000-0000-7000-8000-000000000000', name: 'Everything', approvers: [], lapsed })
  }) where company_id = ${companyId}`.execute(owner)
  await telling.tell()
  t.same(messages.filter((one) => one.companyId === companyId).map(({ to, subject }) => [to, subject]), [[admin.email,
    'What you have approved waits for you again']])
})

await t.test('what somebody approves while it is looked at again stays, and whom that asks is mailed', async (t) => {
  const { admin, member, operator: second, companyId, approve } = await approving('looked at meanwhile', everything)
  await send('POST', rulesPath, { body: { name: 'Second', approvers: [await idOf(second)] } }, admin)
  const { body: { approvalId } } = await send('POST', '/api/sms', { body: text() }, member)
  const kept = async (): Promise<any> =>
    (await sql<any>`select rules, mailed_at from approvals where approval_id = ${approvalId}`.execute(owner)).rows[0]
  const [{ rules: before }, ref, database] = [await kept(), { companyId, approvalId }, app.get('database')]
  has(t, await approve(approvalId), { status: 200, body: { status: 'waiting' } })
  const longAgo = new Date('2020-01-01T00:00:00Z')
  await sql`update approvals set mailed_at = ${longAgo} where approval_id = ${approvalId}`.execute(owner)
  // Whoever has looked before that knows neither this consent nor what it is to.
  await lapseConsents(database, ref, { seen: 'older', of: before }, none)
  await noteMailed(database, ref, before)
  const { rules, mailed_at: mailedAt } = await kept()
  t.same([rules[0].consent?.by, mailedAt], [await idOf(admin), longAgo])
  await noteMailed(database, ref, rules)
  t.not((await kept()).mailed_at.getTime(), longAgo.getTime())
  await lapseConsents(database, ref, { seen: 'newer', of: rules }, none)
  has(t, await kept(), { rules: [{ consent: undefined, lapsed: { by: await idOf(admin) } }, { name: 'Second' }] })
})

await t.test('the page shows what the templates of all steps make', async (t) => {
  const { member, admin } = await approving('later steps', everything)
  await send('PUT', '/api/v1/company/providers/simulator', { body: { settings: { allowedSenders: ['@acme.test'] } } }, admin)
  const made = async (name: string): Promise<number> => {
    const { body: { id } } = await send('POST', '/api/v1/templates', { body: letter({ name, greeting: name }) }, admin)
    await send('POST', `/api/v1/templates/${String(id)}/publish`, { body: { version: 1 } }, admin)
    return id as number
  }
  await made('Terms')
  const later = await made('Cover')
  const requested = await send('POST', '/api/file/email', {
    body: {
      providerName: 'simulator',
      fileContent: { templateName: 'Terms', data: { name: 'Ada' } },
      email: {
        from: 'hello@acme.test',
        to: 'ada@example.org',
        subject: 'Terms',
        template: { id: later, data: { name: 'Ada' } }
      }
    }
  }, member)
  has(t, requested, { status: 202, body: { status: 'approval_required' } }, JSON.stringify(requested.body))
  const { approvalId } = requested.body
  const { open, signIn } = openConsole(service)
  const cookie = await signIn(admin)
  const at = `/approvals/${String(approvalId)}`
  const page = (await open(at, cookie)).body
  for (const nth of [0, 1]) {
    contains(t, page, `<iframe src="/console${at}/templates/${nth}"`)
    has(t, await open(`${at}/templates/${nth}`, cookie), { status: 200, body: /^%PDF/ })
  }
  t.equal((await open(`${at}/templates/2`, cookie)).status, 404)
})

await t.test('the page shows the stored documents that a request names', async (t) => {
  const { member, admin } = await approving('shown', { name: 'Letters', services: ['postal'] })
  const pdf = await PDFDocument.create()
  pdf.addPage([595, 842])
  const headers = { 'content-type': 'application/pdf' }
  const { body: file } = await send('POST', '/api/v1/files?filename=terms.pdf', { body: Buffer.from(await pdf.save()), headers }, member)
  const { body: { generatedDocument } } = await send('POST', '/api/file', { body: { document: { fileId: file.id } } }, member)
  const { body: { approvalId } } = await send('POST', '/api/postal', {
    body: {
      providerName: 'simulator',
      document: { documentId: generatedDocument.id },
      postal: { recipient: { name: 'Ada', address: '1 High Street', postalCode: '69001', city: 'Lyon', country: 'FR' } }
    }
  }, member)
  const { open, signIn } = openConsole(service)
  const cookie = await signIn(admin)
  const at = `/approvals/${String(approvalId)}`
  contains(t, (await open(at, cookie)).body, `<iframe src="/console${at}/documents/0"`)
  has(t, await open(`${at}/documents/0`, cookie), { status: 200, body: /^%PDF/ })
  t.equal((await open(`${at}/documents/1`, cookie)).status, 404)
})

await t.test('a test key sees nothing that waits, and who has few services only what is of them, or names them', async (t) => {
  const { admin, member, keyOf, as, read } = await approving('narrow', everything)
  const { body: { approvalId } } = await send('POST', '/api/sms', { body: text() }, member)
  const path = `/api/v1/approvals/${String(approvalId)}`
  const scopes = ['send', 'read_all']
  const { body: { key: ofFile } } = await send('POST', '/api/v1/keys', { body: { name: 'f', mode: 'live', scopes, services: ['file'] } },
    member)
  for (const key of [await keyOf(scopes, member, 'test'), ofFile as string]) {
    has(t, await as(key, 'GET', '/api/v1/approvals'), { status: 200, body: { data: [] } })
    for (const end of ['', '/rows']) has(t, await as(key, 'GET', path + end), { status: 404 })
  }
  has(t, await as(await keyOf(scopes, member), 'GET', path), { status: 200 })
  const login = { email: `file-${member.email}`, password: 'a good password' }
  const reader = await send('POST', '/api/v1/users', { body: { ...login, role: 'member', services: ['file'] } }, admin)
  has(t, reader, { status: 201 })
  has(t, await read(approvalId, login), { status: 404 })
  const { body: { data: [rule] } } = await send('GET', rulesPath, {}, admin)
  await send('PUT', `${rulesPath}/${String(rule.id)}`, { body: { ...everything, approvers: [reader.body.id] } }, admin)
  has(t, await read(approvalId, login), { status: 200, body: { mayDecide: true } })
})

await t.test('what is refused, taken back or too old is never sent', async (t) => {
  const { admin, member, sent, read, approve } = await approving('refusing', everything)
  const ask = async (key?: string): Promise<string> =>
    (await send('POST', '/api/sms', { body: text(), ...key !== undefined && { headers: { 'x-idempotency-key': key } } }, member)).body
      .approvalId as string
  const [refused, taken, old] = [await ask('r'), await ask('w'), await ask('o')]
  has(t, await send('POST', `/api/v1/approvals/${refused}/refuse`, { body: { reason: 'No.' } }, member), { status: 403 })
  has(t, await send('POST', `/api/v1/approvals/${refused}/refuse`, { body: { reason: 'No.' } }, admin), {
    status: 200,
    body: { status: 'refused', reason: 'No.' }
  })
  has(t, await send('POST', `/api/v1/approvals/${taken}/withdraw`, {}, admin), { status: 403 })
  has(t, await send('POST', `/api/v1/approvals/${taken}/withdraw`, {}, member), { status: 200, body: { status: 'withdrawn' } })
  const late = createApprovals({
    accounts: app.get('accounts'),
    database: app.get('database'),
    pipeline: app.get('pipeline'),
    batches: noBatches,
    outbox: app.get('outbox'),
    now: () => new Date(Date.now() + 8 * 86_400_000),
    pages: undefined
  })
  await late.sweep()
  has(t, (await read(old)).body, { status: 'expired', review: null, mayDecide: false })
  for (const id of [refused, taken, old]) has(t, await approve(id), { status: 409 })
  for (const key of ['r', 'w', 'o']) {
    const headers = { 'x-idempotency-key': key, 'x-api-version': '1.1.0' }
    has(t, await send('POST', '/api/sms', { body: text(), headers }, member), { status: 403, body: { error: 'approval_required' } })
  }
  t.same(await sent(), [])
  has(t, (await send('GET', '/api/v1/audit?action=approval.expired', {}, admin)).body, { data: [{ object: { id: old } }] })
})

await t.test('the template, provider and price are looked at again; whoever asked must still be allowed to', async (t) => {
  const { admin, member, sent, read, approve, companyId } = await approving('checking', everything)
  const { body: { approvalId } } = await send('POST', '/api/sms', { body: text() }, member)
  const { body: { review } } = await read(approvalId)
  await send('PUT', '/api/v1/company/providers/simulator', { body: { settings: {}, sandbox: true } }, admin)
  has(t, await send('POST', `/api/v1/approvals/${String(approvalId)}/approve`, { body: { seen: review.seen } }, admin), {
    status: 409,
    body: { message: /has changed: look again/ }
  })
  await send('PUT', '/api/v1/company/providers/simulator', { body: { settings: {}, sandbox: false } }, admin)
  const { body: { data: users } } = await send('GET', '/api/v1/users', {}, admin)
  const { id } = users.find(({ email }: Login) => email === member.email)
  await send('PUT', `/api/v1/users/${String(id)}`, { body: { disabled: true } }, admin)
  has(t, (await read(approvalId)).body, { review: null, problem: { error: 'conflict', message: /may not send any more/ } })
  has(t, await send('POST', `/api/v1/approvals/${String(approvalId)}/approve`, { body: { seen: review.seen } }, admin), { status: 409 })
  t.same(await sent(), [])
  await send('PUT', `/api/v1/users/${String(id)}`, { body: { disabled: false, services: ['email'] } }, admin)
  for (const [version, reason] of [['1.0.1', undefined], ['1.1.0', 'needs_service']] as const) {
    const { body } = await send('GET', `/api/v1/approvals/${String(approvalId)}`, { headers: { 'x-api-version': version } }, admin)
    has(t, body, { review: null, problem: { error: 'forbidden' } })
    t.equal(body.problem.reason, reason, version)
  }
  await send('PUT', `/api/v1/users/${String(id)}`, { body: { services: ['*'] } }, admin)
  has(t, await approve(approvalId), { status: 200 })
  t.equal((await sent()).length, 1)
  t.ok(companyId > 0)
})

await t.test('nobody approves their own: not under another identity, not by a key', async (t) => {
  const { admin, member, sent, keyOf, as } = await approving('own', everything)
  const { body: { approvalId: own } } = await send('POST', '/api/sms', { body: text() }, admin)
  const { body: { review: { seen } } } = await send('GET', `/api/v1/approvals/${String(own)}`, {}, admin)
  const path = `/api/v1/approvals/${String(own)}/approve`
  has(t, await send('POST', path, { body: { seen } }, admin), { status: 403 })
  const key = await keyOf(['send', 'read_all'], admin)
  has(t, await as(key, 'POST', path, { seen }), { status: 403 })
  // As the member, whom a rule names, the admin still sits there.
  const { body: { data: users } } = await send('GET', '/api/v1/users', {}, admin)
  const { id: memberId } = users.find(({ email }: Login) => email === member.email)
  await send('POST', rulesPath, { body: { name: 'By the member', approvers: [memberId] } }, admin)
  const { body: { data: { token } } } = await send('POST', '/auth/impersonate', { body: { userId: memberId } }, admin)
  has(t, await as(token, 'POST', path, { seen }), { status: 404 })
  const { body: { data: [, first] } } = await send('GET', rulesPath, {}, admin)
  t.ok(first)
  const { body: requested } = await as(token, 'POST', '/api/sms', text('acting'))
  for (const who of [admin, member]) {
    const found = await send('GET', `/api/v1/approvals/${String(requested.approvalId)}`, {}, who)
    has(t, found, { body: { mayDecide: false } })
  }
  t.same(await sent(), [])
})

await t.test('a batch waits as a whole, and goes on once it is approved', async (t) => {
  const { admin, member, sent, approve } = await approving('batching', { name: 'Lists', rowsAbove: 2 })
  const take = (rows: number, more = ''): Promise<Answer> =>
    send('POST', `/api/v1/batches?service=sms${more}`, {
      body: Buffer.from(Array.from({ length: rows }, (_, index) => `${JSON.stringify(text(String(index)))}\n`).join('')),
      headers: { 'content-type': 'application/x-ndjson' }
    }, member)
  const reaches = async (id: string, status: string): Promise<any> => {
    let batch: any
    await until(`the batch is ${status}`,
      async () => (batch = (await send('GET', `/api/v1/batches/${id}`, {}, member)).body).status === status)
    return batch
  }
  await reaches((await take(2)).body.batchId, 'finished')
  const [{ body: { batchId } }, before] = [await take(3), await sent()]
  has(t, await reaches(batchId, 'paused'), { problem: { error: 'approval_required', reason: 'needs_approval' } })
  const { body: { data: [waiting] } } = await send('GET', '/api/v1/approvals?status=waiting', {}, admin)
  has(t, waiting, { batchId, rows: 3, rules: ['Lists'] })
  // Nobody lets it go on without an approval.
  has(t, await send('POST', `/api/v1/batches/${String(batchId)}/resume`, {}, member), { status: 409, body: { message: /has to approve/ } })
  await reaches(batchId, 'paused')
  t.same(await sent(), before)
  has(t, await approve(waiting.id), { status: 200, body: { status: 'approved' } })
  has(t, await reaches(batchId, 'finished'), { counts: { succeeded: 3 } })
  t.equal((await sent()).length, before.length + 3)
  // What was to be held asks nobody before it is let go.
  const { body: { batchId: held } } = await take(3, '&hold=true')
  t.equal((await reaches(held, 'paused')).problem, undefined)
  matches(t, (await send('GET', '/api/v1/approvals?status=waiting', {}, admin)).body, { data: [], nextCursor: null })
  await send('POST', `/api/v1/batches/${String(held)}/resume`, {}, member)
  await until('somebody is asked', async () => (await send('GET', '/api/v1/approvals?status=waiting', {}, admin)).body.data.length === 1)
  has(t, await reaches(held, 'paused'), { problem: { error: 'approval_required' } })
  const { body: { data: [requested] } } = await send('GET', '/api/v1/approvals?status=waiting', {}, admin)
  has(t, requested, { batchId: held, rules: ['Lists'] })
  has(t, await approve(requested.id), { status: 200 })
  has(t, await reaches(held, 'finished'), { counts: { succeeded: 3 } })
})

await t.test('an approver sees the rows of a batch, what they come to, and which rule asks', async (t) => {
  const { admin, member, operator: second, sent, approve } = await approving('rows', {
    name: 'Large',
    services: ['invoicing'],
    amountAbove: 1_000,
    currency: 'EUR'
  }, { name: 'Letters', services: ['postal'] }, { name: 'Long lists', rowsAbove: 50 })
  const row = (number: string, total: number): object => ({
    id: number,
    ...invoiceRequest({
      number,
      lines: [{ description: 'x', quantity: 1, unitPrice: total, total }],
      subtotal: total,
      taxRate: 0,
      taxAmount: 0,
      total
    }, { providerName: 'simulator' })
  })
  const rows = [row('F-1', 10), row('F-2', 5_000), row('F-3', 20)]
  const { body: { batchId } } = await send('POST', '/api/v1/batches?service=invoicing', {
    body: Buffer.from(rows.map((one) => `${JSON.stringify(one)}\n`).join('')),
    headers: { 'content-type': 'application/x-ndjson' }
  }, member)
  let id = ''
  await until('it waits', async () => {
    const { body: { data: [found] } } = await send('GET', '/api/v1/approvals?status=waiting', {}, admin)
    id = found?.id ?? ''
    return id !== ''
  })
  const at = `/api/v1/approvals/${id}`
  has(t, (await send('GET', at, {}, admin)).body, {
    asks: [{ name: 'Large', approvers: [], approvedBy: null }],
    totals: {
      services: [{ service: 'invoicing', rows: 3, credits: 3 }],
      amounts: [{ currency: 'EUR', rows: 3, amount: 5_030, unknown: 0 }]
    }
  })
  const { body: first } = await send('GET', `${at}/rows?limit=2`, {}, admin)
  has(t, first, {
    data: [{ row: 1, id: 'F-1', status: 'waiting', recipient: 'Ada Lovelace', amount: 10, currency: 'EUR', credits: 1 }, {
      row: 2,
      request: { template: { data: { number: 'F-2' } } }
    }],
    nextCursor: '2'
  })
  has(t, (await send('GET', `${at}/rows?cursor=2`, {}, admin)).body, { data: [{ row: 3 }], nextCursor: null })
  const found = async (search: string): Promise<number[]> =>
    (await send('GET', `${at}/rows?search=${encodeURIComponent(search)}`, {}, admin)).body.data.map((one: { row: number }) => one.row)
  t.same(await found('f-2'), [2])
  t.same(await found('LOVELACE'), [1, 2, 3])
  t.same(await found('%'), [])
  has(t, await send('GET', `${at}/rows`, {}, second), { status: 200 })
  // A rule that has come since asks for its part of the rows.
  await send('POST', rulesPath, { body: { name: 'Above 4,000', amountAbove: 4_000, approvers: [await idOf(second)] } }, admin)
  await send('POST', rulesPath, { body: { name: 'Above 6,000', amountAbove: 6_000, approvers: [await idOf(second)] } }, admin)
  has(t, await approve(id), {
    status: 200,
    body: { status: 'waiting', asks: [{ name: 'Large', approvedBy: admin.email }, { name: 'Above 4,000', approvedBy: null }] }
  })
  t.same(await sent(), [])
  has(t, await approve(id, second), { status: 200, body: { status: 'approved' } })
  const kept = async (): Promise<any[]> => (await send('GET', `${at}/rows`, {}, admin)).body.data
  await until('all are handed over',
    async () => (await kept()).every(({ request, recipient }) => request === null && recipient === undefined))
  t.equal((await sent()).length, 3)
  has(t, (await send('GET', at, {}, admin)).body, { totals: { services: [{ credits: 3 }] } })
  t.ok(batchId)
})

await t.test('a search that has found nothing so far says that it goes on', (t) => {
  const shown = (nextCursor: string | null): string =>
    rowsSection(wordsOf(languages.en), '/', { data: [], nextCursor, q: 'x', cursor: '' }, undefined).markup
  contains(t, shown('10000'), 'None of the rows so far has it: look further.')
  contains(t, shown(null), 'No row has it.')
  t.end()
})

await t.test('a rule that comes once a batch was approved pauses what is left of it', async (t) => {
  const { admin, member, approve, sent } = await approving('paused again', { name: 'Lists', rowsAbove: 1 })
  const { body: { batchId } } = await send('POST', '/api/v1/batches?service=sms', {
    body: Buffer.from(`${JSON.stringify(text('1'))}\n${JSON.stringify(text('2'))}\n`),
    headers: { 'content-type': 'application/x-ndjson' }
  }, member)
  const waiting = async (): Promise<any> => (await send('GET', '/api/v1/approvals?status=waiting', {}, admin)).body.data[0]
  await until('it waits', async () => await waiting() !== undefined)
  const { id } = await waiting()
  // Approved, but no row is handed over before the other rule has come.
  await sql`update batches set claim = ${randomUUID()}, claimed_until = now() + interval '1 hour' where batch_id = ${batchId}`.execute(
    owner
  )
  has(t, await approve(id), { status: 200, body: { status: 'approved' } })
  // While it is about to go on, another approval is asked for later: a pause would last for ever.
  const { rows: [kept] } = await sql<any>`update approvals set status = 'sending', worked_at = now() where approval_id = ${id} returning *`
    .execute(owner)
  const [approvalId, at] = [randomUUID(), new Date()]
  const again = { approvalId, asker: kept.asker, batchId, services: ['sms'], command: kept.command, facts: kept.facts, rules: [], at }
  const pause = () => Promise.reject(new Error('paused'))
  await t.rejects(addApproval(app.get('database'), { ...again, expiresAt: at, pause }, none), /about to go on/)
  await sql`update approvals set status = 'approved' where approval_id = ${id}`.execute(owner)
  await send('POST', rulesPath, { body: { name: 'Texts', services: ['sms'] } }, admin)
  await sql`update batches set claim = null, claimed_until = null where batch_id = ${batchId}`.execute(owner)
  await until('it waits again', async () => await waiting() !== undefined)
  const next = await waiting()
  has(t, next, { batchId, rules: ['Texts'] })
  t.same(await sent(), [])
  has(t, await approve(next.id), { status: 200, body: { status: 'approved' } })
  await until('it is sent', async () => (await sent()).length === 2)
})

await t.test('a batch is approved with the rows and the templates that there were: what comes later asks anew', async (t) => {
  const { admin, member, approve, sent } = await approving('later rows', everything)
  const { body: { schema, sample } } = await send('GET', '/api/v1/templates/1', {}, admin)
  const made = (name: string, more = ''): object => ({ source: invoiceYaml.replace('Own invoice', name) + more, schema, sample })
  const template = async (name: string, isPublished: boolean): Promise<number> => {
    const { body: { id } } = await send('POST', '/api/v1/templates', { body: made(name) }, admin)
    if (isPublished) await publish(id, 1)
    return id as number
  }
  const publish = async (id: number, version: number): Promise<void> => {
    has(t, await send('POST', `/api/v1/templates/${id}/publish`, { body: { version } }, admin), { status: 200 })
  }
  const [ready, draft] = [await template('Ready', true), await template('Draft', false)]
  const invoice = (id: number, index: number): object => ({
    documentType: 'INVOICE',
    providerName: 'simulator',
    template: { id, data: { ...sample, number: `${id}-${index}` } }
  })
  const take = async (...templates: number[]): Promise<string> =>
    (await send('POST', '/api/v1/batches?service=invoicing&mode=valid', {
      body: Buffer.from(templates.map((id, index) => `${JSON.stringify(invoice(id, index))}\n`).join('')),
      headers: { 'content-type': 'application/x-ndjson' }
    }, member)).body.batchId as string
  const requested = async (batchId: string): Promise<string> => {
    let id = ''
    await until('it waits', async () => {
      const { body: { data } } = await send('GET', '/api/v1/approvals?status=waiting', {}, admin)
      return (id = data.find((one: { batchId: string }) => one.batchId === batchId)?.id ?? '') !== ''
    })
    return id
  }
  const reaches = async (batchId: string, status: string): Promise<any> => {
    let batch: any
    await until(`it is ${status}`,
      async () => (batch = (await send('GET', `/api/v1/batches/${batchId}`, {}, member)).body).status === status)
    return batch
  }
  const rows = await take(ready, ready, draft)
  const first = await requested(rows)
  has(t, await send('POST', `/api/v1/batches/${rows}/retry`, {}, member), { status: 409, body: { message: /has to approve/ } })
  has(t, await approve(first), { status: 200, body: { status: 'approved' } })
  has(t, await reaches(rows, 'finished'), { counts: { succeeded: 2, refused: 1 } })
  // What is refused again refuses nothing else.
  has(t, await send('POST', `/api/v1/batches/${rows}/retry`, {}, member), { status: 200, body: { counts: { unchecked: 1 } } })
  await reaches(rows, 'finished')
  await publish(draft, 1)
  await send('POST', `/api/v1/batches/${rows}/retry`, {}, member)
  const second = await requested(rows)
  t.equal((await sent()).length, 2)
  has(t, (await send('GET', `/api/v1/approvals/${second}`, {}, admin)).body, {
    totals: { services: [{ service: 'invoicing', rows: 1 }] }
  })
  has(t, await approve(second), { status: 200, body: { status: 'approved' } })
  has(t, await reaches(rows, 'finished'), { counts: { succeeded: 3, refused: 0 } })

  // Saved before it is approved, published after that.
  const body = { ...made('Ready', '  - paragraph: Thank you\n'), baseVersion: 1 }
  has(t, await send('PUT', `/api/v1/templates/${ready}`, { body }, admin), { status: 200 })
  const other = await take(ready)
  const third = await requested(other)
  await sql`update batches set claim = ${randomUUID()}, claimed_until = now() + interval '1 hour' where batch_id = ${other}`.execute(owner)
  has(t, await approve(third), { status: 200, body: { status: 'approved' } })
  await publish(ready, 2)
  await sql`update batches set claim = null, claimed_until = null where batch_id = ${other}`.execute(owner)
  const fourth = await requested(other)
  t.equal((await sent()).length, 3)
  has(t, await approve(fourth), { status: 200, body: { status: 'approved' } })
  await reaches(other, 'finished')

  // A template that was not changed makes another document for another brand of the company.
  for (const [path, body] of [['brand', { accent: '#7a1f3d' }], ['details', { seller: { name: 'Acme Ltd' } }]] as const) {
    const before = (await sent()).length
    const branded = await take(1)
    const asking = await requested(branded)
    await sql`update batches set claim = ${randomUUID()}, claimed_until = now() + interval '1 hour' where batch_id = ${branded}`.execute(
      owner
    )
    has(t, await approve(asking), { status: 200, body: { status: 'approved' } })
    has(t, await send('PUT', `/api/v1/company/${path}`, { body }, admin), { status: 200 })
    await sql`update batches set claim = null, claimed_until = null where batch_id = ${branded}`.execute(owner)
    const anew = await requested(branded)
    t.equal((await sent()).length, before, path)
    has(t, await approve(anew), { status: 200, body: { status: 'approved' } })
    await reaches(branded, 'finished')
  }
})

await t.test('a batch that is not approved is cancelled, and one that was cancelled is not told as sent', async (t) => {
  const { admin, member, sent, approve } = await approving('ending batches', everything)
  const take = async (): Promise<{ batchId: string, id: string }> => {
    const { body: { batchId } } = await send('POST', '/api/v1/batches?service=sms', {
      body: Buffer.from(`${JSON.stringify(text())}\n`),
      headers: { 'content-type': 'application/x-ndjson' }
    }, member)
    const waiting = async (): Promise<any> =>
      (await send('GET', '/api/v1/approvals?status=waiting', {}, admin)).body.data.find((one: any) => one.batchId === batchId)
    await until('it waits', async () => await waiting() !== undefined)
    // Whoever sees that it waits can approve it: it has paused by then.
    has(t, (await send('GET', `/api/v1/batches/${String(batchId)}`, {}, admin)).body, { status: 'paused' })
    return { batchId, id: (await waiting()).id }
  }
  const [refused, withdrawn, cancelled] = [await take(), await take(), await take()]
  has(t, await send('POST', `/api/v1/approvals/${refused.id}/refuse`, { body: { reason: 'No.' } }, admin), { status: 200 })
  has(t, await send('POST', `/api/v1/approvals/${withdrawn.id}/withdraw`, {}, member), { status: 200 })
  await send('POST', `/api/v1/batches/${cancelled.batchId}/cancel`, {}, member)
  has(t, await approve(cancelled.id), { status: 409, body: { message: /was cancelled/ } })
  has(t, (await send('GET', `/api/v1/approvals/${cancelled.id}`, {}, admin)).body, { status: 'withdrawn' })
  for (const { batchId } of [refused, withdrawn, cancelled]) {
    has(t, (await send('GET', `/api/v1/batches/${batchId}`, {}, admin)).body, { status: 'cancelled' })
    has(t, await send('POST', `/api/v1/batches/${batchId}/resume`, {}, member), { status: 409 })
  }
  t.same(await sent(), [])
})

await t.test('a retry with other data, and one of what nobody has approved, sends nothing', async (t) => {
  const { admin, member, sent } = await approving('retrying')
  const failed = { providerName: 'simulator', sms: { phoneNumber: '+15005550001', message: 'x' } }
  const { body: { dispatchId } } = await send('POST', '/api/sms', { body: failed }, member)
  await send('POST', rulesPath, { body: everything }, admin)
  const path = `/api/v1/dispatches/${String(dispatchId)}/retry`
  for (const body of [{}, { sms: { phoneNumber: '+33612345678', message: 'y' } }]) {
    has(t, await send('POST', path, { body, headers: { 'x-api-version': '1.1.0' } }, member), {
      status: 403,
      body: { error: 'approval_required' }
    })
  }
  t.same(await sent(), [dispatchId])
  has(t, (await send('GET', `/api/v1/dispatches/${String(dispatchId)}`, {}, admin)).body, { status: 'failed' })
})

await t.test('a retry needs the approval of each rule, and a row that of its batch', async (t) => {
  const { admin, member, approve } = await approving('retrying again', { name: 'First' })
  const failing = { providerName: 'simulator', sms: { phoneNumber: '+15005550001', message: 'x' } }
  const { body: { approvalId } } = await send('POST', '/api/sms', { body: failing }, member)
  const { body: { dispatchId } } = await approve(approvalId)
  const statusOf = async (path: string): Promise<string> => (await send('GET', path, {}, admin)).body.status as string
  const path = `/api/v1/dispatches/${String(dispatchId)}`
  await until('it fails', async () => await statusOf(path) === 'failed')
  has(t, await send('POST', `${path}/retry`, { body: {} }, member), { status: 422 })
  await until('it fails again', async () => await statusOf(path) === 'failed')
  const { body: { data: [first] } } = await send('GET', rulesPath, {}, admin)
  await send('POST', rulesPath, { body: { name: 'Second' } }, admin)
  has(t, await send('POST', `${path}/retry`, { body: {} }, member), { status: 403, body: { message: /\("Second"\)/ } })

  const { body: { data: [, second] } } = await send('GET', rulesPath, {}, admin)
  for (const { id } of [first, second]) await send('DELETE', `${rulesPath}/${String(id)}`, {}, admin)
  const { body: { batchId } } = await send('POST', '/api/v1/batches?service=sms', {
    body: Buffer.from(`${JSON.stringify(failing)}\n${JSON.stringify(text())}\n`),
    headers: { 'content-type': 'application/x-ndjson' }
  }, member)
  const batch = `/api/v1/batches/${String(batchId)}`
  await until('it is sent', async () => await statusOf(batch) === 'finished')
  await send('POST', rulesPath, { body: { name: 'Lists', rowsAbove: 1 } }, admin)
  await send('POST', `${batch}/retry`, {}, member)
  await until('it waits', async () => await statusOf(batch) === 'paused')
  const { body: { data: [requested] } } = await send('GET', '/api/v1/approvals?status=waiting', {}, admin)
  has(t, requested, { batchId, rules: ['Lists'] })
  has(t, await approve(requested.id), { status: 200 })
  await until('it is sent again', async () => await statusOf(batch) === 'finished')
})

/** The ways on which something could leave without an approval, each by whoever may take it. */
type Way = (given: Awaited<ReturnType<typeof approving>>, keys: { sender: string, assistant: string }) => Promise<Answer>

const ways: Readonly<Record<string, Way>> = {
  person: ({ member }) => send('POST', '/api/sms', { body: text() }, member),
  admin: ({ admin }) => send('POST', '/api/sms', { body: text() }, admin),
  queued: ({ member }) => send('POST', '/api/sms?async=true', { body: text() }, member),
  'old version': ({ member }) => send('POST', '/api/sms', { body: text(), headers: { 'x-api-version': '1.0.0' } }, member),
  'api key': ({ as }, { sender }) => as(sender, 'POST', '/api/sms', text()),
  keyed: ({ as }, { sender }) => as(sender, 'POST', '/api/sms', text(), { 'x-idempotency-key': randomUUID() }),
  chain: ({ member }) =>
    send('POST', '/api/invoicing/sms', {
      body: invoiceRequest({}, {
        providerName: 'simulator',
        sms: { phoneNumber: '+33612345678', message: 'Hello', providerName: 'simulator' }
      })
    }, member),
  scheduled: ({ member }) =>
    send('POST', '/api/sms', {
      body: { ...text(), sendAt: new Date(Date.now() + 3_600_000).toISOString() },
      headers: { 'x-api-version': '1.1.0' }
    }, member),
  upload: ({ member }) => {
    const form = '--e\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\nContent-Type: text/plain\r\n\r\nhello\r\n' +
      '--e\r\nContent-Disposition: form-data; name="providerName"\r\n\r\nsimulator\r\n--e--\r\n'
    return send('POST', '/api/upload', { body: Buffer.from(form), headers: { 'content-type': 'multipart/form-data; boundary=e' } }, member)
  },
  assistant: ({ as }, { sender }) =>
    as(sender, 'POST', '/mcp', {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'send', arguments: { service: 'sms', request: text(), idempotencyKey: randomUUID() } }
    }, { accept: 'application/json, text/event-stream' }),
  async proposal ({ as, member }, { assistant }) {
    const { body: { id } } = await as(assistant, 'POST', '/api/v1/proposals', { service: 'sms', request: text() })
    const { body: { review } } = await send('GET', `/api/v1/proposals/${String(id)}`, {}, member)
    return send('POST', `/api/v1/proposals/${String(id)}/send`, { body: { seen: review.seen } }, member)
  },
  batch: ({ as }, { sender }) =>
    as(sender, 'POST', '/api/v1/batches?service=sms', Buffer.from(`${JSON.stringify(text())}\n`), {
      'content-type': 'application/x-ndjson'
    })
}

await t.test('by no way, in no order, anything leaves without an approval', async (t: Test) => {
  const company = await approving('hostile', everything)
  const keys = {
    sender: await company.keyOf(['send', 'read_all'], company.member),
    assistant: await company.keyOf(['propose'], company.member)
  }
  await fc.assert(fc.asyncProperty(fc.array(fc.constantFrom(...Object.keys(ways)), { minLength: 1, maxLength: 3 }), async (order) => {
    const answers = await Promise.all(order.flatMap((name) => ways[name]?.(company, keys) ?? []))
    for (const [index, answer] of answers.entries()) {
      t.ok([200, 202, 403, 409].includes(answer.status), `${String(order[index])}: ${JSON.stringify(answer.body)}`)
    }
    t.same(await company.sent(), [], order.join(', '))
  }), { numRuns: 4 })
  for (const [name, way] of Object.entries(ways)) {
    const { status, body } = await way(company, keys)
    t.ok([200, 202, 403, 409].includes(status), `${name}: ${JSON.stringify(body)}`)
  }
  await until('all batches wait',
    async () =>
      (await send('GET', '/api/v1/batches?limit=100', {}, company.admin)).body.data.every(({ status }: { status: string }) =>
        status === 'paused'
      ))
  t.same(await company.sent(), [])
  // Tests, and what is sent to nobody, do not wait.
  const test = await company.keyOf(['send', 'read_all'], company.member, 'test')
  has(t, await company.as(test, 'POST', '/api/sms', text()), { status: 200 })
})

await t.test('an exempt user sends alone, but not with a key; rules are those of their company', async (t) => {
  const company = await approving('exempting')
  const { admin, member, keyOf, as } = company
  const { body: { data: users } } = await send('GET', '/api/v1/users', {}, admin)
  const { id } = users.find(({ email }: Login) => email === member.email)
  const { body: rule } = await send('POST', rulesPath, { body: { ...everything, exempt: [id] } }, admin)
  has(t, await send('POST', '/api/sms', { body: text() }, member), { status: 200 })
  has(t, await as(await keyOf(['send'], member), 'POST', '/api/sms', text()), { status: 202 })
  has(t, await send('POST', rulesPath, { body: { ...everything, approvers: [1] } }, admin), {
    status: 422,
    body: { details: [{ path: '/approvers/0', code: 'unknown_user' }] }
  })
  has(t, await send('PUT', `${rulesPath}/${String(rule.id)}`, { body: { name: 'Letters', services: ['postal'] } }, admin), {
    body: { name: 'Letters', services: ['postal'] }
  })
  has(t, await as(await keyOf(['send'], member), 'POST', '/api/sms', text()), { status: 200 })
  has(t, await send('DELETE', `${rulesPath}/${String(rule.id)}`, {}, admin), { status: 204 })
  matches(t, (await send('GET', rulesPath, {}, admin)).body, { data: [], nextCursor: null })
})

await t.test('approvers are told by callback and by mail', async (t) => {
  const { admin, member, operator: operatorOfIt, companyId } = await approving('telling', everything)
  receiver.on('POST /approvals', { status: 200 })
  const reported = (): any[] => receiver.requests.filter(({ host }) => host === 'approver.acme.test').map(({ json }) => json)
  const keeper = await service.company('mailing')
  await send('PUT', '/api/v1/company/providers/simulator', { body: { settings: { allowedSenders: ['@acme.test'] } } }, keeper.admin)
  const mailer = { providerName: 'simulator', from: 'hello@acme.test' }
  has(t, await send('PUT', '/api/v1/link-mail', { body: mailer }, keeper.operator), { status: 200 })
  await send('POST', '/api/v1/company/callback-endpoints', { body: { url: 'https://approver.acme.test/approvals', name: 'All' } }, admin)
  const { body: { approvalId } } = await send('POST', '/api/sms', { body: text() }, member)
  await until('the callback comes',
    () => Promise.resolve(reported().some(({ type, data }) => type === 'approval.requested' && data.id === approvalId)))
  const query = `metadata[mail]=message&metadata[company]=${String(companyId)}`
  await until('a mail goes to the admin',
    async () => (await send('GET', `/api/v1/dispatches?limit=100&${query}`, {}, keeper.operator)).body.data.length === 1)
  // Whom the rule names later is mailed then, and nobody twice.
  const { body: { data: [rule] } } = await send('GET', rulesPath, {}, admin)
  const approvers = [await idOf(admin), await idOf(operatorOfIt)]
  await send('PUT', `${rulesPath}/${String(rule.id)}`, { body: { ...everything, approvers } }, admin)
  await until('a mail goes to whom it names now',
    async () => (await send('GET', `/api/v1/dispatches?limit=100&${query}`, {}, keeper.operator)).body.data.length === 2)
})

await t.test('a rule that changes counts for what waits by it: an approver is replaced, and decides no more', async (t) => {
  const { admin, member, operator: second, sent, read, approve } = await approving('leaving')
  const rule = async (approver: Login): Promise<object> => ({ ...everything, approvers: [await idOf(approver)] })
  const { body: { id } } = await send('POST', rulesPath, { body: await rule(member) }, admin)
  const { body: { approvalId } } = await send('POST', '/api/sms', { body: text() }, admin)
  has(t, (await send('GET', '/api/v1/approvals', {}, member)).body, { data: [{ id: approvalId }] })
  has(t, (await read(approvalId, second)).body, { mayDecide: false })
  await send('PUT', `${rulesPath}/${String(id)}`, { body: await rule(second) }, admin)
  has(t, (await send('GET', '/api/v1/approvals', {}, member)).body, { data: [] })
  has(t, await send('POST', `/api/v1/approvals/${String(approvalId)}/approve`, { body: { seen: 'x' } }, member), { status: 404 })
  has(t, (await read(approvalId, second)).body, { mayDecide: true })
  // Of a rule that is gone, those decide whom it named when it asked.
  await send('DELETE', `${rulesPath}/${String(id)}`, {}, admin)
  has(t, await approve(approvalId, second), { status: 403 })
  t.same(await sent(), [])
  has(t, await approve(approvalId, member), { status: 200, body: { status: 'approved' } })
  t.equal((await sent()).length, 1)
})

await t.test('the page of a rule changes it, and says where one person alone approves', async (t) => {
  const { admin, member } = await approving('ruled')
  const console = openConsole(service)
  const cookie = await console.signIn(admin)
  const [path, approvers] = ['/approvals/rules', [await idOf(member)]]
  const rule = { name: 'Large', services: ['sms'], amountAbove: 10.5, currency: 'EUR', approvers }
  const { body: { id } } = await send('POST', rulesPath, { body: rule }, admin)
  const list = (await console.open(path, cookie)).body
  contains(t, list, `href="/console${path}/${String(id)}"`)
  contains(t, list, `Only ${member.email} approves: nobody can approve what they ask for themselves.`)
  const page = (await console.open(`${path}/${String(id)}`, cookie)).body
  for (const part of ['value="10.5"', 'value="EUR"', 'value="sms" checked', `value="${String(approvers[0])}" checked`]) {
    contains(t, page, part)
  }
  const form: [string, string][] = [['name', 'Large ones'], ['services', 'sms'], ['amountAbove', 'many'], ['approvers',
    String(approvers[0])]]
  const refused = await console.post(`${path}/${String(id)}`, form, cookie)
  t.equal(refused.status, 400)
  contains(t, refused.body, 'value="many"')
  const sent = form.map(([name, value]): [string, string] => [name, value === 'many' ? '20,5' : value])
  t.equal((await console.post(`${path}/${String(id)}`, sent, cookie)).status, 303)
  has(t, (await send('GET', rulesPath, {}, admin)).body.data, [{ id, name: 'Large ones', services: ['sms'], amountAbove: 20.5, approvers }])
  t.equal((await console.open(`${path}/${String(approvers[0])}`, cookie)).status, 404)
})

await t.test('of more users than a page reads, nobody is said to approve alone but who is named', async (t) => {
  const { companyId, admin, member } = await approving('crowded', { name: 'Admins', services: ['email'] })
  await send('POST', rulesPath, { body: { name: 'Named', services: ['sms'], approvers: [await idOf(member)] } }, admin)
  const console = openConsole(service)
  const cookie = await console.signIn(admin)
  const alone = async (): Promise<string[]> =>
    [...String((await console.open('/approvals/rules', cookie)).body).matchAll(/Only (\S+) approves/g)].map(([, email = '']) => email)
  t.same(await alone(), [admin.email, member.email])
  await sql`insert into users (company_id, email, role, services, password_hash, password_set_at, created_at)
    select ${companyId}, 'user-' || nth || '@crowded.example.com', case nth when 100 then 'admin' else 'member' end, '{*}', 'none', now(), now()
    from generate_series(1, 100) as nth`.execute(owner)
  t.same(await alone(), [member.email], 'another admin is beyond them')
})

await t.test('what waits makes no cache of the company stale; what is old goes in parts', async (t) => {
  const { companyId, member, admin } = await approving('keeping', everything)
  const changes = async (): Promise<unknown> => (await sql`select * from changes where company_id = ${companyId}`.execute(owner)).rows
  const before = await changes()
  for (const message of ['one', 'two']) await send('POST', '/api/sms', { body: text(message) }, member)
  t.same(await changes(), before)
  await sql`update approvals set status = 'refused', created_at = '1970-01-01' where company_id = ${companyId}`.execute(owner)
  t.equal(await removeOld(app.get('database'), new Date(1), 1), 1)
  t.equal((await send('GET', '/api/v1/approvals', {}, admin)).body.data.length, 1)
})

await t.test('no more wait than may, and there are no more rules', async (t) => {
  const { admin, member, companyId } = await approving('crowded', everything)
  await send('POST', '/api/sms', { body: text() }, member)
  await sql`insert into approvals (approval_id, company_id, user_id, asker, services, command, request, facts, rules, status, told_at, mailed_at,
      worked_at, created_at, expires_at)
    select gen_random_uuid(), company_id, user_id, asker, services, command, request, facts, rules, status, now(), now(), worked_at, created_at,
      expires_at from approvals, generate_series(2, ${maxWaiting}) where company_id = ${companyId}`.execute(owner)
  has(t, await send('POST', '/api/sms', { body: text() }, member), { status: 429, body: { error: 'rate_limited' } })
  for (let more = 1; more < maxRules; more++) {
    has(t, await send('POST', rulesPath, { body: { name: String(more), rowsAbove: 9 } }, admin), { status: 201 })
  }
  has(t, await send('POST', rulesPath, { body: everything }, admin), { status: 409 })
})

/** An admin at a process of their own, which dispatches in a way of its own. */
async function processOf ({ email, password }: Login, dispatch: Pipeline['dispatch']) {
  const basic = `Basic ${Buffer.from(`${email}:${password}`).toString('base64')}`
  const actor = await app.get('authentication').authenticate(basic, '127.0.0.1')
  return {
    ...createApprovals({
      accounts: app.get('accounts'),
      database: app.get('database'),
      pipeline: { ...app.get('pipeline'), dispatch },
      batches: noBatches,
      outbox: app.get('outbox'),
      now: app.get('now'),
      pages: undefined
    }),
    by: { actor, author: { userId: actor.userId, companyId: actor.companyId, address: '', requestId: 'r' } }
  }
}

/** Tells people in this process alone: what it would mail. */
function toldBy ({ approvals }: { approvals: Parameters<typeof createNotifier>[0]['approvals'] }) {
  const messages: Parameters<LinkMail['message']>[0][] = []
  const linkMail = {
    offered: () => Promise.resolve(true),
    message (mail: (typeof messages)[number]) {
      messages.push(mail)
      return Promise.resolve()
    }
  }
  const [database, outbox, log, now] = [app.get('database'), app.get('outbox'), app.get('log'), app.get('now')]
  const tell = createNotifier({ approvals, database, linkMail, outbox, log, publicUrl: service.url, pages: undefined, now })
  return { messages, tell }
}

await t.test('a process that ends while it sends what was approved leaves it to another, which sends it once', async (t) => {
  const { member, sent, read, admin } = await approving('ending', everything)
  const { body: { approvalId } } = await send('POST', '/api/sms', { body: text() }, member)
  // The process ends once the dispatch is recorded, and before anybody knows.
  const dying = await processOf(admin, async (command) => {
    await app.get('pipeline').dispatch(command)
    throw new Error('killed')
  })
  const { body: { review: { seen } } } = await read(approvalId)
  await t.rejects(dying.approve(dying.by, approvalId, { seen }), /killed/)
  has(t, (await read(approvalId)).body, { status: 'sending', dispatchId: null })
  await sql`update approvals set worked_at = now() - interval '1 minute' where approval_id = ${approvalId}`.execute(owner)
  await until('another process has it', async () => (await read(approvalId)).body.status === 'approved')
  const { body: { dispatchId } } = await read(approvalId)
  t.same(await sent(), [dispatchId])
})

await t.test('what cannot be sent is tried for some minutes; then people decide about it again', async (t) => {
  const { member, admin, read, approve, sent } = await approving('giving up', everything)
  const { body: { approvalId } } = await send('POST', '/api/sms', { body: text() }, member)
  const stuck = await processOf(admin, () => Promise.reject(new Error('away')))
  const { body: { review: { seen } } } = await read(approvalId)
  await t.rejects(stuck.approve(stuck.by, approvalId, { seen }), /away/)
  await sql`update approvals set tries = 20, worked_at = now() - interval '1 minute' where approval_id = ${approvalId}`.execute(owner)
  await until('it waits again', async () => (await read(approvalId)).body.status === 'waiting')
  t.same(await sent(), [])
  has(t, (await send('GET', '/api/v1/audit?action=approval.returned', {}, admin)).body, { data: [{ facts: { reason: 'timeout' } }] })
  has(t, await approve(approvalId), { status: 200, body: { status: 'approved' } })
})

await t.test('who cannot be mailed waits, and keeps nobody else from being told', async (t) => {
  const [noisy, quiet] = [await approving('noisy', everything), await approving('quiet', everything)]
  for (const { member } of [noisy, quiet]) await send('POST', '/api/sms', { body: text() }, member)
  // In a transaction, so that nobody mails them meanwhile.
  await t.rejects(owner.transaction().execute(async (queries) => {
    const within = { ...app.get('database'), owner: queries }
    await sql`insert into approvals (approval_id, company_id, user_id, asker, services, command, request, facts, rules, status, told_at,
        worked_at, created_at, expires_at)
      select gen_random_uuid(), company_id, user_id, asker, services, command, request, facts, rules, status, now(), worked_at, '1970-01-01',
        expires_at from approvals, generate_series(1, 120) where company_id = ${noisy.companyId}`.execute(queries)
    await sql`update approvals set mailed_at = null where company_id = ${quiet.companyId}`.execute(queries)
    const ofQuiet = async () => (await listUnnotified(within, 'mailed_at')).filter((row) => row.company_id === quiet.companyId)
    const [found] = await ofQuiet()
    t.ok(found, 'a company with many keeps the others not waiting')
    await notifyLater(within, { companyId: quiet.companyId, approvalId: found?.approval_id ?? '' })
    t.same(await ofQuiet(), [], 'what has failed is left for a while')
    throw new Error('undone')
  }), /undone/)
})

await t.test('of two processes that send what was approved, what one has sent counts, not what the other was refused', async (t) => {
  const { member, sent, read, admin } = await approving('overtaken', everything)
  const { body: { approvalId } } = await send('POST', '/api/sms', { body: text() }, member)
  const { body: { review: { seen } } } = await read(approvalId)
  // Another one has taken it over meanwhile: this one does not let it wait again.
  const refused = await processOf(admin, async () => {
    await sql`update approvals set worked_at = now() + interval '1 second' where approval_id = ${approvalId}`.execute(owner)
    throw new DispatchError('insufficient_credits', 'None is left.')
  })
  await t.rejects(refused.approve(refused.by, approvalId, { seen }), /None is left/)
  has(t, (await read(approvalId)).body, { status: 'sending' })
  await sql`update approvals set status = 'waiting', rules = jsonb_build_array(rules->0 #- '{consent}') where approval_id = ${approvalId}`
    .execute(owner)
  // The other one was refused, and has let it wait again: what this one has sent is approved.
  const overtaken = await processOf(admin, async (command) => {
    const reply = await app.get('pipeline').dispatch(command)
    await sql`update approvals set status = 'waiting', decided_by = null where approval_id = ${approvalId}`.execute(owner)
    return reply
  })
  const done = await overtaken.approve(overtaken.by, approvalId, { seen })
  has(t, done, { status: 'approved', decidedBy: overtaken.by.actor.userId })
  t.same(await sent(), [done.dispatchId])
})
