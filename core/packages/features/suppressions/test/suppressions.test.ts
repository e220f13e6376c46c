import { refused } from '@dispatch/core/provider'
import { createFreshness } from '@dispatch/database'
import { type Kysely, sql } from 'kysely'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { json } from 'node:stream/consumers'
import t from 'tap'
import { until } from '../../../../../test/core/work/support.ts'
import { openConsole } from '../../../../../test/plugins/support/console.ts'
import { testProviders } from '../../../../../test/plugins/support/providers.ts'
import { chainBody } from '../../../../../test/support/chains.ts'
import { contains, has, lacks, matches } from '../../../../../test/support/matching.ts'
import { quickRenderer } from '../../../../../test/support/quick-renderer.ts'
import { admin as demo, type Answer, invoiceRequest, type Login, seededDatabase,
  startService } from '../../../../../test/support/service.ts'
import { up } from '../migrations/002-channels.ts'
import { createRecipientBook } from '../service/book.ts'

const providers = await testProviders(t)
const sent: any[] = []
let failing = false
await providers.add('mailer', {
  of: 'email',
  settings: '{ allowedSenders: AllowedSenders() }',
  service: 'idempotency: { kind: \'none\' }'
}, ({ email }: any, { reference }) => {
  if (failing) return Promise.reject(refused('down', 'Down.'))
  sent.push(email)
  return Promise.resolve({ id: reference, status: 'sent' })
})
const service = await startService(t, {
  config: { providerDirectories: providers.directories },
  replacements: { renderer: quickRenderer }
})
const { send, url } = service
const path = '/api/v1/suppressions'
await send('PUT', '/api/v1/company/providers/mailer', { body: { settings: { allowedSenders: ['demo@example.com'] } } })

const late = { 'x-api-version': '1.1.0' }
const mail = (to: unknown, more: object = {}): object => ({
  providerName: 'mailer',
  email: { from: 'demo@example.com', to, subject: 'Hello', body: 'Hello, Ada.', ...more }
})
const dispatch = (to: unknown, more: object = {}, headers: Record<string, string> = late, way = ''): Promise<Answer> =>
  send('POST', `/api/email${way}`, { body: mail(to, more), headers })
const add = (body: object, login?: Login): Promise<Answer> => send('POST', path, { body, headers: late }, login)
const list = async (query = '', login?: Login): Promise<any[]> => (await send('GET', `${path}?${query}`, {}, login)).body.data
const remove = async (address: string, login?: Login): Promise<void> => {
  const [found] = await list(`search=${encodeURIComponent(address)}`, login)
  t.equal((await send('DELETE', `${path}/${found.id}?why=test`, {}, login)).status, 204)
}

await t.test('nothing is sent to an address of the list: a dispatch says since when and why, however it is written', async (t) => {
  const added = await add({ channel: 'email', address: 'Ada@Example.com', note: 'By phone' })
  has(t, added, {
    status: 201,
    body: { channel: 'email', address: 'ada@example.com', reason: 'manual', note: 'By phone', dispatchId: null }
  })
  has(t, await add({ channel: 'email', address: 'ada@example.com', reason: 'complaint' }), { status: 200, body: added.body })
  const { since } = added.body
  const problem = {
    path: '/email/to/1',
    code: 'suppressed',
    message: `Nothing is sent to ada@example.com since ${since} (manual): the company wants it so.`
  }
  const to = ['bob@example.com', 'Ada Lovelace <ADA@example.com>']
  has(t, await dispatch(to), { status: 422, body: { error: 'suppressed', details: [problem] } })
  has(t, await dispatch(to, {}, late, '/validate'), { status: 422, body: { error: 'suppressed', result: 'error', details: [problem] } })
  has(t, await dispatch(to, {}, {}), { status: 422, body: { error: 'validation_failed', details: [problem] } },
    'in 1.0.1 by a word it knows')
  has(t, await dispatch('bob@example.com', { cc: 'ada@example.com', subject: '' }), { status: 400 })
  has(t, await dispatch('bob@example.com', { bcc: 'ada@example.com' }), { status: 422, body: { details: [{ path: '/email/bcc' }] } })
  t.equal((await dispatch('bob@example.com')).status, 200)
  t.equal(sent.length, 1)
  const text = { sms: { phoneNumber: '+33612345678', message: 'Hello' } }
  t.equal((await add({ channel: 'sms', address: '+33612345678', reason: 'stopped' })).status, 201)
  has(t, await send('POST', '/api/sms', { body: text, headers: late }), {
    status: 422,
    body: { error: 'suppressed', details: [{ path: '/sms/phoneNumber' }] }
  })
})

