import t from 'tap'
import { until } from '../core/work/support.ts'
import { clockAt, idsAt } from '../support/clock.ts'
import { has, matches } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { type Answer, invoiceRequest, type Login, startService } from '../support/service.ts'

const clock = clockAt('2026-03-14T09:30:00.000Z')
const service = await startService(t, { replacements: { renderer: quickRenderer, now: clock.now, newId: idsAt(clock.now) } })

type List = { data: any[], nextCursor: string | null }
const list = async (query: string, login?: Login): Promise<List> =>
  (await service.send('GET', `/api/v1/dispatches?${query}`, {}, login)).body
const numbersOf = ({ data }: List): string[] => data.map(({ documentNumber }) => documentNumber as string)

/** All pages of a list, one after the other. */
async function pages (query: string, limit: number, login?: Login): Promise<List[]> {
  const found: List[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const page: List = await list(`${query}&limit=${limit}${cursor === '' ? '' : `&cursor=${cursor}`}`, login)
    found.push(page)
    cursor = page.nextCursor
  }
  return found
}

await t.test('a dispatch is read as it is now', async (t) => {
  const sent = await service.send('POST', '/api/invoicing', {
    body: invoiceRequest({ number: 'R-1' }, { metadata: { orderId: 'A-1' } }),
    headers: { 'x-request-id': 'request-1' }
  })
  const path = `/api/v1/dispatches/${sent.body.dispatchId}`
  const later = await service.send('GET', path, { headers: { 'x-api-version': '1.1.0' } })
  t.strictSame(later.body.template, { id: 1, version: 1, name: 'Invoice' }, 'from 1.1.0 on with the name of its template')
  const { status, body } = await service.send('GET', path)
  t.equal(status, 200)
  t.strictSame(body, {
    dispatchId: sent.body.dispatchId,
    status: 'succeeded',
    services: ['invoicing'],
    userId: 2,
    template: { id: 1, version: 1 },
    documentType: 'INVOICE',
    documentNumber: 'R-1',
    recipient: 'Ada Lovelace',
    metadata: { orderId: 'A-1' },
    creditsCharged: 1,
    steps: [{
      service: 'invoicing',
      status: 'accepted',
      providerName: 'simulator',
      providerVersion: service.app.get('host').find('simulator')?.version,
      chosenBy: 'company',
      sandbox: false,
      providerResponse: sent.body.providerResponse,
      generatedDocument: sent.body.generatedDocument,
      creditsCharged: 1,
      deliveryStatus: null
    }],
    requestId: 'request-1',
    createdAt: '2026-03-14T09:30:00.000Z',
    finishedAt: '2026-03-14T09:30:00.000Z'
  })
})

await t.test('what is no dispatch is a 404', async (t) => {
  for (const id of ['x', '1', '00000000-0000-0000-0000-000000000000', '%00', 'a'.repeat(90)]) {
    for (const path of [`/api/v1/dispatches/${id}`, `/api/v1/dispatches/${id}/events`]) {
      has(t, await service.send('GET', path), { status: 404, body: { error: 'not_found' } }, path)
    }
  }
})

