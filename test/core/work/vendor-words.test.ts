import { createHmac } from 'node:crypto'
import t from 'tap'
import { inbox } from '../../../core/packages/features/vendor-events/service/inbox.ts'
import { webhookRefusals } from '../../support/webhook-refusals.ts'
import { hookService, until } from './support.ts'

const service = await hookService(t, { config: { publicUrl: 'https://dispatch.example.com' } })
const { accepted, delivery, inbound, vendor, configure, post } = service
const secret = 'a secret'
const at = (code: string, name: 'esign' | 'postal' | 'email' = 'esign') => `${name}/providers/${code}/endpoint.json`
const accounts = Object.fromEntries(await Promise.all(
  ['form-one', 'many-one', 'query-one', 'shake-one'].map(async (code) => [code, await configure(code, { hookSecret: secret })] as const)
))
const refused = () => webhookRefusals(service.log)
const statusOf = async (dispatchId: string) => (await delivery(dispatchId)).status
const states = async () => (await inbound()).map(({ state }) => state)
const idle = () => until('nothing waits', async () => (await states()).every((state) => !['waiting', 'held'].includes(state)))
const hex = (text: string) => createHmac('sha256', secret).update(text).digest('hex')
const get = async (path: string, headers: Record<string, string> = {}, method = 'GET') => {
  const answer = await fetch(`${service.url}/api/webhooks/${path}`, { method, headers })
  return { status: answer.status, headers: answer.headers, text: await answer.text() }
}

await t.test('a form that is signed with its address counts once, however its fields are turned, and not after a change', async (t) => {
  const { dispatchId } = await accepted({ provider: 'form-one', service: 'postal', remoteId: 'f_1' })
  const path = `${at('form-one', 'postal')}${accounts['form-one'] ?? ''}`
  const signature = createHmac('sha1', secret).update(`https://dispatch.example.com/api/webhooks/${path}transactionf_1typeaccepted`)
    .digest('base64')
  const send = (body: string, sig = signature) => post(path, body, { 'content-type': 'application/x-www-form-urlencoded', 'x-sig': sig })
  t.equal((await send('transaction=f_1&type=accepted')).status, 200)
  await until('it is applied', async () => await statusOf(dispatchId) === 'accepted')
  for (const again of ['transaction=f_1&type=accepted', 'type=accepted&transaction=f_1', 'transaction=%66_1&type=accepted']) {
    await send(again)
  }
  await service.app.find(inbox).settle()
  await idle()
  t.equal((await delivery(dispatchId)).events.length, 1, 'replayed, re-ordered and re-encoded ones are the same event')
  for (const forged of ['transaction=f_1&type=there', 'transaction=f_1&type=accepted&x=1', 'transaction=f_1']) {
    t.equal((await send(forged)).status, 200)
  }
  t.equal((await post(`${path}&x=1`, 'transaction=f_1&type=accepted', { 'x-sig': signature })).status, 200, 'another address')
  t.equal(refused()['postal form-one wrong_signature'], 4)
  t.equal(await statusOf(dispatchId), 'accepted')
})

await t.test('several events of one body are each applied, held and known by themselves', async (t) => {
  const [one, two] = [
    await accepted({ provider: 'many-one', service: 'esign', remoteId: 'm_1' }),
    await accepted({ provider: 'many-one', service: 'esign', remoteId: 'm_2' })
  ]
  const path = `${at('many-one')}${accounts['many-one'] ?? ''}`
  const send = (list: object[], given = secret) => post(path, list, { 'x-secret': given })
  const events = [{ id: 'e1', transaction: 'm_1', type: 'started' }, { id: 'e2', transaction: 'm_2', type: 'signed' }, {
    id: 'e3',
    transaction: 'm_3',
    type: 'done'
  }, { id: 'e1', transaction: 'm_1', type: 'started', again: true }]
  await send(events)
  await until('both have moved', async () => await statusOf(one.dispatchId) === 'started' && await statusOf(two.dispatchId) === 'signed')
  t.equal((await delivery(one.dispatchId)).events.length, 1, 'the id of an event counts once, also within a body')
  const third = await accepted({ provider: 'many-one', service: 'esign', remoteId: 'm_3' })
  await until('what came before its dispatch', async () => await statusOf(third.dispatchId) === 'completed')
  const before = (await inbound()).length
  await send(events)
  await send([])
  await idle()
  t.equal((await inbound()).length, before + 1, 'the same body is the same event; an empty one is kept and does nothing')
  await send(events.toReversed(), 'another')
  t.equal(refused()['esign many-one wrong_signature'], 1)
})

await t.test('at the address of the provider, which companies share, a body with several events is kept', async (t) => {
  const before = (await inbound()).length
  await post(at('many-one'), [{ transaction: 'm_1', type: 'done' }], { 'x-secret': secret })
  t.equal((await inbound()).length, before, 'without a configuration there is no secret')
})

await t.test('an unsigned event only makes the host ask, at the address of a configuration alone', async (t) => {
  let requested = 0
  vendor.on('GET /status/h_1', () => {
    requested++
    return { json: { status: 'finished' } }
  })
  const account = await configure('hint-one', {})
  const { dispatchId } = await accepted({ provider: 'hint-one', service: 'esign', remoteId: 'h_1' })
  const reported = { transaction: 'h_1', type: 'refused', reason: 'because a forger says so' }
  await post(at('hint-one'), reported)
  await post(`${at('hint-one')}?account=${'0'.repeat(8)}-0000-4000-8000-${'0'.repeat(12)}`, reported)
  t.equal(refused()['esign hint-one no_account'], 1)
  t.equal(refused()['esign hint-one unknown_account'], 1)
  t.equal(requested, 0)
  await Promise.all(Array.from({ length: 5 }, () => post(`${at('hint-one')}${account}`, reported)))
  await until('the vendor has told', async () => await statusOf(dispatchId) === 'completed')
  await idle()
  t.ok(requested >= 1 && requested <= 5)
  const { events } = await delivery(dispatchId)
  t.equal(events.length, 1)
  t.notOk(JSON.stringify(events).includes('forger'), 'nothing that it says is kept')
})