await t.test('whom a vendor mails itself is looked for, too: signers, and the customer of an invoice', async (t) => {
  const customer = (email: string): object =>
    invoiceRequest({ customer: { ...(invoiceRequest() as any).template.data.customer, email } }, { sendByEmail: true })
  const signed = (email: string): object => ({
    ...chainBody(['esign'], (invoiceRequest() as any).template),
    signers: [{ email: 'bob@example.com', firstName: 'Bob', lastName: 'B' }, { email, firstName: 'Ada', lastName: 'Lovelace' }]
  })
  for (const [way, body, place] of [['invoicing', customer, '/sendByEmail'], ['esign', signed, '/signers/1']] as const) {
    for (const action of ['', '/validate']) {
      const requested = (email: string): Promise<Answer> => send('POST', `/api/${way}${action}`, { body: body(email), headers: late })
      has(t, await requested('Ada@example.com'), {
        status: 422,
        body: { error: 'suppressed', details: [{ path: place, code: 'suppressed' }] }
      })
      t.not((await requested('eve@example.com')).body.error, 'suppressed', way)
    }
  }
})

await t.test('a list is one company\'s: another sends to the address, and sees nothing of it', async (t) => {
  const other = await service.company('elsewhere')
  const [{ id }] = await list('channel=email')
  t.same(await list('', other.admin), [])
  t.equal((await send('GET', `${path}/${id}`, {}, other.admin)).status, 404)
  t.equal((await send('DELETE', `${path}/${id}?why=x`, {}, other.admin)).status, 404)
  const text = { sms: { phoneNumber: '+33612345678', message: 'Hello' }, providerName: 'simulator' }
  await send('PUT', '/api/v1/company/providers/simulator', { body: { settings: {} } }, other.admin)
  t.equal((await send('POST', '/api/sms', { body: text, headers: late }, other.admin)).status, 200)
  t.equal((await add({ channel: 'sms', address: '+33612345679' }, other.member)).status, 403, 'admins change the list')
  t.same((await send('GET', path, {}, other.member)).status, 200)
})

await t.test('the list is searched, filtered, read in pages, exported; what is removed says why in the audit log', async (t) => {
  for (const address of ['x1@example.org', 'x2@example.org', 'x3@example.org']) {
    await add({ channel: 'email', address, reason: 'complaint' })
  }
  t.equal((await list('search=X2%40')).length, 1)
  t.equal((await list('reason=complaint')).length, 3)
  const { body: first } = await send('GET', `${path}?reason=complaint&limit=2`)
  const { body: second } = await send('GET', `${path}?reason=complaint&limit=2&cursor=${first.nextCursor}`)
  t.same([...first.data, ...second.data].map(({ address }: any) => address), ['x3@example.org', 'x2@example.org', 'x1@example.org'])
  const csv = await send('GET', `${path}/export?format=csv&reason=complaint`)
  contains(t, csv.body, /^channel,address,reason,note,since\r\nemail,x3@example\.org,complaint,,\d{4}-.*Z\r\n/)
  t.equal(String((await send('GET', `${path}/export?reason=complaint`)).body).trim().split('\n').length, 3)
  contains(t, (await send('GET', `${path}/export?format=csv&channel=sms`)).body, 'sms,+33612345678,stopped')
  const [{ id }] = await list('search=x1')
  t.equal((await send('DELETE', `${path}/${id}`)).status, 400, 'a reason is asked for')
  t.equal((await send('DELETE', `${path}/${id}?why=She%20asked`)).status, 204)
  t.equal((await send('DELETE', `${path}/${id}?why=again`)).status, 404)
  const { body: audit } = await send('GET', '/api/v1/audit?action=suppression.removed')
  has(t, audit.data, [{ object: { kind: 'suppression', id }, facts: { channel: 'email', reason: 'complaint', why: 'She asked' } }])
  lacks(t, JSON.stringify(audit), 'x1@')
})