await t.test('a list is filtered by', async (t) => {
  const { member } = await service.company('filters')
  const made: [string, Record<string, unknown>, Record<string, unknown>][] = [
    ['L-1', {}, { metadata: { orderId: 'A-1', region: 'EU' } }],
    ['L-2', { customer: { name: 'Grace Hopper' } }, { metadata: { orderId: 'A-2', region: 'EU' } }],
    ['L-3', {}, { documentType: 'CREDIT', metadata: { orderId: 'A-1' } }],
    ['L-4', { customer: { name: 'Grace Hopper' } }, { invoicing: { reference: 'reject' } }],
    ['L-5', { customer: { name: 'Zoë Ångström' } }, { invoicing: { reference: 'uncertain' } }]
  ]
  for (const [number, data, more] of made) {
    clock.advance(60)
    await service.send('POST', '/api/invoicing', { body: invoiceRequest({ number, ...data }, more) }, member)
  }
  // L-1 was made at 09:31, L-5 at 09:35.
  const filters: [string, string, string[]][] = [
    ['nothing: the newest first', '', ['L-5', 'L-4', 'L-3', 'L-2', 'L-1']],
    ['status', 'status=failed', ['L-4']],
    ['another status', 'status=uncertain', ['L-5']],
    ['a status that none has', 'status=running', []],
    ['service', 'service=invoicing', ['L-5', 'L-4', 'L-3', 'L-2', 'L-1']],
    ['a service that none used', 'service=esign', []],
    ['invoice number', 'invoiceNumber=L-2', ['L-2']],
    ['an invoice number in full only', 'invoiceNumber=L', []],
    ['recipient, whatever its case', 'recipient=GRACE%20hopper', ['L-4', 'L-2']],
    ['recipient beyond ASCII', `recipient=${encodeURIComponent('ZOË ÅNGSTRÖM')}`, ['L-5']],
    ['a pair of metadata', 'metadata[orderId]=A-1', ['L-3', 'L-1']],
    ['several pairs of metadata', 'metadata[orderId]=A-1&metadata[region]=EU', ['L-1']],
    ['metadata with its brackets encoded', 'metadata%5BorderId%5D=A-2', ['L-2']],
    ['from, inclusive', 'from=2026-03-14T09:33:00Z', ['L-5', 'L-4', 'L-3']],
    ['to, exclusive', 'to=2026-03-14T09:33:00Z', ['L-2', 'L-1']],
    ['a time with an offset', `from=${encodeURIComponent('2026-03-14T11:34:00+02:00')}`, ['L-5', 'L-4']],
    ['a day', 'from=2026-03-14&to=2026-03-15', ['L-5', 'L-4', 'L-3', 'L-2', 'L-1']],
    ['an earlier day', 'to=2026-03-14', []],
    [
      'all of it together',
      'status=succeeded&service=invoicing&recipient=ada%20lovelace&metadata[orderId]=A-1&from=2026-03-14&invoiceNumber=L-3',
      ['L-3']
    ]
  ]
  for (const [name, query, numbers] of filters) t.strictSame(numbersOf(await list(query, member)), numbers, name)
})

await t.test('a list is filtered by who sent, by tests, and by what became of a step', async (t) => {
  const { admin, member } = await service.company('senders')
  const send = async (number: string, login: Login, more = {}): Promise<any> => {
    clock.advance(60)
    return (await service.send('POST', '/api/invoicing', { body: invoiceRequest({ number }, more) }, login)).body
  }
  await send('S-1', admin)
  await send('S-2', member, { invoicing: { reference: 'reject' } })
  await send('S-3', member, { invoicing: { reference: 'unavailable' } })
  const { body: { key } } = await service.send('POST', '/api/v1/keys', { body: { name: 'test', mode: 'test' } }, admin)
  const authorization = `Bearer ${String(key)}`
  clock.advance(60)
  await service.send('POST', '/api/invoicing', { body: invoiceRequest({ number: 'S-4' }), headers: { authorization } }, null)
  const [last, first] = [(await list('', member)).data[1], (await list('', member)).data.at(-1)]
  const { owner } = service.app.get('database')
  await owner.updateTable('steps').set({ delivery_status: 'paid' }).where('dispatch_id', '=', first.dispatchId).execute()
  const filters: [string, string[]][] = [
    [`userId=${String(last.userId)}`, ['S-3', 'S-2']],
    [`userId=${String(first.userId)}`, ['S-4', 'S-1']],
    ['userId=2', []],
    ['test=true', ['S-4']],
    ['test=false', ['S-3', 'S-2', 'S-1']],
    ['stepStatus=rejected', ['S-2']],
    ['stepStatus=unavailable', ['S-3']],
    ['stepStatus=accepted', ['S-4', 'S-1']],
    ['stepStatus=skipped', []],
    ['deliveryStatus=paid', ['S-1']],
    ['deliveryStatus=returned', []],
    ['providerName=simulator', ['S-4', 'S-3', 'S-2', 'S-1']],
    ['providerName=smtp', []],
    ['providerName=simulator&stepStatus=accepted&service=invoicing&test=false', ['S-1']],
    ['providerName=simulator&deliveryStatus=paid&status=failed', []],
    ['providerName=simulator&limit=2', ['S-4', 'S-3']],
    [`providerName=simulator&cursor=${String(last.dispatchId)}`, ['S-2', 'S-1']]
  ]
  for (const [query, numbers] of filters) t.strictSame(numbersOf(await list(query, member)), numbers, query)
  const withKey = async (query: string): Promise<string[]> =>
    numbersOf((await service.send('GET', `/api/v1/dispatches?${query}`, { headers: { authorization } }, null)).body)
  t.strictSame(await withKey('providerName=simulator'), ['S-4'], 'a test key sees tests')
  t.strictSame(await withKey('test=false'), [])
})

