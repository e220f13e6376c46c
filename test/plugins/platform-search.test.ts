import { sql } from 'kysely'
import t from 'tap'
import { languages } from '../../plugins/console/language/language.ts'
import { contains, has, lacks } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { invoiceRequest, operator, startService } from '../support/service.ts'
import { openConsole } from './support/console.ts'

const { en } = languages
const service = await startService(t, { replacements: { renderer: quickRenderer } })
const { send } = service
const [one, two] = [await service.company('one', { credits: 50 }), await service.company('two', { credits: 50 })]
const number = 'F-2026-001'
const searched = async (search: string, more = '') =>
  (await send('GET', `/api/v1/platform/dispatches?search=${encodeURIComponent(search)}${more}`, {}, operator)).body
const idsIn = ({ data }: { data: { dispatchId: string }[] }): string[] => data.map(({ dispatchId }) => dispatchId)
const refused =
  (await send('POST', '/api/invoicing', { body: invoiceRequest({ number }, { invoicing: { reference: 'reject' } }) }, one.admin))
    .body.dispatchId as string
const accepted = (await send('POST', '/api/invoicing', { body: invoiceRequest({ number }) }, two.admin)).body.dispatchId as string
const { owner } = service.app.get('database')
const audited = async (companyId: number): Promise<string[]> =>
  (await sql<{ entry: string }>`select action || ' ' || object_id as entry from audit where company_id = ${companyId}
    and action in ('dispatch.found', 'dispatches.searched') order by audit_id`.execute(owner)).rows.map(({ entry }) => entry)

await t.test('an operator finds out why an invoice did not go out, in whichever company, and each company can see it', async (t) => {
  const { data, nextCursor } = await searched(number)
  t.same([idsIn({ data }), nextCursor], [[accepted, refused], null], 'the newest first')
  has(t, data[1], {
    companyId: one.companyId,
    companyName: 'one',
    documentNumber: number,
    recipient: 'Ada Lovelace',
    status: 'failed',
    steps: [{ service: 'invoicing', providerName: 'simulator', status: 'rejected', error: { error: 'provider_error' } }]
  })
  has(t, data[0], { companyId: two.companyId, status: 'succeeded', steps: [{ status: 'accepted', error: null }] })
  lacks(t, JSON.stringify(data), 'Consulting', 'not what was sent')
  t.same(await audited(one.companyId), [`dispatch.found ${refused}`])
  t.same(await audited(two.companyId), [`dispatch.found ${accepted}`])
  t.same(await audited(1), ['dispatches.searched 1'])
  lacks(t, JSON.stringify((await sql`select facts from audit`.execute(owner)).rows), number, 'a text may be a person\'s')
})

await t.test('a recipient in any case, an id, a page after another, and what nobody has', async (t) => {
  t.same(idsIn(await searched('ADA lovelace')), [accepted, refused])
  t.same(idsIn(await searched(refused.toUpperCase())), [refused])
  const first = await searched(number, '&limit=1')
  t.same([idsIn(first), first.nextCursor], [[accepted], accepted])
  const next = await searched(number, `&limit=1&cursor=${String(first.nextCursor)}`)
  t.same([idsIn(next), next.nextCursor], [[refused], null])
  t.equal((await audited(one.companyId)).length, 4, 'what stood behind a page was not shown')
  for (const nothing of ['F-2026-00', '%', '0198c0de-0000-7000-8000-000000000000']) t.same(idsIn(await searched(nothing)), [])
  has(t, await send('GET', '/api/v1/platform/dispatches', {}, operator), { status: 400, body: { error: 'validation_error' } })
  has(t, await send('GET', `/api/v1/platform/dispatches?search=${number}`, {}, one.admin), { status: 403 })
})

await t.test('the console has the search on the page of the operators', async (t) => {
  const { open, signIn } = openConsole(service)
  const cookie = await signIn(operator)
  contains(t, (await open('/operation', cookie)).body, 'action="/console/operation/dispatches"')
  const page = (await open(`/operation/dispatches?search=${number}`, cookie)).body as string
  contains(t, page, refused)
  contains(t, page, '<code>provider_error</code>')
  contains(t, page, `<a href="/console/companies/${String(two.companyId)}">two</a>`)
  const markup = encodeURIComponent('"><img src=x>')
  const none = (await open(`/operation/dispatches?search=${markup}`, cookie)).body as string
  contains(t, none, en.platformSearchNone)
  lacks(t, none, '<img src=x')
  t.equal((await open(`/operation/dispatches?search=${number}`, await signIn(one.admin))).status, 403)
})

await t.test('the log has one line of each dispatch that was not accepted, with its number and its id', (t) => {
  const lines = service.log.map((line) => JSON.parse(line) as Record<string, unknown>).filter(({ documentNumber }) =>
    documentNumber === number
  )
  t.equal(lines.length, 1)
  has(t, lines[0], {
    // Of warnings only the first of many are written.
    level: 30,
    dispatchId: refused,
    companyId: one.companyId,
    status: 'failed',
    service: 'invoicing',
    provider: 'simulator',
    error: 'provider_error',
    msg: 'a dispatch was not accepted'
  })
  t.end()
})