await t.test('an import is taken whole or not at all, once, in JSON and in CSV', async (t) => {
  const bring = (body: string | Buffer | object, query = '', type = 'text/csv'): Promise<Answer> =>
    send('POST', `${path}/import?${query}`, {
      body: typeof body === 'string' ? Buffer.from(body) : body,
      headers: { 'content-type': type }
    })
  const good = '\ufeffaddress;reason;note\r\n i1@example.com ;unsubscribed;"a; b"\r\n\r\nI1@example.com;;\r\ni2@example.com;;\r\n'
  has(t, await bring(good, 'channel=email&reason=hard_bounce'), { status: 200, body: { added: 2, known: 1 } })
  has(t, await list('search=i1'), [{ reason: 'unsubscribed', note: 'a; b' }])
  has(t, await list('search=i2'), [{ reason: 'hard_bounce', note: null }])
  has(t, await bring(good, 'channel=email'), { status: 200, body: { added: 0, known: 3 } })
  const json = { suppressions: [{ channel: 'email', address: 'i3@example.com' }, { channel: 'sms', address: '+33612340000' }] }
  has(t, await bring(json, '', 'application/json'), { status: 200, body: { added: 2, known: 0 } })
  const exported = (await send('GET', `${path}/export?format=csv`)).body as string
  has(t, await bring(exported), { status: 200, body: { added: 0 } }, 'what is exported can be imported')
  const wrong = await bring('channel,address\nemail,i4@example.com\nemail,none\nsms,123\n')
  has(t, wrong, {
    status: 422,
    body: { error: 'validation_failed', details: [{ path: '/suppressions/1/address' }, { path: '/suppressions/2/address' }] }
  })
  t.same(await list('search=i4'), [])
  for (const [body, status] of [
    ['mail\na@example.com\n', 400],
    ['', 400],
    ['address\n', 400],
    ['address\na@example.com\n', 400],
    ['channel,address\nfax,a@example.com\n', 400],
    ['channel,address,reason\nemail,a@example.com,because\n', 400]
  ] as const) t.equal((await bring(body)).status, status, body)
  for (const [body, says] of [
    [Buffer.from('channel,address,note\nemail,a@example.com,caf\xe9\n', 'latin1'), 'The file is not UTF-8'],
    [Buffer.from('\ufeffchannel,address\nemail,a@example.com\n', 'utf16le'), 'The file is not UTF-8'],
    ['channel,address\r\nemail,a@example.com\r\nemail,"b@example.com\r\nemail,c@example.com\r\n', 'Row 2 cannot be read: a quotation mark'],
    ['channel,"address\nemail,a@example.com\n', 'The heading cannot be read: a quotation mark'],
    ['channel,address\nemail,"a@example.com\n', 'Row 1 cannot be read: a quotation mark'],
    ['channel,address\nemail\n', 'Row 1 cannot be read: it has not as many cells']
  ] as const) has(t, await bring(body), { status: 400, body: { message: new RegExp(says) } }, says)
  has(t, await bring('channel,address,note\nemail,semicolon@example.com,one; two\n'), { status: 200, body: { added: 1 } })
  const many = (n: number): string => `address\n${Array.from({ length: n }, (_, i) => `m${i}@e.fr`).join('\n')}\n`
  has(t, await bring(many(100_001), 'channel=email'), {
    status: 413,
    body: { error: 'payload_too_large', message: /at most 100000 addresses/ }
  })
  has(t, await bring(`address\n${'m1@e.fr\n'.repeat(1_000_000)}`, 'channel=email'), { status: 413, body: { error: 'payload_too_large' } })
  t.same(await list('search=m1%40e.fr'), [], 'nothing of it is there')
  has(t, await bring(many(10_001), 'channel=email'), { status: 200, body: { added: 10_001 } }, 'more than other lists may have')
})

await t.test('a template that is transactional for a reason is sent all the same, for this reason alone', async (t) => {
  const { body: { data: templates } } = await send('GET', '/api/v1/templates?limit=100')
  const template = templates.find(({ service }: any) => service === 'email')
  const ask = (to: string): Promise<Answer> =>
    send('POST', '/api/email/validate', {
      body: {
        providerName: 'mailer',
        template: { id: template.id, data: template.sample },
        email: { from: 'demo@example.com', to: [to], subject: 'Hello' }
      },
      headers: late
    })
  await add({ channel: 'email', address: 'gone@example.com', reason: 'hard_bounce' })
  await add({ channel: 'email', address: 'tired@example.com', reason: 'unsubscribed' })
  has(t, await ask('tired@example.com'), { status: 422, body: { error: 'suppressed' } })
  const mark = (id: number | string, reasons: string[]): Promise<Answer> => send('PUT', `${path}/templates/${id}`, { body: { reasons } })
  has(t, await mark(template.id, ['unsubscribed']), { status: 200, body: { templateId: template.id, reasons: ['unsubscribed'] } })
  t.equal((await ask('tired@example.com')).status, 200)
  has(t, await ask('gone@example.com'), { status: 422, body: { error: 'suppressed' } })
  has(t, (await send('GET', `${path}/templates`)).body, { data: [{ templateId: template.id, reasons: ['unsubscribed'] }] })
  t.equal((await mark(template.id, [])).status, 200)
  t.same((await send('GET', `${path}/templates`)).body.data, [])
  has(t, await mark(999_999, ['manual']), { status: 404, body: { error: 'template_not_found' } })
  for (const id of ['x', '0']) t.equal((await mark(id, [])).status, 404)
  t.equal((await mark(template.id, ['because'])).status, 400)
})