await t.test('a list is filtered by the error of a step, and by whether that has failed for good', async (t) => {
  const { admin } = await service.company('failing')
  const [headers, other] = [{ 'x-api-version': '1.1.0' }, await service.company('failing-too')]
  const send = async (number: string, invoicing: object, path = '/api/invoicing'): Promise<void> => {
    clock.advance(60)
    await service.send('POST', path, { body: invoiceRequest({ number }, { invoicing }) }, admin)
  }
  await send('E-1', {})
  await send('E-2', { reference: 'reject' })
  await send('E-3', { reference: 'unavailable' })
  await send('E-4', { reference: 'unavailable' }, '/api/invoicing?async=true')
  const find = async (query: string, login = admin): Promise<Answer> =>
    service.send('GET', `/api/v1/dispatches?${query}`, { headers }, login)
  await until('the queued one waits for another try',
    async () => numbersOf((await find('stepStatus=unavailable&status=queued')).body).length === 1)
  const filters: [string, string[]][] = [
    ['error=provider_error', ['E-2']],
    ['error=provider_unavailable', ['E-4', 'E-3']],
    ['error=provider_unavailable&stepStatus=failed', ['E-3']],
    ['error=provider_unavailable&service=invoicing&providerName=simulator&status=failed', ['E-3']],
    ['error=provider_unavailable&service=email', []],
    ['error=provider_error&stepStatus=unavailable', []],
    ['error=timeout', []],
    ['stepStatus=failed', ['E-3', 'E-2']]
  ]
  for (const [query, numbers] of filters) t.strictSame(numbersOf((await find(query)).body), numbers, query)
  t.strictSame((await find('error=provider_error', other.admin)).body.data, [], 'of the own company')
  const { status, body } = await find('error=provider_eror')
  t.strictSame([status, body.details[0].path, body.details[0].code], [400, '/query/error', 'enum'])
  matches(t, body.details[0].message, /provider_error/)
  const states = '"accepted", "rejected", "unavailable", "uncertain", "waiting", "skipped"'
  for (const [query, code, message] of [
    ['error=provider_error', 'unknown_field', 'Unknown field "error".'],
    ['error=xyz', 'unknown_field', 'Unknown field "error".'],
    ['stepStatus=failed', 'enum', `Expected one of ${states}.`],
    ['stepStatus=skiped', 'enum', `Expected one of ${states} (did you mean "skipped"?).`],
    ['scheduled=true', 'unknown_field', 'Unknown field "scheduled" in version 1.0.1: with the header "X-API-Version: 1.1.0" it is there.']
  ] as const) {
    const before = await service.send('GET', `/api/v1/dispatches?${query}`, {}, admin)
    const path = `/query/${query.split('=')[0] ?? ''}`
    t.strictSame([before.status, before.body.details], [400, [{ path, code, message }]], `${query}, as version 1.0.1 has always answered`)
  }
  const same = await service.send('GET', '/api/v1/dispatches?stepStatus=rejected&test=false&limit=1&metadata[a]=b', {}, admin)
  t.strictSame([same.status, same.body.data], [200, []], JSON.stringify(same.body))
})

