import t from 'tap'
import { languages } from '../../plugins/console/language/language.ts'
import { contains, has, lacks } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { admin, invoiceRequest, operator, startService } from '../support/service.ts'
import { openConsole } from './support/console.ts'

const { en } = languages
const service = await startService(t, { replacements: { renderer: quickRenderer } })
const { send } = service
const { confirm, open, post, signIn } = openConsole(service)
const cookie = await signIn(operator)
const markup = '"><img src=x onerror=alert(1)>'
const fields = { name: markup, credits: '50', email: 'ada@acme.example.com', password: 'correct horse battery' }
const idOf = async (): Promise<string> => {
  const { body } = await send('GET', '/api/v1/companies?limit=100', {}, operator)
  return String(body.data.find(({ name }: { name: string }) => name === markup)?.id)
}

await t.test('an operator creates a company whose admin signs in; what is wrong is said at its field', async (t) => {
  const refused = await post('/companies', { ...fields, credits: 'many', password: 'short' }, cookie)
  t.equal(refused.status, 400)
  contains(t, refused.body, /id="f-credits"[^>]*value="many"[^>]*aria-invalid="true"/)
  contains(t, refused.body, /id="f-password"[^>]*value=""[^>]*aria-invalid="true"/)
  const created = await post('/companies', fields, cookie)
  t.equal(created.headers.get('location'), `/console/companies/${await idOf()}?created=1`)
  const { body } = await open(`/companies/${await idOf()}?created=1`, cookie)
  contains(t, body, en.companyCreated)
  for (const page of [body, (await open('/companies', cookie)).body]) lacks(t, page, '<img')
  const without = await post('/companies', { ...fields, name: 'Without credits', credits: '', email: 'eve@acme.example.com' }, cookie)
  t.equal(without.status, 303, 'a company may begin without credits')
  t.equal((await open('', await signIn(fields))).status, 200)
})

await t.test('the first steps of a company tick themselves off, each with its form', async (t) => {
  const { body: { id } } = await send('POST', '/api/v1/companies', {
    body: {
      name: 'Young',
      credits: 0,
      admin: {
        email: 'ada@young.example.com',
        password: fields.password
      }
    }
  }, operator)
  const at = `/companies/${String(id)}/setup`
  const ticks = async (): Promise<boolean[]> =>
    [...((await open(at, cookie)).body as string).matchAll(/<h2 id="(?:admin|credits|providers|test)">[^]*?class="badge (\w+)"/g)].map(
      ([, tone]) => tone === 'good'
    )
  contains(t, (await open(`/companies/${String(id)}?created=1`, cookie)).body, `<a href="/console${at}">`)
  t.same(await ticks(), [true, false, true, false])
  const refused = await post(`${at}/credits`, { amount: 'many', reason: markup }, cookie)
  t.equal(refused.status, 400)
  contains(t, refused.body, /value="many"[^>]*aria-invalid="true"/)
  lacks(t, refused.body, '<img')
  t.equal((await confirm(`${at}/credits`, { amount: '20', reason: 'Order 4711' }, cookie)).headers.get('location'), `/console${at}?saved=1`)
  contains(t, (await open(`${at}?saved=1`, cookie)).body, en.companySaved)
  t.same(await ticks(), [true, true, true, false])
  const admin = { email: 'ada@young.example.com', password: fields.password }
  await send('PUT', '/api/v1/company/defaults/invoicing', { body: { providerName: 'simulator' } }, admin)
  t.same(await ticks(), [true, true, true, false])
  await send('PUT', '/api/v1/company/providers/simulator', { body: { settings: {} } }, admin)
  t.same(await ticks(), [true, true, true, true])
  const sent = await send('POST', '/api/invoicing', { body: invoiceRequest() }, admin)
  t.equal(sent.status, 200, 'it can send')
  for (const path of [at, `/companies/999999/setup`]) t.equal((await open(path, await signIn(admin))).status, 403, path)
  t.equal((await post(`${at}/providers`, {}, cookie)).status, 303)
  t.equal((await confirm(`${at}/credits`, { amount: '1', reason: 'x' }, await signIn(admin))).status, 403)
})