await t.test('a retry sends nothing to who was suppressed since, and neither does one with other fields', async (t) => {
  sent.length = 0
  failing = true
  const { body: { dispatchId } } = await dispatch(['late@example.com'])
  failing = false
  const retry = (body?: object): Promise<Answer> =>
    send('POST', `/api/v1/dispatches/${dispatchId}/retry`, { headers: late, ...body !== undefined && { body } })
  const read = async (headers: Record<string, string>): Promise<any> =>
    (await send('GET', `/api/v1/dispatches/${dispatchId}`, { headers })).body
  await add({ channel: 'email', address: 'late@example.com' })
  has(t, await retry(), { status: 422, body: { error: 'suppressed', details: [{ path: '/email/to/0', code: 'suppressed' }] } })
  has(t, await read(late), { status: 'failed', steps: [{ error: { error: 'suppressed' } }] })
  has(t, await read({}), { steps: [{ error: { error: 'validation_failed' } }] })
  const { email } = mail('x2@example.org') as any
  has(t, await retry({ email }), { status: 422, body: { error: 'suppressed', details: [{ path: '/email/to' }] } })
  t.equal(sent.length, 0)
  await remove('late@example.com')
  t.equal((await retry()).status, 200)
  t.equal(sent.length, 1)
})

await t.test('a deferred step sends nothing to who is suppressed when its event comes', async (t) => {
  const { email } = mail('later@example.com') as any
  const signers = [{ email: 'eve@example.com', firstName: 'Eve', lastName: 'E' }]
  const deferred = [{ on: 'esign.completed', service: 'email', providerName: 'mailer', ...email }]
  const { body } = await send('POST', '/api/esign', {
    headers: late,
    body: chainBody(['esign'], invoiceRequest()['template'], { providerName: 'simulator', signers, deferred })
  })
  t.equal(typeof body.dispatchId, 'string', JSON.stringify(body))
  await add({ channel: 'email', address: 'later@example.com' })
  sent.length = 0
  await send('POST', '/api/v1/simulator/events', { body: { dispatchId: body.dispatchId, status: 'completed' } })
  const read = async (): Promise<any> => (await send('GET', `/api/v1/dispatches/${body.dispatchId}`, { headers: late })).body.steps[1]
  await until('its event has come', async () => (await read()).status !== 'waiting' && (await read()).status !== 'planned')
  has(t, await read(), { status: 'rejected', error: { error: 'suppressed' } })
  t.equal(sent.length, 0)
})

await t.test('mail that came back and a complaint fill the list, for the recipient whom the vendor names, and never a test', async (t) => {
  const simulate = async (to: unknown, status: string): Promise<string> => {
    const { body } = await send('POST', '/api/email', { headers: late, body: { ...mail(to), providerName: 'simulator' } })
    t.equal(typeof body.dispatchId, 'string', JSON.stringify(body))
    const { dispatchId } = body
    await send('POST', '/api/v1/simulator/events', { body: { dispatchId, status } })
    await until('the event is handled', async () => {
      const { body } = await send('GET', `/api/v1/dispatches/${dispatchId}/events`)
      return body.data.some(({ facts }: any) => facts.status === status)
    })
    return dispatchId
  }
  const bounced = await simulate('back@example.com', 'bounced')
  has(t, await list('search=back@'), [{ reason: 'hard_bounce', dispatchId: bounced, userId: null }])
  await simulate('angry@example.com', 'complained')
  has(t, await list('search=angry@'), [{ reason: 'complaint' }])
  await simulate('read@example.com', 'delivered')
  await simulate(['first@example.com', 'second@example.com'], 'bounced')
  for (const address of ['read@', 'first@', 'second@']) t.same(await list(`search=${address}`), [], address)
  await send('PUT', '/api/v1/company/providers/simulator', {
    body: { settings: { allowedSenders: ['demo@example.com'] }, sandbox: true }
  })
  await simulate('tried@example.com', 'bounced')
  t.same(await list('search=tried@'), [])
})