await t.test('a step that goes on with what another one left finds its dispatch once', async (t) => {
  const { admin } = await service.company('rests')
  const { body: { dispatchId } } = await service.send('POST', '/api/invoicing', { body: invoiceRequest() }, admin)
  const { owner } = service.app.get('database')
  const step = await owner.selectFrom('steps').selectAll().where('dispatch_id', '=', dispatchId).executeTakeFirstOrThrow()
  const copy = { ...step, step_id: '01a00000-0000-7000-8000-000000000001', position: 1, providers: null }
  await owner.insertInto('steps').values({ ...copy, response: JSON.stringify(step.response) } as never).execute()
  t.equal((await list('providerName=simulator', admin)).data.length, 1)
})

await t.test('a search finds dispatches by any of their ids, their number and their recipient, in full', async (t) => {
  const [{ admin, member }, other] = [await service.company('searched'), await service.company('searching')]
  const send = (number: string, key: string): Promise<any> =>
    service.send('POST', '/api/invoicing', {
      body: invoiceRequest({ number, customer: { name: 'Grace Hopper' } }),
      headers: { 'x-idempotency-key': key }
    }, member)
  clock.advance(60)
  const { body: { dispatchId, providerResponse } } = await send('Q-1', 'key-q1')
  clock.advance(60)
  // What is the number of one is the key of another.
  await send('Q-2', 'Q-1')
  const find = async (text: string, login = admin, more = ''): Promise<string[]> =>
    numbersOf(await list(`search=${encodeURIComponent(text)}${more}`, login))
  const found: [string, string[]][] = [
    [dispatchId, ['Q-1']],
    [String(dispatchId).toUpperCase(), ['Q-1']],
    [providerResponse.id, ['Q-1']],
    ['key-q1', ['Q-1']],
    ['Q-1', ['Q-2', 'Q-1']],
    ['Q-2', ['Q-2']],
    ['grace hopper', ['Q-2', 'Q-1']],
    ['Grace', []],
    ['01a00000-0000-7000-8000-000000000000', []]
  ]
  for (const [text, numbers] of found) {
    t.strictSame(await find(text), numbers, text)
    t.strictSame(await find(text, other.admin), [], `${text}: nothing of another company`)
  }
  t.strictSame(await find('Q-1', admin, '&service=invoicing&status=succeeded&providerName=simulator&limit=1'), ['Q-2'])
  t.strictSame(await find('Q-1', admin, '&status=failed'), [])
  const findPart = async (part: string, login: Login): Promise<string[]> =>
    numbersOf(
      (await service.send('GET', `/api/v1/dispatches?search=${encodeURIComponent(part)}`, { headers: { 'x-api-version': '1.1.0' } }, login))
        .body
    )
  for (const part of ['grâce', 'HOPPER', 'ace Hop']) t.strictSame(await findPart(part, member), ['Q-2', 'Q-1'], part)
  t.strictSame(await findPart('hopper', other.admin), [], 'a part, too, is of the own company')
})

await t.test('a list belongs to its company', async (t) => {
  const { member } = await service.company('empty')
  t.strictSame(await list('', member), { data: [], nextCursor: null })
})