await t.test('credits change with a reason; a company is renamed, disabled and enabled', async (t) => {
  const id = await idOf()
  const read = async (): Promise<unknown> => (await send('GET', `/api/v1/companies/${id}`, {}, operator)).body
  t.equal((await confirm(`/companies/${id}/credits`, { amount: '-20', reason: 'Order 4711' }, cookie)).status, 303)
  has(t, await read(), { balance: 30 })
  const onceIn = async (): Promise<string> =>
    /name=":once" value="([\w-]+)"/.exec(String((await open(`/companies/${id}`, cookie)).body))?.[1] ?? ''
  const twice = { amount: '5', reason: 'Sent twice', ':once': await onceIn() }
  for (let sent = 0; sent < 2; sent++) t.equal((await confirm(`/companies/${id}/credits`, twice, cookie)).status, 303)
  has(t, await read(), { balance: 35 }, 'a form that is sent twice counts once')
  await confirm(`/companies/${id}/credits`, { ...twice, amount: '-5', ':once': await onceIn() }, cookie)
  has(t, await read(), { balance: 30 }, 'the next form counts again')
  const asAdmin = await signIn(fields)
  contains(t, (await open('', asAdmin)).body, '<a href="/console/credits">')
  const ledger = (await open('/credits', asAdmin)).body
  contains(t, ledger, /<th scope="row">taken back<\/th><td class="count">-20<\/td><td class="count">30<\/td><td>Order 4711<\/td>/)
  contains(t, ledger, /<th scope="row">given<\/th><td class="count">\+5<\/td>/)
  await send('PUT', '/api/v1/company', { body: { lowCredit: 5, notifyUrl: 'https://hooks.example.com/low' } }, fields)
  contains(t, (await open(`/audit?companyId=${id}`, cookie)).body, `>${fields.email}</a>`, 'who did it in that company has a name')
  contains(t, (await open(`/audit.csv?companyId=${id}`, cookie)).body, `"${fields.email}"`, 'in the file too')
  const refused = await confirm(`/companies/${id}/credits`, { amount: '-31', reason: 'Too much' }, cookie)
  t.equal(refused.status, 409)
  contains(t, refused.body, 'value="Too much"')
  t.equal((await post(`/companies/${id}/credits`, { amount: '1.5', reason: '' }, cookie)).status, 400)
  has(t, await read(), { balance: 30 })
  const theirs = await signIn(fields)
  await confirm(`/companies/${id}/disabled`, { disabled: 'true' }, cookie)
  t.equal((await open('', theirs)).status, 303, 'its admin is signed out')
  await post(`/companies/${id}/disabled`, { disabled: 'false' }, cookie)
  t.equal((await open('', await signIn(fields))).status, 200)
  await post(`/companies/${id}/name`, { name: 'Acme' }, cookie)
  has(t, await read(), { name: 'Acme', disabled: false })
  t.equal((await post(`/companies/${id}/name`, { name: '' }, cookie)).status, 400)
  t.equal((await open('/companies/99999', cookie)).status, 404)
})

await t.test('the page of the operation tells the queue, the processes and the providers', async (t) => {
  const { status, body } = await open('/operation', cookie)
  t.equal(status, 200)
  for (const name of ['companies', 'operation']) contains(t, body, `<a href="/console/${name}"`)
  contains(t, body, `<td class="count">${process.pid}</td>`)
  contains(t, body, en.providersFine)
})

await t.test('operators list what holds credits and what is in doubt over all companies, the oldest first, a page at a time', async (t) => {
  const [one, two] = [await service.company('holder', { credits: 50 }), await service.company('doubter', { credits: 50 })]
  const uncertain = async (login = one.admin): Promise<string> =>
    (await send('POST', '/api/invoicing', { body: invoiceRequest({}, { invoicing: { reference: 'uncertain' } }) }, login)).body.dispatchId
  const ids = [await uncertain(), await uncertain(two.admin), await uncertain()]
  await send('POST', '/api/invoicing', { body: invoiceRequest() }, one.admin)
  const { body } = await send('GET', '/api/v1/queue/holds?limit=2', {}, operator)
  const home = (await open('', cookie)).body
  contains(t, home, '<a href="/console/operation/holds?uncertain=true">')
  lacks(t, home, en.firstSteps, 'their company sends nothing')
  t.same(body.data.map(({ dispatchId }: { dispatchId: string }) => dispatchId), ids.slice(0, 2), 'what has ended holds nothing')
  has(t, body.data[0], { companyId: one.companyId, companyName: 'holder', status: 'uncertain', dispatchStatus: 'uncertain' })
  t.ok(body.data[0].held > 0)
  const next = (await send('GET', `/api/v1/queue/holds?uncertain=true&cursor=${String(body.nextCursor)}`, {}, operator)).body
  has(t, next, { data: [{ dispatchId: ids[2] }], nextCursor: null })
  const page = (await open('/operation/holds?uncertain=true', cookie)).body as string
  t.same([...page.matchAll(/<td><code>([\da-f-]{36})</g)].map(([, id]) => id), ids)
  contains(t, page, `<a href="/console/companies/${String(two.companyId)}">doubter</a>`)
  await send('POST', `/api/v1/dispatches/${ids[1]!}/resolve`, { body: { outcome: 'rejected', reason: 'Not there.' } }, two.admin)
  lacks(t, (await open('/operation/holds', cookie)).body, ids[1]!)
  for (const form of [{}, { providerName: 'simulator' }]) {
    t.equal((await post('/operation/release', form, cookie)).headers.get('location'), '/console/operation?released=0')
  }
  t.equal((await post('/operation/release', { providerName: '?' }, cookie)).status, 400)
  contains(t, (await open('/operation?released=3', cookie)).body, en.releaseDone.replace('{n}', '3'))
  t.equal((await open('/operation/holds', await signIn(one.admin))).status, 403)
  t.equal((await post('/operation/release', {}, cookie, { 'sec-fetch-site': 'cross-site' })).status, 403)
})

