import { sql } from 'kysely'
import t from 'tap'
import { contains, has, lacks } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { type Answer, invoiceRequest, type Login, startService } from '../support/service.ts'

const service = await startService(t, { replacements: { renderer: quickRenderer } })
const { owner } = service.app.get('database')
const dispatch = (login: Login, more: object = {}, headers = {}): Promise<Answer> =>
  service.send('POST', '/api/invoicing', { body: invoiceRequest({}, { ...more }), headers }, login)
const credits = async (login: Login, query = ''): Promise<any> => (await service.send('GET', `/api/v1/credits${query}`, {}, login)).body
const times = <Result>(count: number, make: (index: number) => Promise<Result>): Promise<Result[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => make(index)))
const statuses = (answers: Answer[]): Record<string, number> => {
  const count: Record<string, number> = {}
  for (const { status } of answers) count[status] = (count[status] ?? 0) + 1
  return count
}

/** What must hold for every company whenever nothing runs. */
async function assertBooksBalance (t: { same: (found: unknown, desired: unknown, name: string) => void }): Promise<void> {
  const { rows } = await sql`
    select company_id from credits where held <> (select coalesce(sum(held), 0) from steps where steps.company_id = credits.company_id)
      or balance <> (select coalesce(sum(amount), 0) from ledger where ledger.company_id = credits.company_id)
      or balance < held`.execute(owner)
  t.same(rows, [], 'in every company: balance = sum of the ledger, held = sum of the holds')
}

await t.test('100 parallel dispatches on 10 credits charge exactly 10 and refuse 90', async (t) => {
  const { member } = await service.company('parallel', { credits: 10 })
  const answers = await times(100, () => dispatch(member))
  t.same(statuses(answers), { 200: 10, 402: 90 })
  has(t, await credits(member), { balance: 0, held: 0 })
  const { body: { data } } = await service.send('GET', '/api/v1/dispatches?limit=100', {}, member)
  t.equal(data.length, 10, 'a refused dispatch is not recorded')
  await assertBooksBalance(t)
})

await t.test('a 402 says the price and what is free, and has nothing of a dispatch', async (t) => {
  const { member } = await service.company('poor', { credits: 0 })
  const { status, body } = await dispatch(member)
  t.equal(status, 402)
  has(t, body, {
    error: 'insufficient_credits',
    message: 'The dispatch costs 1 credit; 0 of 0 are free, 0 are held by dispatches under way.'
  })
  t.notOk('dispatchId' in body)
})

await t.test('credits that are held are not free', async (t) => {
  const { member } = await service.company('held', { credits: 1 })
  t.equal((await dispatch(member, { invoicing: { reference: 'uncertain' } })).status, 504)
  has(t, await credits(member), { balance: 1, held: 1 })
  const { status, body } = await dispatch(member)
  t.equal(status, 402)
  contains(t, body.message, '0 of 1 are free, 1 are held')
})

await t.test('validation does not look at credits', async (t) => {
  const { member } = await service.company('dry', { credits: 0 })
  t.equal((await service.send('POST', '/api/invoicing/validate', { body: invoiceRequest() }, member)).status, 200)
})

await t.test('dispatches that fail in every way, among others that do not, leave no hold and charge only those accepted', async (t) => {
  const { member } = await service.company('mixed', { credits: 30 })
  // Four that fail at the vendor: a fifth in a row would open the circuit breaker.
  const word = (index: number): string => index % 7 === 3 ? 'unavailable' : index % 2 === 0 ? 'fine' : 'reject'
  const answers = await times(28, (index) => dispatch(member, { invoicing: { reference: word(index) } }))
  t.same(statuses(answers), { 200: 12, 422: 12, 503: 4 })
  has(t, await credits(member), { balance: 18, held: 0 })
  await assertBooksBalance(t)
})

await t.test('a document that cannot be made costs nothing', async (t) => {
  const failing = await startService(t, {
    replacements: { renderer: { ...quickRenderer, render: () => Promise.reject(new Error('out of paper')) } }
  })
  const { status, body } = await failing.send('POST', '/api/invoicing', { body: invoiceRequest() })
  t.equal(status, 500)
  has(t, body, { error: 'internal_error', dispatchId: String })
  lacks(t, JSON.stringify(body), 'paper')
  has(t, (await failing.send('GET', '/api/v1/credits')).body, { balance: 100, held: 0 })
  has(t, (await failing.send('GET', `/api/v1/dispatches/${body.dispatchId}`)).body, {
    status: 'failed',
    steps: [{ status: 'unavailable', generatedDocument: null }]
  })
})

await t.test('the ledger lists every movement, the newest first, page by page, each with the balance after it', async (t) => {
  const { member } = await service.company('ledger', { credits: 7 })
  const made = []
  for (let index = 0; index < 5; index++) made.unshift((await dispatch(member)).body.dispatchId)
  const entries = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const page: any = await credits(member, `?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`)
    t.ok(page.ledger.length <= 2)
    entries.push(...page.ledger)
    cursor = page.nextCursor
  }
  has(t, entries, [
    ...made.map((dispatchId, index) => ({ kind: 'debit', amount: -1, balance: 2 + index, dispatchId, reason: 'Dispatch accepted' })),
    { kind: 'grant', amount: 7, balance: 7, reason: 'Opening credits' }
  ])
  t.equal(entries.length, 6)
  t.notOk('dispatchId' in entries[5])
})

await t.test('the ledger and the timelines are append-only, even for the owner of the database', async (t) => {
  const { member } = await service.company('append', { credits: 1 })
  await dispatch(member)
  for (const table of ['ledger', 'events']) {
    for (const change of [`update ${table} set at = now()`, `delete from ${table}`, `truncate ${table}`]) {
      await t.rejects(sql.raw(change).execute(owner), { message: `${table} is append-only` }, change)
    }
  }
})

await t.test('a price comes from the configuration, and is told before it is paid', async (t) => {
  const dear = await startService(t, { config: { prices: { invoicing: 3 } }, replacements: { renderer: quickRenderer } })
  t.equal((await dear.send('POST', '/api/invoicing/validate', { body: invoiceRequest() })).body.plan[0].credits, 3)
  t.equal((await dear.send('POST', '/api/invoicing', { body: invoiceRequest() })).status, 200)
  has(t, (await dear.send('GET', '/api/v1/credits?limit=1')).body, { balance: 97, held: 0, ledger: [{ amount: -3, balance: 97 }] })
})

await t.test('a dispatch at price 0 needs no credits and leaves no entry', async (t) => {
  const free = await startService(t, { config: { prices: { invoicing: 0 } }, replacements: { renderer: quickRenderer } })
  const { member } = await free.company('gratis', { credits: 0 })
  t.equal((await free.send('POST', '/api/invoicing', { body: invoiceRequest() }, member)).status, 200)
  t.same((await free.send('GET', '/api/v1/credits', {}, member)).body, { balance: 0, held: 0, ledger: [], nextCursor: null })
})