await t.test('a query that is wrong is a 400 with its pointer', async (t) => {
  const wrong: [string, string][] = [
    ['status=done', '/query/status enum'],
    ['statuss=failed', '/query/statuss unknown_field'],
    ['limit=0', '/query/limit too_small'],
    ['limit=101', '/query/limit too_large'],
    ['limit=ten', '/query/limit type'],
    ['cursor=1', '/query/cursor format'],
    ['from=yesterday', '/query/from format'],
    ['from=2026-02-30', '/query/from format'],
    ['status=failed&status=failed', '/query/status enum'],
    ['stepStatus=calling', '/query/stepStatus enum'],
    ['userId=0', '/query/userId too_small'],
    ['test=maybe', '/query/test type'],
    ['search=', '/query/search too_short'],
    ['search=%00', '/query/search forbidden_character'],
    ['metadata=A-1', '/query/metadata type'],
    ['metadata[a][b]=c', '/query/metadata[a][b] unknown_field'],
    ['invoiceNumber=%00', '/query/invoiceNumber forbidden_character'],
    ['metadata[a]=%00', '/query/metadata/a forbidden_character'],
    [`recipient=${'x'.repeat(201)}`, '/query/recipient too_long']
  ]
  for (const [query, problem] of wrong) {
    const { status, body } = await service.send('GET', `/api/v1/dispatches?${query}`)
    t.equal(status, 400, query.slice(0, 40))
    t.strictSame(body.details?.map(({ path, code }: { path: string, code: string }) => `${path} ${code}`), [problem])
  }
})

await t.test('what a dispatch was asked to do is read, as corrected, as long as it is kept', async (t) => {
  const [{ member }, other] = [await service.company('asked'), await service.company('asking')]
  const body = invoiceRequest({ number: 'A-1' }, { invoicing: { reference: 'reject' } })
  const { body: { dispatchId } } = await service.send('POST', '/api/invoicing', { body }, member)
  const read = (login: Login): Promise<any> => service.send('GET', `/api/v1/dispatches/${String(dispatchId)}/request`, {}, login)
  const { status, body: requested } = await read(member)
  t.equal(status, 200)
  t.strictSame(requested, {
    template: { id: 1, version: 1 },
    data: (body['template'] as { data: object }).data,
    steps: [{ service: 'invoicing', fields: { documentType: 'INVOICE', reference: 'reject' } }]
  })
  t.equal((await read(other.member)).status, 404, 'not by another company')
  const corrected = { documentType: 'INVOICE', reference: 'fine' }
  await service.send('POST', `/api/v1/dispatches/${String(dispatchId)}/retry`, { body: { invoicing: corrected } }, member)
  t.strictSame((await read(member)).body.steps[0].fields, corrected)
  await service.app.get('database').owner.updateTable('dispatches').set({ data: null }).where('dispatch_id', '=', dispatchId).execute()
  has(t, await read(member), { status: 409, body: { error: 'document_expired', dispatchId } })
})

await t.test('every time that the format allows can be asked for', async (t) => {
  for (const time of ['0001-01-01', '9999-12-31', '2026-03-14t09:30:00z', '2026-03-14 09:30:00Z', '2026-03-14T09:30:00.123456789Z']) {
    t.equal((await service.send('GET', `/api/v1/dispatches?from=${encodeURIComponent(time)}&to=${encodeURIComponent(time)}`)).status, 200,
      time)
  }
})

await t.test('the pages of a list hold every dispatch once, also while new ones come', async (t) => {
  const { member } = await service.company('pages')
  const send = (number: string): Promise<unknown> => service.send('POST', '/api/invoicing', { body: invoiceRequest({ number }) }, member)
  const numbers = Array.from({ length: 23 }, (_, index) => `P-${index}`)
  await Promise.all(numbers.map(send))

  const found = await pages('status=succeeded', 5, member)
  t.strictSame(found.map(({ data }) => data.length), [5, 5, 5, 5, 3])
  t.strictSame(found.flatMap(numbersOf).sort(), numbers.toSorted())

  const first = await list('limit=20', member)
  // Ids of one moment are in no order.
  clock.advance(1)
  await send('P-new')
  const rest = await list(`limit=20&cursor=${first.nextCursor ?? ''}`, member)
  t.strictSame([...numbersOf(first), ...numbersOf(rest)].sort(), numbers.toSorted())
  t.equal(rest.nextCursor, null)
})

