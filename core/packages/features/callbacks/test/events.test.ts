import { randomUUIDv7 } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { until } from '../../../../../test/core/work/support.ts'
import { has, matches } from '../../../../../test/support/matching.ts'
import { quickRenderer } from '../../../../../test/support/quick-renderer.ts'
import { type Answer, invoiceRequest, type Login, startService } from '../../../../../test/support/service.ts'
import { createVendor, vendorNetwork } from '../../../conformance/vendor/vendor.ts'
import { sendCreditWarnings } from '../service/credit-warnings.ts'
import { noteFeedEvent, readFeed } from '../store/event-feeds.ts'

const receiver = await createVendor()
const service = await startService(t, { replacements: { renderer: quickRenderer, network: vendorNetwork(receiver) } })
t.teardown(receiver.close)
const { app, send, url } = service
const database = app.get('database')
const { companyId, admin, member } = await service.company('acme', { credits: 1_000 })
const path = '/api/v1/events'

const list = (query = '', login: Login = admin): Promise<Answer> => send('GET', path + query, {}, login)
/** An asynchronous dispatch, whose end is told. */
const dispatched = async (more: Record<string, unknown> = {}, login: Login = admin): Promise<string> =>
  (await send('POST', '/api/invoicing?async=true', { body: invoiceRequest({}, more) }, login)).body.dispatchId as string

await t.test('a company that has never asked has no feed; from the first time on, each event is kept', async (t) => {
  const early = await dispatched()
  await until('the end', async () => (await send('GET', `/api/v1/dispatches/${early}`, {}, admin)).body.status === 'succeeded')
  const { rows: [{ count }] } = await database.pool.query('select count(*)::int from feed_events') as any
  t.equal(count, 0)
  has(t, await list(), { status: 200, body: { since: /^20/, data: [], more: false } })
  const id = await dispatched()
  await until('the event', async () => (await list()).body.data.length > 0)
  const { data: [event] } = (await list()).body
  has(t, event.body, { type: 'dispatch.succeeded', sequence: 1, data: { dispatchId: id, status: 'succeeded' } })
  t.same(event.body.data, (await send('GET', `/api/v1/dispatches/${id}`, {}, admin)).body, 'as a client reads it')
})

await t.test('its body is that of the callback, to the letter; so is that of an event about the company', async (t) => {
  const { last } = await readFeed(database, companyId, { after: 0, limit: 0 })
  const reported = { type: 'company.budget_reached', data: { companyId, percent: 80 }, url: 'https://hooks.acme.test/' } as const
  await database.owner.transaction().execute((queries) => app.get('outbox').tell(queries, companyId, reported))
  const dispatchId = await dispatched({ callbackUrl: 'https://hooks.acme.test/' })
  await until('two events', async () => (await list(`?after=${last}`)).body.data.length === 2)
  const rows = await database.owner.selectFrom('outbox').select('body').where('company_id', '=', companyId)
    .orderBy('created_at').orderBy('callback_id').execute()
  const { events } = await readFeed(database, companyId, { after: last, limit: 10 })
  t.same(events.map(({ body }) => body), rows.map(({ body }) => body))
  matches(t, events.map(({ body }) => JSON.parse(body).data.dispatchId as unknown), [undefined, dispatchId])
})

await t.test('a warning of low credits is in the feed once', async (t) => {
  const { last } = await readFeed(database, companyId, { after: 0, limit: 0 })
  await database.pool.query('update credits set warning = \'due\' where company_id = $1', [companyId])
  const queue = { send: () => Promise.resolve() }
  for (let times = 0; times < 2; times++) await sendCreditWarnings({ database, queue, now: () => new Date(), newId: randomUUIDv7 })
  has(t, await list(`?after=${last}`), { body: { data: [{ body: { type: 'company.credits_low', data: { companyId } } }], more: false } })
  const bodies = await database.owner.selectFrom('feed_events').select('body').where('company_id', '=', companyId).execute()
  t.equal(bodies.filter(({ body }) => body.includes('credits_low')).length, 1)
})

/** Adds an event, whose transaction ends when it is told to. */
async function added (name: string): Promise<{ commit: () => Promise<void> }> {
  const [inserted, end] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()]
  const done = database.owner.transaction().execute(async (queries) => {
    await noteFeedEvent(queries, { companyId, type: 'company.credits_low', data: { name }, now: new Date(), sequence: 1 })
    inserted.resolve(undefined)
    await end.promise
  })
  await inserted.promise
  return {
    async commit () {
      end.resolve(undefined)
      await done
    }
  }
}
const named = (events: readonly { body: { data: { name?: string } } }[]): unknown[] => events.map(({ body }) => body.data.name)