await t.test('an unsigned event about an e-mail makes the vendor be asked, too', async () => {
  vendor.on('GET /status/hm_1', { json: { status: 'back' } })
  const account = await configure('mail-one', { allowedSenders: ['@example.com'] })
  const { dispatchId } = await accepted({ provider: 'mail-one', service: 'email', remoteId: 'hm_1' })
  await post(`${at('mail-one', 'email')}${account}`, { transaction: 'hm_1', type: 'there' })
  await until('the vendor has told', async () => await statusOf(dispatchId) === 'bounced')
})

await t.test('an event that is the query of a GET', async (t) => {
  const { dispatchId } = await accepted({ provider: 'query-one', service: 'postal', remoteId: 'q_1' })
  const path = `${at('query-one', 'postal')}${accounts['query-one'] ?? ''}&transaction=q_1&type=printed`
  const signed = `${path}&sig=${hex(`https://dispatch.example.com/api/webhooks/${path}`)}`
  t.equal((await get(signed)).status, 200)
  await until('it is applied', async () => await statusOf(dispatchId) === 'printed')
  await get(signed.replace('printed', 'there'))
  t.equal(refused()['postal query-one wrong_signature'], 1)
  await post(signed, {})
  t.equal(refused()['postal query-one wrong_method'], 1)
})

await t.test('handshakes are answered as they are declared, and nothing else is echoed', async (t) => {
  const path = `${at('shake-one')}${accounts['shake-one'] ?? ''}`
  const challenge = await get(`${path}&challenge=${encodeURIComponent('<b>1</b>')}`)
  t.equal(challenge.text, '<b>1</b>')
  t.equal(challenge.headers.get('content-type'), 'text/plain; charset=utf-8')
  t.equal(challenge.headers.get('x-content-type-options'), 'nosniff')
  t.equal((await get(`${path}&challenge=a&challenge=b`)).text, '{}', 'given twice, it is none')
  t.equal((await get(`${path}&challenge=${encodeURIComponent('a\r\nb')}`)).text, '{}', 'nor in two lines')
  t.equal((await get(path, { 'x-client-id': 'CBJ' })).headers.get('x-client-id'), 'CBJ')
  t.same(JSON.parse((await post(path, { type: 'url_verification', challenge: 'abc' })).text), { challenge: 'abc' })
  t.equal((await get(path, {}, 'HEAD')).status, 200)
  t.equal((await get(at('post-one', 'postal'))).status, 200, 'also where nothing is declared')
  t.same((await inbound()).filter(({ body }) => body.includes('url_verification')), [])
})

await t.test('a vendor that tries whether a wrong signature is noticed is told so; a forged event is not', async (t) => {
  const path = `${at('shake-one')}${accounts['shake-one'] ?? ''}`
  const intent = JSON.stringify({ entropy: 'x' })
  t.equal((await post(path, intent, { 'x-mac': hex(intent) })).status, 200)
  t.equal((await post(path, intent, { 'x-mac': hex('other') })).status, 401)
  t.equal((await post(path, { transaction: 's_1', type: 'done' }, { 'x-mac': hex('other') })).status, 200)
})

await t.test('an event whose answer carries a text of it is an event besides', async (t) => {
  const { dispatchId } = await accepted({ provider: 'shake-one', service: 'esign', remoteId: 's_1' })
  const event = JSON.stringify({ transaction: 's_1', type: 'started' })
  const answer = await post(`${at('shake-one')}${accounts['shake-one'] ?? ''}`, event, { 'x-mac': hex(event), 'x-client-id': 'CBJ' })
  t.same(JSON.parse(answer.text), { clientId: 'CBJ' })
  await until('it is applied', async () => await statusOf(dispatchId) === 'started')
})

await t.test('an address is confirmed to the vendor once its request is verified, and at declared hosts only', async (t) => {
  const visits: string[] = []
  let failing = true
  vendor.on('GET /confirm', ({ path }) => {
    visits.push(path)
    failing = !failing
    return failing ? { text: '<ok/>' } : { status: 503 }
  })
  const path = `${at('shake-one')}${accounts['shake-one'] ?? ''}`
  const ask = (url: string, by = secret) => {
    const body = JSON.stringify({ type: 'confirm', url })
    return post(path, body, { 'x-mac': createHmac('sha256', by).update(body).digest('hex') })
  }
  await ask('https://hooks.vendor.example/confirm?token=1', 'another')
  await ask('https://evil.example/confirm?token=2')
  await ask('https://hooks.vendor.example:8443/confirm?token=3')
  await until('both are dropped', async () => (await states()).filter((state) => state === 'dropped').length === 2)
  t.same(visits, [], 'neither a forged one nor one at another host')
  await ask('https://hooks.vendor.example/confirm?token=4')
  await until('it is confirmed, at the second try', () => visits.length === 2)
  await idle()
  t.ok((await inbound()).some(({ state, note }) => state === 'applied' && note === 'The address was confirmed to the vendor.'))
})