await t.test('a letter that came back is the last one to its recipient there, however the address is written', async (t) => {
  const recipient = { name: 'Zoë Lovelace', address: '12 rue de la Paix\nBâtiment B', postalCode: '75002', city: 'Paris', country: 'FR' }
  const letter = (other: object = {}): object => ({
    providerName: 'simulator',
    ...(chainBody(['postal'], (invoiceRequest() as any).template) as object),
    postal: { recipient: { ...recipient, ...other } }
  })
  const post = (other?: object, way = ''): Promise<Answer> => send('POST', `/api/postal${way}`, { headers: late, body: letter(other) })
  await send('PUT', '/api/v1/company/providers/simulator', { body: { settings: {}, sandbox: false } })
  const { body: { dispatchId } } = await post()
  t.equal(typeof dispatchId, 'string')
  await send('POST', '/api/v1/simulator/events', { body: { dispatchId, status: 'returned' } })
  const address = 'zoe lovelace, 12 rue de la paix batiment b, 75002 paris, fr'
  await until('the letter came back', async () => (await list('channel=postal')).length > 0)
  has(t, await list('reason=returned'), [{ channel: 'postal', address, reason: 'returned', dispatchId, userId: null }])
  for (const other of [{}, { name: 'ZOE LOVELACE', address: '12, Rue de la Paix, Batiment B' }, { postalCode: '75 002' }]) {
    const problem = { path: '/postal/recipient', code: 'suppressed', message: /\(returned\): a letter to it came back\./ }
    has(t, await post(other, '/validate'), { status: 422, body: { error: 'suppressed', details: [problem] } })
    has(t, await post(other), { status: 422, body: { error: 'suppressed', details: [problem] } })
  }
  for (const other of [{ name: 'Ada Lovelace' }, { address: '21 rue du Bac', postalCode: '75007' }]) {
    t.equal((await post(other)).status, 200)
  }
  const [{ id }] = await list('channel=postal')
  t.equal((await send('DELETE', `${path}/${String(id)}?why=moved`)).status, 204)
  t.equal((await post()).status, 200)
  has(t, await add({ channel: 'postal', address: 'Zoé Lovelace, 12 rue de la Paix, Bâtiment B, 75002 Paris, fr' }), {
    status: 201,
    body: { address, reason: 'manual' }
  })
  t.equal((await post()).status, 422)
  // Who is erased gets no letter all the same.
  const { body: { id: erasure } } = await send('POST', '/api/v1/privacy/erasures', { body: { reference: address } })
  await until('the address is erased',
    async () => (await send('GET', `/api/v1/privacy/erasures/${String(erasure)}`)).body.status === 'finished')
  has(t, await list('channel=postal'), [{ address: /^erased:/ }])
  t.equal((await post()).status, 422)
  has(t, await add({ channel: 'postal', address: 'Zoé Lovelace' }), {
    status: 422,
    body: { details: [{ path: '/address', code: 'format' }] }
  })
})

await t.test('a letter that comes back suppresses nobody where its recipient is forgotten, or may not have fetched it', async (t) => {
  const { owner } = service.app.get('database')
  const recipient = { name: 'Eve Lovelace', address: '3 rue Monge', postalCode: '75005', city: 'Paris', country: 'FR' }
  const returned = async (fields: object, meanwhile?: (dispatchId: string) => Promise<unknown>): Promise<void> => {
    const { body: { dispatchId } } = await send('POST', '/api/postal', {
      headers: late,
      body: {
        providerName: 'simulator',
        ...(chainBody(['postal'], (invoiceRequest() as any).template) as object),
        postal: { recipient, ...fields }
      }
    })
    t.equal(typeof dispatchId, 'string')
    await meanwhile?.(dispatchId)
    await send('POST', '/api/v1/simulator/events', { body: { dispatchId, status: 'returned' } })
    await until('the letter came back', async () => {
      const { body } = await send('GET', `/api/v1/dispatches/${String(dispatchId)}/events`)
      return body.data.some(({ facts }: any) => facts.status === 'returned')
    })
    t.same(await list('search=eve+lovelace'), [])
  }
  await returned({ mailType: 'REGISTERED' })
  await returned({}, async (dispatchId) => {
    // As retention leaves it.
    await sql`update steps set fields = '{}', request_settings = '{}', made = null, data = null where dispatch_id = ${dispatchId}`
      .execute(owner)
  })
})