await t.test('25 are on a page unless told, 100 at most', async (t) => {
  const { member } = await service.company('defaults')
  await Promise.all(Array.from({ length: 27 }, () => service.send('POST', '/api/invoicing', { body: invoiceRequest() }, member)))
  t.equal((await list('', member)).data.length, 25)
  t.equal((await list('limit=100', member)).data.length, 27)
})

await t.test('a last page that is exactly full is the last one, in every list', async (t) => {
  const { member, admin } = await service.company('full')
  const read = async (path: string): Promise<{ status: number, body: any }> => service.send('GET', path, {}, admin)
  for (const nth of [1, 2]) {
    await service.send('POST', '/api/invoicing', { body: invoiceRequest({ number: `F-${nth}` }) }, member)
    await service.send('POST', '/api/v1/keys', { body: { name: `Key ${nth}`, mode: 'live' } }, admin)
    const guest = { email: `full-${nth}@example.com`, role: 'member', services: ['sms'] }
    await service.send('POST', '/api/v1/company/invitations', { body: guest }, admin)
  }
  const { body: { data: [{ dispatchId }] } } = await read('/api/v1/dispatches')
  const { body: openapi } = await read('/openapi.json')
  const isLimit = ({ name, $ref = '' }: any): boolean => (name ?? openapi.components.parameters[$ref.split('/').at(-1)].name) === 'limit'
  const lists = Object.entries<any>(openapi.paths).filter(([path, { get }]) =>
    get?.parameters?.some(isLimit) && !/\/(?:companies|queue)\b/.test(path)
  )
    .map(([path]) => path.replace('/dispatches/{id}', `/dispatches/${dispatchId as string}`).replace('{id}', '1'))
  const full: string[] = []
  for (const path of lists) {
    const all = (await read(`${path}?limit=100`)).body
    const rows = (all.data ?? all.ledger ?? []).length as number
    if (rows === 0 || rows === 100) continue
    const last = (await read(`${path}?limit=${rows}`)).body
    t.strictSame([(last.data ?? last.ledger).length, last.nextCursor], [rows, null], path)
    if (rows === 1) continue
    const first = (await read(`${path}?limit=${rows - 1}`)).body
    t.strictSame([(first.data ?? first.ledger).length, typeof first.nextCursor], [rows - 1, 'string'], path)
    full.push(path)
  }
  for (const name of ['dispatches', 'events', 'users', 'keys', 'invitations', 'credits', 'audit', 'templates']) {
    t.ok(full.some((path) => path.endsWith(`/${name}`)), name)
  }
})

await t.test('the timeline has pages too', async (t) => {
  const { body: { dispatchId } } = await service.send('POST', '/api/invoicing', { body: invoiceRequest() })
  const read = async (query: string): Promise<List> => (await service.send('GET', `/api/v1/dispatches/${dispatchId}/events?${query}`)).body
  const first = await read('limit=3')
  const second = await read(`limit=3&cursor=${first.nextCursor ?? ''}`)
  t.strictSame([...first.data, ...second.data].map(({ kind }) => kind as string), ['planned', 'rendered', 'calling', 'answered'])
  t.equal(second.nextCursor, null)

  const { owner } = service.app.get('database')
  const { company_id } = await owner.selectFrom('dispatches').select('company_id').where('dispatch_id', '=', dispatchId)
    .executeTakeFirstOrThrow()
  const event = { company_id, dispatch_id: dispatchId, kind: 'corrected', actor: '{"kind":"system"}', facts: '{}', at: new Date() } as const
  await owner.insertInto('events').values(Array.from({ length: 23 }, () => event)).execute()
  t.equal((await read('')).data.length, 25, 'of 27')
})