await t.test('an operator ends a doubt of any company; its audit log and its timeline say who, and why', async (t) => {
  const { admin: doubter, companyId } = await service.company('settled', { credits: 50 })
  const request = invoiceRequest({}, { invoicing: { reference: 'uncertain' } })
  const { body: { dispatchId } } = await send('POST', '/api/invoicing', { body: request }, doubter)
  const { data } = (await send('GET', '/api/v1/queue/holds?uncertain=true&limit=100', {}, operator)).body
  const { stepId } = data.find((hold: { dispatchId: string }) => hold.dispatchId === dispatchId)
  const at = `/operation/holds/${String(stepId)}`
  contains(t, (await open('/operation/holds?uncertain=true', cookie)).body, `href="/console${at}"`)
  contains(t, (await open(at, cookie)).body, en.holdResolveIntro)
  const word = { outcome: 'accepted', reason: 'Seen in the account.' }
  has(t, await send('POST', `/api/v1/queue/holds/${String(stepId)}/resolve`, { body: word }, doubter), { status: 403 })
  t.equal((await open(at, await signIn(doubter))).status, 403)
  t.equal((await post(`${at}/resolve`, word, cookie, { 'sec-fetch-site': 'cross-site' })).status, 403)
  const refused = await post(`${at}/resolve`, { outcome: 'accepted', reason: '' }, cookie)
  t.equal(refused.status, 400)
  contains(t, refused.body, /value="accepted" required checked/)
  t.equal((await post(`${at}/resolve`, word, cookie)).headers.get('location'), '/console/operation/holds?uncertain=true&resolved=1')
  contains(t, (await open('/operation/holds?uncertain=true&resolved=1', cookie)).body, en.holdResolved)
  has(t, await send('GET', `/api/v1/queue/holds/${String(stepId)}`, {}, operator), { body: { status: 'accepted', held: 0 } })
  has(t, await send('POST', `/api/v1/queue/holds/${String(stepId)}/resolve`, { body: word }, operator), { status: 409 })
  for (const id of [dispatchId, 'nothing']) {
    has(t, await send('POST', `/api/v1/queue/holds/${String(id)}/resolve`, { body: word }, operator), { status: 404 })
  }
  contains(t, (await open(at, cookie)).body, en.holdNotInDoubt)

  const entries = (await send('GET', `/api/v1/audit?object=dispatch/${String(dispatchId)}`, {}, doubter)).body.data
  has(t, entries, [{ action: 'dispatch.resolved', facts: word, author: (author: any) => author.companyId !== companyId }])
  t.notOk(entries[0].address, 'the address of an operator is not for companies')
  contains(t, (await open('/audit', await signIn(doubter))).body, en.auditPlatform)
  const events = (await send('GET', `/api/v1/dispatches/${String(dispatchId)}/events`, {}, doubter)).body.data
  has(t, events.at(-1), { kind: 'resolved', actor: { kind: 'user', userId: entries[0].author.userId }, facts: { reason: word.reason } })
})

await t.test('nobody else sees or changes companies, and forms come from the console', async (t) => {
  const id = String((await service.company('theirs')).companyId)
  const asAdmin = await signIn(admin)
  const before = (await send('GET', '/api/v1/companies?limit=100', {}, operator)).body
  for (const path of ['/companies', `/companies/${id}`, '/operation']) t.equal((await open(path, asAdmin)).status, 403, path)
  for (const path of ['/companies', `/companies/${id}/credits`, `/companies/${id}/name`, `/companies/${id}/disabled`]) {
    const sent = { ...fields, amount: '1', reason: 'x', disabled: 'true' }
    t.equal((await post(path, sent, asAdmin)).status, 403, path)
    t.equal((await post(path, sent, cookie, { 'sec-fetch-site': 'cross-site' })).status, 403, path)
  }
  lacks(t, (await open('', asAdmin)).body, '/console/companies')
  t.same((await send('GET', '/api/v1/companies?limit=100', {}, operator)).body, before)
})