await t.test('who answers STOP gets no text message any more, START lifts that alone, and nobody else may say so', async (t) => {
  const [token, number, other] = ['0123456789abcdef0123456789abcdef', '+33611112222', '+33687654321']
  const { admin } = await service.company('texts')
  const settings = { accountSid: `AC${token}`, authToken: token, from: '+15005550100' }
  const configured = await send('PUT', '/api/v1/company/providers/twilio', { body: { settings } }, admin)
  t.equal(configured.status, 200)
  const { body: { webhookUrls: { sms: address } } } = configured
  const handled = async (): Promise<number> => {
    const { rows } = await sql<
      { rows: number }
    >`select count(*)::integer as rows from inbound where state in ('applied', 'kept', 'duplicate')`
      .execute(service.app.get('database').owner)
    return rows[0]?.rows ?? 0
  }
  let texts = 0
  /** What Twilio tells: the fields in the order of their names. */
  async function tells (fields: Readonly<Record<string, string>>, to: string = address, key = token): Promise<void> {
    const signed = Object.entries(fields).flat().join('')
    const answer = await fetch(to.replace('https://dispatch.example.com', url), {
      method: 'POST',
      body: new URLSearchParams(fields),
      headers: { 'x-twilio-signature': createHmac('sha1', key).update(to + signed).digest('base64') }
    })
    t.equal(answer.status, 200)
  }
  /** What somebody writes to the number of the company. */
  async function writes (from: string, text: string, to: string = address, key = token): Promise<void> {
    const before = await handled()
    await tells({ AccountSid: settings.accountSid, Body: text, From: from, MessageSid: `SM${texts++}`, SmsStatus: 'received' }, to, key)
    if (key === token) await until('the answer is handled', async () => await handled() > before)
  }
  const reasons = async (): Promise<string[]> =>
    (await list('channel=sms', admin)).map((one) => `${String(one.address)} ${String(one.reason)}`)
  await writes(other, 'STOP', address, 'another-key')
  await writes(number, 'Stop ')
  await writes(number, 'STOP')
  t.same(await reasons(), [`${number} stopped`])
  t.same(await list(`search=${encodeURIComponent(number)}`), [], 'it is of the company at whose address it came')
  has(t, await send('POST', '/api/sms/validate', {
    body: { providerName: 'twilio', sms: { phoneNumber: number, message: 'Hello' } },
    headers: late
  }, admin), {
    status: 422,
    body: { details: [{ code: 'suppressed', message: /\(stopped\): it answered STOP/ }] }
  })
  await writes(number, 'start')
  t.same(await reasons(), [])
  // It waits for no dispatch: it is kept at once, and says nothing.
  await writes(number, 'Thank you')
  t.same(await reasons(), [])
  // What becomes of a text is no answer, also by a word that nobody knows: it waits until the text is known.
  await tells({ AccountSid: settings.accountSid, From: '+15005550100', MessageSid: 'SMearly', MessageStatus: 'pondered' })
  const early = async (): Promise<string | undefined> =>
    (await sql<{ state: string }>`select state from inbound where convert_from(body, 'UTF8') like '%SMearly%'`
      .execute(service.app.get('database').owner)).rows[0]?.state
  await until('it is held', async () => await early() === 'held')
  await add({ channel: 'sms', address: other, reason: 'manual' }, admin)
  await writes(other, 'STOP')
  await writes(other, 'START')
  t.same(await reasons(), [`${other} manual`], 'what the company has written down stays')
})

await t.test('a process asks once for the channels in which a company suppresses nobody, and sees what others add', async (t) => {
  const { companyId, admin } = await service.company('asking')
  const database = service.app.get('database')
  let reads = 0
  // As in another process, which knows only what the database tells it.
  const book = createRecipientBook({
    database: {
      ...database,
      company (id, work) {
        reads++
        return database.company(id, work)
      }
    },
    freshness: createFreshness(database),
    hashOf: ({ address }) => `hash of ${address}`,
    links: { sign: () => '', open: () => undefined },
    publicUrl: 'https://dispatch.example.com',
    newId: () => 'none'
  })
  const screen = async (service: 'email' | 'sms', latest = true): Promise<string[]> => {
    const address = service === 'email' ? 'ada@example.com' : '+33612345678'
    return (await book.screen(companyId, [{ service, address, path: '/to' }], { latest })).map(({ code }) => code)
  }
  for (let times = 0; times < 3; times++) t.same([await screen('email'), await screen('sms')], [[], []])
  t.equal(reads, 1)
  await add({ channel: 'email', address: 'ada@example.com' }, admin)
  t.same(await screen('email', false), [], 'as of the last check')
  t.same(await screen('email'), ['suppressed'])
  reads = 0
  for (let times = 0; times < 3; times++) t.same(await screen('sms'), [])
  t.equal(reads, 0, 'of mails alone')
  await remove('ada@example.com', admin)
  t.same(await screen('email'), [])
  await add({ channel: 'email', address: 'ada@example.com' }, admin)
  t.same(await screen('email', false), ['suppressed'], 'a channel stays one that is asked for')
})