await t.test('who reads on misses no event whose transaction ends late, and gets none twice', async (t) => {
  const { last } = await readFeed(database, companyId, { after: 0, limit: 0 })
  const [first, second] = [await added('first'), await added('second')]
  await second.commit()
  const { data } = (await list(`?after=${last}`)).body
  t.same(named(data), ['second'])
  await first.commit()
  t.same(named((await list(`?after=${String(data[0].id)}`)).body.data), ['first'])
  t.same(named((await list(`?after=${last}`)).body.data), ['second', 'first'], 'and everybody reads them in the same order')
})

await t.test('many who write and read at once', async (t) => {
  const { last } = await readFeed(database, companyId, { after: 0, limit: 0 })
  const names = Array.from({ length: 60 }, (_, index) => String(index))
  const write = async (own: readonly string[]): Promise<void> => {
    for (const name of own) await (await added(name)).commit()
  }
  const read = async (limit: number): Promise<unknown[]> => {
    const [seen, at]: [unknown[], { id: string }] = [[], { id: String(last) }]
    while (seen.length < names.length) {
      const { data } = (await list(`?after=${at.id}&limit=${limit}`)).body
      seen.push(...named(data))
      at.id = data.at(-1)?.id ?? at.id
      await setImmediate()
    }
    return seen
  }
  const [one, other] = await Promise.all([read(3), read(100), write(names.slice(0, 30)), write(names.slice(30))])
  t.same([...one].sort(), [...names].sort())
  t.same(other, one)
})

await t.test('only what there is: pages, the end, unknown ids, and whom it is shown', async (t) => {
  const { data: [event], more } = (await list('?limit=1')).body
  t.equal(more, true)
  const { last } = await readFeed(database, companyId, { after: 0, limit: 0 })
  has(t, await list(`?after=${last}`), { body: { data: [], more: false } })
  for (const query of [`?after=${last + 1}`, '?after=-1', '?after=x', '?after=9999999999999999', '?limit=101', '/stream?after=999999']) {
    has(t, await list(query), { status: 400, body: { error: 'validation_error' } }, query)
  }
  t.equal((await list('', member)).status, 403)
  const other = (await service.company('other', { credits: 10 })).admin
  has(t, await list('', other), { status: 200, body: { data: [] } })
  t.equal((await list(`?after=${String(event.id)}`, other)).status, 400)
})

/** Opens a stream, and collects its events. */
async function follow (t: Test, query = '', headers: Record<string, string> = {}) {
  const gone = new AbortController()
  t.teardown(() => gone.abort())
  const authorization = `Basic ${Buffer.from(`${admin.email}:${admin.password}`).toString('base64')}`
  const response = await fetch(`${url}${path}/stream${query}`, { headers: { ...headers, authorization }, signal: gone.signal })
  const reported: { id: string | undefined, data: unknown }[] = []
  const read = async (): Promise<void> => {
    let waiting = ''
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      const parts = (waiting + chunk).split('\n\n')
      waiting = parts.pop() ?? ''
      for (const part of parts) {
        const lines = new Map(part.trim().split('\n').map((line) => line.split(/: (.*)/s) as [string, string]))
        if (lines.has('id')) reported.push({ id: lines.get('id'), data: JSON.parse(lines.get('data') ?? 'null') })
      }
    }
  }
  const over = read().catch(() => undefined)
  return { reported, over, close: () => gone.abort(), status: response.status }
}

await t.test('a stream tells of them as they come, and goes on after the last that its client has had', async (t) => {
  const { last } = await readFeed(database, companyId, { after: 0, limit: 0 })
  const live = await follow(t)
  await until('the mark', () => live.reported.length === 1)
  t.same(live.reported, [{ id: String(last), data: null }], 'nothing old; a client that is cut off now misses nothing')
  const id = await dispatched()
  await until('an event', () => live.reported.length === 2)
  const event = (await list(`?after=${last}`)).body.data[0]
  t.same(live.reported[1], { id: event.id, data: event.body })
  has(t, event.body, { data: { dispatchId: id } })
  live.close()
  for (let number = 0; number < 45; number++) await (await added(`missed ${number}`)).commit()
  const again = await follow(t, '?after=0&seconds=60', { 'last-event-id': event.id })
  await until('what was missed', () => again.reported.length === 46)
  t.same(again.reported.slice(1).map(({ data }) => (data as { data: { name: string } }).data.name),
    Array.from({ length: 45 }, (_, number) => `missed ${number}`))
  again.close()
  const short = await follow(t, '?seconds=1')
  await short.over
  t.equal((await follow(t, '?seconds=121')).status, 400)
  t.equal((await follow(t, '', { 'last-event-id': 'x' })).status, 400)
})