await t.test('whom another process suppresses while the body of a request comes gets nothing', async (t) => {
  const databaseUrl = await seededDatabase(t)
  const config = { dataKeys: { folder: t.testdir() }, runsWorker: false }
  const [sender, other] = [await startService(t, { databaseUrl, config }), await startService(t, { databaseUrl, config })]
  const text = { sms: { phoneNumber: '+33612345678', message: 'Hello' } }
  t.equal((await sender.send('POST', '/api/sms', { body: text, headers: late })).status, 200, 'it knows that nobody is suppressed')
  const freshness = sender.app.get('freshness')
  const { check } = freshness
  const came = new Promise<void>((resolve) => {
    freshness.check = async () => {
      await check()
      resolve()
    }
  })
  const token = Buffer.from(`${demo.email}:${demo.password}`).toString('base64')
  const sending = request(`${sender.url}/api/sms`, {
    method: 'POST',
    headers: { ...late, authorization: `Basic ${token}`, 'content-type': 'application/json' }
  })
  sending.flushHeaders()
  await came
  t.equal((await other.send('POST', path, { body: { channel: 'sms', address: '+33612345678' }, headers: late })).status, 201)
  sending.end(JSON.stringify(text))
  const [answer] = await once(sending, 'response') as [IncomingMessage]
  const body: unknown = await json(answer)
  has(t, { status: answer.statusCode, body }, { status: 422, body: { error: 'suppressed', details: [{ path: '/sms/phoneNumber' }] } })
})

await t.test('the channels of what was suppressed before are found by an index, however much it is', async (t) => {
  const { owner } = service.app.get('database')
  const [one, two] = [await service.company('before'), await service.company('before-too')]
  const rolledBack = new Error('What it has tried is undone.')
  await t.rejects(owner.transaction().execute(async (queries) => {
    await sql`drop table suppressed_channels`.execute(queries)
    await sql`drop function note_suppressed_channels cascade`.execute(queries)
    await sql`delete from suppressions`.execute(queries)
    await sql`insert into suppressions (suppression_id, company_id, channel, address, reason, since)
      select gen_random_uuid(), case when n % 3 = 0 then ${one.companyId}::int else ${two.companyId}::int end,
        case when n % 3 = 1 then 'sms' else 'email' end, n, 'manual', now() from generate_series(1, 3000) as n`.execute(queries)
    const readRows = async (): Promise<number> => {
      const { rows: [read] } = await sql<{ count: number }>`select (seq_tup_read + idx_tup_fetch)::int as count
        from pg_stat_xact_user_tables where relname = 'suppressions'`.execute(queries)
      return read?.count ?? Infinity
    }
    const before = await readRows()
    await up(queries as unknown as Kysely<unknown>)
    t.ok(await readRows() - before <= 10, `${await readRows() - before} rows`)
    const { rows } = await sql<
      { of: string }
    >`select company_id || ' ' || channel as of from suppressed_channels order by company_id, channel`
      .execute(queries)
    t.same(rows.map(({ of }) => of), [`${one.companyId} email`, `${two.companyId} email`, `${two.companyId} sms`])
    throw rolledBack
  }), rolledBack)
})

await t.test('addresses that are ticked are taken from the list together, with one reason', async (t) => {
  const { admin } = await service.company('ticking')
  for (const name of ['one', 'two', 'three']) await add({ channel: 'email', address: `${name}@ticking.example` }, admin)
  const ids = (await list('', admin)).filter(({ address }) => !address.startsWith('three')).map(({ id }) => String(id))
  const { open, confirm, post, signIn } = openConsole(service)
  const cookie = await signIn(admin)
  contains(t, (await open('/suppressions', cookie)).body, `<input type="checkbox" form="chosen" name="row-${ids[0] ?? ''}"`)
  const ticked = Object.fromEntries(ids.map((id) => [`row-${id}`, id]))
  contains(t, (await post('/suppressions/chosen/remove', { ...ticked, why: 'They asked' }, cookie)).body, 'name="why" value="They asked"')
  const unsaid = await post('/suppressions/chosen/remove', { ...ticked, why: ' ' }, cookie)
  t.equal(unsaid.status, 422)
  for (const part of ['Fill this in.', ...ids.map((id) => `name="row-${id}" value="${id}"`)]) contains(t, unsaid.body, part)
  lacks(t, unsaid.body, ':confirmed')
  t.equal((await post('/suppressions/chosen/remove', { ...ticked, why: '', ':confirmed': 'true' }, cookie)).status, 422)
  t.equal((await list('', admin)).length, 3)
  contains(t, (await confirm('/suppressions/chosen/remove', { ...ticked, why: 'They asked' }, cookie)).body, 'Done: 2 of 2.')
  t.same((await list('', admin)).map(({ address }) => address), ['three@ticking.example'])
})

await t.test('the console takes long lists, and lines with quotation marks, commas and semicolons', async (t) => {
  const { admin } = await service.company('importing')
  const { post, follow, signIn } = openConsole(service)
  const cookie = await signIn(admin)
  const bring = (lines: string[]): Promise<Answer> =>
    post('/suppressions/import', { channel: 'email', addresses: lines.join('\r\n') }, cookie)
  const taken = await bring(Array.from({ length: 40_000 }, (_, at) => ` m${at}@e.fr `))
  t.equal(taken.status, 303)
  contains(t, (await follow(String(taken.headers.get('location')).slice('/console'.length), cookie)).body, '40000')
  const wrong = await bring(['ada@example.com', 'a,b;"c'])
  t.equal(wrong.status, 422)
  contains(t, wrong.body, 'a,b;&quot;c')
})

await t.test('a pasted list is refused by the numbers and the texts of its lines, as they stand there', async (t) => {
  const { admin } = await service.company('pasting')
  const { post, signIn } = openConsole(service)
  const cookie = await signIn(admin)
  const lines = ['', '+33612345678', '  ', 'nobody@', ...Array.from({ length: 20 }, (_, at) => `n${String(at)}`)]
  const { status, body } = await post('/suppressions/import', { channel: 'sms', addresses: lines.join('\n') }, cookie)
  t.equal(status, 422)
  contains(t, body, 'Line 4, “nobody@”:')
  contains(t, body, 'Line 23, “n18”:')
  lacks(t, body, 'Line 24,')
  contains(t, body, 'There are more lines like these: 1.')
  lacks(t, body, '/suppressions/1')
  contains(t, body, '<option value="sms" selected>')
  const french = await post('/suppressions/import', { channel: 'email', addresses: 'nobody@' }, `${cookie}; __Host-console-language=fr`)
  contains(t, french.body, /Ligne 1, «\snobody@\s»\s: Ce n’est pas une adresse pour\s: E-mail\./)
})

await t.test('a mail unsubscribes its one recipient by a click (RFC 8058): opening the address changes nothing', async (t) => {
  sent.length = 0
  t.equal((await dispatch('list@example.com', { unsubscribe: true })).status, 200)
  const { headers } = sent[0]
  t.equal(headers['List-Unsubscribe-Post'], 'List-Unsubscribe=One-Click')
  matches(t, headers['List-Unsubscribe'], /^<https:\/\/dispatch\.example\.com\/unsubscribe\?t=[\w-]{60,}>$/)
  lacks(t, JSON.stringify(sent), Buffer.from('list@example.com').toString('base64url'))
  await dispatch('list@example.com', { unsubscribe: true })
  t.equal(sent[1].headers['List-Unsubscribe'], headers['List-Unsubscribe'], 'it is the same mail when it is sent again')
  const at = headers['List-Unsubscribe'].slice('<https://dispatch.example.com'.length, -1)
  const page = await send('GET', at, {}, null)
  t.equal(page.status, 200)
  contains(t, page.body, 'will send nothing more to list@example.com')
  contains(t, page.headers.get('content-security-policy'), 'default-src \'none\'')
  t.equal(page.headers.get('referrer-policy'), 'no-referrer')
  t.same(await list('search=list@'), [])
  const click = (path: string, body = 'List-Unsubscribe=One-Click', type = 'application/x-www-form-urlencoded'): Promise<Response> =>
    fetch(`${url}${path}`, { method: 'POST', headers: { 'content-type': type, 'accept-language': 'fr' }, body })
  const clicked = await click(at)
  t.equal(clicked.status, 200)
  contains(t, await clicked.text(), 'ne recevra plus')
  has(t, await list('search=list@'), [{ reason: 'unsubscribed', userId: null }])
  t.equal((await click(at)).status, 200, 'twice is once')
  has(t, await dispatch('list@example.com', { unsubscribe: true }), { status: 422, body: { error: 'suppressed' } })
  const other = at.at(-8) === 'A' ? 'B' : 'A'
  for (const wrong of [`${at.slice(0, -8)}${other}${at.slice(-7)}`, '/unsubscribe', '/unsubscribe?t=AAAA',
    `/unsubscribe?t=${'A'.repeat(4000)}`])
  {
    t.equal((await click(wrong)).status, 404, wrong.slice(0, 60))
    t.equal((await send('GET', wrong, {}, null)).status, 404)
  }
  t.equal((await click(at, 'x'.repeat(5000))).status, 413)
  has(t, await dispatch(['a1@example.com', 'b1@example.com'], { unsubscribe: true }), {
    status: 422,
    body: { error: 'validation_failed', details: [{ path: '/email/unsubscribe', code: 'one_recipient' }] }
  })
  const own = { 'List-Unsubscribe': '<https://example.com/u>' }
  has(t, await dispatch('a1@example.com', { unsubscribe: true, headers: own }), {
    status: 422,
    body: { details: [{ path: '/email/headers/List-Unsubscribe', code: 'contradiction' }] }
  })
})
