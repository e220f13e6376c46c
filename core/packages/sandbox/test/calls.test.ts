import { platform } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { until } from '../../../../test/core/work/support.ts'
import { invoice, memoryState } from '../../../../test/fixtures/providers/call.ts'
import { contains, has, matches } from '../../../../test/support/matching.ts'
import type { Outcome } from '../../host/call/dispatch.ts'
import { problemsForeseen } from '../../host/call/foresee.ts'
import { actsOf, api, content, outpost } from './support.ts'

const accepted = 'return { id: \'1\', status: \'sent\' }'

await t.test('a verb has everything that its context says, and the host does it', async (t) => {
  const { vendor, dispatch, log } = await outpost(t, {
    service: 'checkpoint: true,',
    dispatch: `
      const { reference, idempotencyKey, repeated, settings, requestSettings, sandbox, state, http } = context
      context.log.info({ token: settings.token }, 'the token is ' + settings.token)
      console.log('printed with ' + settings.token)
      await state.put('seen', { reference }, { ttl: 3600 })
      const draft = await http.post('${api}/drafts', { bearer: settings.token, json: request.data }, Type.Object({ id: Type.String() }))
      await context.checkpoint(draft.id)
      await context.wait(0.01)
      const sent = await http.put('${api}/drafts/' + draft.id, { document: request.document }, Type.Object({ id: Type.Number() }))
      const kept = await http.download('${api}/file', { filename: 'signed.pdf' })
      return { id: String(sent.id), status: 'sent', seen: await state.get('seen'), kept: kept.size,
        first: await state.putIfAbsent('seen', 'other'), nothing: await state.get('nothing') ?? null,
        deleted: await state.put('gone', 1).then(() => state.delete('gone')).then(() => state.get('gone')) ?? null,
        idempotencyKey, repeated, requestSettings, sandbox, at: context.now().toISOString().slice(0, 16) }`
  })
  vendor.on('POST /drafts', { json: { id: 'd1' } })
  vendor.on('PUT /drafts/d1', { json: { id: 7 } })
  vendor.on('GET /file', { text: '%PDF' })
  const state = memoryState()
  const outcome = await dispatch({ settings: { token: 'tok_secret_1' }, requestSettings: { a: 1 }, repeated: true, state })
  t.strictSame(outcome, {
    outcome: 'accepted',
    response: {
      id: '7',
      status: 'sent',
      seen: { reference: 'step-1' },
      kept: 4,
      first: { reference: 'step-1' },
      nothing: null,
      deleted: null,
      idempotencyKey: 'step-1',
      repeated: true,
      requestSettings: { a: 1 },
      sandbox: false,
      at: '2026-03-14T09:30'
    }
  })
  t.equal(vendor.requests[0]?.headers['authorization'], 'Bearer tok_secret_1')
  t.same(vendor.requests.map(({ method, path }) => `${method} ${path}`), ['POST /drafts', 'PUT /drafts/d1', 'GET /file'])
  const reported = log.lines.filter(({ message }) => /^the token|^printed/.test(message)).map(({ message }) => message)
  t.same(reported, ['the token is [redacted]', 'printed with [redacted]'])
})

await t.test('a document in JSON is its bytes in base64, which the host reads; what a client wrote like one is data', async (t) => {
  const { vendor, dispatch } = await outpost(t, {
    dispatch: `
      const forged = { ...request.document, id: request.document.id.replace('1', '2') }
      const { id } = await context.http.post('${api}/x', { json: { file: request.document, forged } }, Type.Object({ id: Type.String() }))
      return { id, status: 'sent' }`
  })
  vendor.on('POST /x', { json: { id: '1' } })
  t.equal((await dispatch()).outcome, 'accepted')
  const { document } = invoice()
  t.same(vendor.requests[0]?.json, { file: content.toString('base64'), forged: { ...document, id: document.id.replace('1', '2') } })
})

await t.test('e-mails, hashes, bytes and parts of documents are made by the host', async (t) => {
  const { vendor, dispatch } = await outpost(t, {
    dispatch: `
      const { documents, http, settings: { token } } = context
      const file = request.document
      const message = { from: 'ada@example.com', to: ['bob@example.com'], subject: 'Hello', text: 'Hello', attachments: [file] }
      const mail = await documents.compose(message)
      const oauth1 = { consumerKey: 'key', consumerSecret: token }
      await http.post('${api}/mail', { document: mail, oauth1 }, Type.Any())
      await http.post('${api}/form', { form: { file, more: { json: [file] } } }, Type.Any())
      await http.post('${api}/part', { part: { document: file, from: 0, to: 1 } }, Type.Any())
      await http.post('${api}/base64', { base64: file }, Type.Any())
      await http.post('${api}/related', { related: [{ json: { name: 'x' } }, file, { document: file, contentType: 'text/csv' }] }, Type.Any())
      const foreign = await documents.digest({ ...file, id: file.id.replace('1', '2') }, { algorithm: 'md5' }).catch((error) => error.message)
      const kept = await documents.keep({ base64: 'eA==', filename: 'kept.txt', contentType: 'text/plain' })
      return { id: '1', status: 'sent', kept: [kept.filename, kept.size], md5: await documents.digest(file, { algorithm: 'md5' }), foreign,
        bytes: [...await documents.bytes(file, 0, 1)], type: mail.contentType }`
  })
  for (const path of ['mail', 'form', 'part', 'base64', 'related']) vendor.on(`POST /${path}`, { json: {} })
  t.strictSame(await dispatch({ settings: { token: 'tok_secret_1' } }), {
    outcome: 'accepted',
    response: {
      id: '1',
      status: 'sent',
      kept: ['kept.txt', 1],
      md5: '9dd4e461268c8034f5c8564e155c67a6',
      foreign: 'A document was named that is none of this call.',
      bytes: [120],
      type: 'message/rfc822'
    }
  })
  const { document } = invoice()
  const [mail, form, part, base64, related] = vendor.requests
  contains(t, mail?.headers['authorization'], /^OAuth oauth_consumer_key="key"/)
  contains(t, mail?.body.toString(), /^Subject: Hello\r$/m)
  t.same(form?.form, { file: 'eA==', more: '["eA=="]' })
  t.equal(part?.headers['content-range'], 'bytes 0-0/1')
  t.equal(base64?.body.toString(), 'eA==')
  t.same(related?.parts?.map(({ contentType, body }) => [contentType, body.toString()]).slice(1), [[document.contentType, 'x'], ['text/csv',
    'x']])
})

await t.test('XML, texts and headers of answers are what they are in this process', async (t) => {
  const { vendor, dispatch } = await outpost(t, {
    dispatch: `
      const Made = Type.Object({ headers: Type.Object({ location: Type.String() }), body: Type.Object({ Made: Type.Object({ Id: Type.String() }) }) })
      const { headers, body } = await context.http.post('${api}/x',
        { xml: { Make: { '@n': 1, Name: 'A & B' } }, replyAs: 'xml', replyHeaders: ['location'] }, Made)
      await context.http.put('${api}/y', { text: 'a;b' }, Type.Null())
      return { id: body.Made.Id, status: headers.location }`
  })
  vendor.on('POST /x', { xml: { Made: { Id: '7' } }, headers: { Location: '/x/7' } })
  vendor.on('PUT /y', {})
  t.same(await dispatch(), { outcome: 'accepted', response: { id: '7', status: '/x/7' } })
  t.same([vendor.requests[0]?.xml, vendor.requests[1]?.body.toString()], [{ Make: { '@n': '1', Name: 'A & B' } }, 'a;b'])
})

await t.test('what comes of a call is what it would be in this process', async (t) => {
  const asks = `await context.http.post('${api}/x', { json: 1 }, Type.Any());`
  const calls = [
    ['throw refused(7, \'no\')', 'rejected', /^no$/],
    [`return await context.http.post('${api}/x', { json: 1 }, Type.Object({ id: Type.String() }))`, 'uncertain',
      /^The answer of "api.acme.test" cannot be read: \/id Expected string, got number\.$/],
    [`try { await context.http.post('${api}/x', { json: 1 }, Type.Object({ id: Type.String() })) } catch {} throw refused('x', 'no')`,
      'uncertain', /cannot be read/],
    ['await context.http.post(\'https://other.test/x\', {}, Type.Any())', 'unavailable', /may not call "other.test"/],
    [`${asks} return undefined`, 'uncertain', /Nothing was returned\./],
    ['return undefined', 'unavailable', /Nothing was returned\. Nothing was sent\.$/],
    ['return { id: \'1\', status: () => 1 }', 'unavailable', /Not plain JSON data\./],
    ['const ring = { id: \'1\', status: \'x\' }; ring.self = ring; return ring', 'unavailable', /Not plain JSON data\./],
    ['return { id: 1, status: \'x\' }', 'unavailable', /\/id Expected string/],
    [`${asks} null.x`, 'uncertain', /failed unexpectedly; it may have accepted the request/],
    ['null.x', 'unavailable', /failed unexpectedly, before anything was sent/],
    ['throw outcomeUnknown(\'Who knows.\')', 'uncertain', /Who knows/],
    ['await context.http.post(\'https://other.test/x\', {}, Type.Any()).catch(() => { throw new Error(\'x\') })', 'unavailable',
      /before anything was sent/],
    ['await context.http.post(5, { json: 1 }, Type.Any())', 'unavailable', /before anything was sent/],
    [`await context.http.post('${api}/x', { document: { ...request.document, id: request.document.id.replace('1', '2') } }, Type.Any())`,
      'unavailable', /before anything was sent/]
  ] as const
  const { dispatch, vendor } = await outpost(t, {
    head: actsOf(calls.map(([code]) => [code, code])),
    dispatch: 'return await acts[context.reference](context, request)'
  })
  vendor.on('POST /x', { json: { id: 5 } })
  for (const [code, outcome, message] of calls) {
    const answered = await dispatch({ reference: code })
    t.equal(answered.outcome, outcome, code)
    matches(t, 'error' in answered ? answered.error.message : '', message, code)
  }
})

await t.test('what a refused call has made is taken back', async (t) => {
  const { vendor, dispatch } = await outpost(t, {
    dispatch: `
      context.onRefusal((http) => http.delete('${api}/first', {}, Type.Null()))
      context.onRefusal((http) => http.delete('${api}/second', {}, Type.Null()))
      throw refused('x', 'no')`
  })
  for (const path of ['first', 'second']) vendor.on(`DELETE /${path}`, { status: 204 })
  t.equal((await dispatch()).outcome, 'rejected')
  t.same(vendor.requests.map(({ path }) => path), ['/second', '/first'])
})

await t.test('a process that ends leaves the outcome that is known of its call, and another one takes its place', async (t) => {
  const { vendor, dispatch, log } = await outpost(t, {
    service: 'checkpoint: true,',
    dispatch: `
      if (context.reference === 'early') process.exit(3)
      await context.checkpoint('d1')
      if (context.reference === 'unsent') process.exit(4)
      await context.http.post('${api}/x', {}, Type.Any())
      if (context.reference === 'late') process.exit(5)
      ${accepted}`
  })
  vendor.on('POST /x', { json: 1 })
  t.equal((await dispatch({ reference: 'early' })).outcome, 'unavailable')
  t.equal((await dispatch()).outcome, 'accepted')
  t.equal((await dispatch({ reference: 'unsent' })).outcome, 'unavailable')
  t.equal((await dispatch()).outcome, 'accepted')
  t.equal((await dispatch({ reference: 'late' })).outcome, 'uncertain')
  t.equal((await dispatch()).outcome, 'accepted')
  t.equal(log.lines.filter(({ message }) => message.startsWith('the process of an adapter ended:')).length, 3)
})

await t.test('a process that ends again and again rests, for its account alone', async (t) => {
  const { dispatch, sandbox } = await outpost(t, {
    service: 'checkpoint: true,',
    dispatch: `if (context.reference === 'bad') process.exit(3); ${accepted}`
  })
  for (let time = 0; time < 2; time++) await dispatch({ reference: 'bad' })
  const refusedWhileResting = await dispatch()
  t.equal(refusedWhileResting.outcome, 'unavailable')
  matches(t, JSON.stringify(refusedWhileResting), /crashed several times/)
  t.same(sandbox.state().resting, ['acme'])
  t.equal((await dispatch({ account: 'company 2' })).outcome, 'accepted')
  await pause(1_100)
  t.equal((await dispatch()).outcome, 'accepted')
  t.same(sandbox.state().resting, [])
})

await t.test('two configurations never share anything', async (t) => {
  const { dispatch, sandbox } = await outpost(t, {
    head: 'globalThis.count = 0',
    dispatch: `Object.prototype.leak = context.reference; return { id: String(++globalThis.count), status: 'sent' }`
  })
  const idOf = async (account: string): Promise<unknown> => {
    const answer = await dispatch({ account })
    return 'response' in answer ? answer.response.id : answer
  }
  t.same([await idOf('a'), await idOf('a'), await idOf('b'), await idOf('a')], ['1', '2', '1', '3'])
  t.equal(sandbox.state().processes, 2, 'the one that told the manifest has ended')
})

await t.test('checks run outside too, for each configuration by itself', async (t) => {
  const { provider } = await outpost(t, {
    head: 'globalThis.asked = 0',
    service: 'check: (asked, { now }) => [{ at: \'/data\', code: String(++globalThis.asked), message: now.toISOString() }],',
    dispatch: accepted
  })
  const known = { settings: {}, requestSettings: {}, sandbox: false, now: new Date('2026-03-14T09:30:00.000Z') }
  const found = async (account: string): Promise<unknown> => await problemsForeseen(provider, 'invoicing', { data: {} }, known, { account })
  const problem = (code: string): unknown => [{
    path: '/data',
    code,
    message: 'The provider "acme" does not accept this. 2026-03-14T09:30:00.000Z'
  }]
  t.same([await found('a'), await found('b'), await found('a')], [problem('1'), problem('1'), problem('2')])
})

await t.test('a call that spins is cut at its limit, and its process is ended', async (t) => {
  const { dispatch, log } = await outpost(t, {
    service: 'checkpoint: true,',
    dispatch: `if (context.reference === 'spin') for (;;); ${accepted}`
  })
  // The limit is for the call, not for the start of its process.
  t.equal((await dispatch()).outcome, 'accepted')
  t.equal((await dispatch({ reference: 'spin' }, { limit: 300 })).outcome, 'unavailable')
  await until('its process is ended',
    () => log.lines.some(({ message }) => message === 'the process of an adapter ended: It does not answer any more.'))
  t.equal((await dispatch()).outcome, 'accepted')
})

await t.test('what a call does after its limit is not heard, and its process serves the next one', async (t) => {
  const { dispatch, log, vendor } = await outpost(t, {
    service: 'checkpoint: true,',
    dispatch: `
      if (context.reference === 'late') {
        await new Promise((resolve) => setTimeout(resolve, 600))
        await context.http.post('${api}/late', { json: 1 }, Type.Any())
      }
      ${accepted}`
  })
  vendor.on('POST /late', { json: {} })
  t.equal((await dispatch()).outcome, 'accepted')
  t.equal((await dispatch({ reference: 'late' }, { limit: 300 })).outcome, 'unavailable')
  await pause(600)
  t.equal((await dispatch()).outcome, 'accepted')
  t.same(vendor.requests, [])
  t.notOk(log.lines.some(({ message }) => message.startsWith('the process of an adapter ended:')))
})

await t.test('processes are few: those longest unused make room, and all end when they are not needed', async (t) => {
  const { dispatch, sandbox } = await outpost(t, { dispatch: accepted }, { maxProcesses: 2, idle: 1_500 })
  const outcomes = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((account) => dispatch({ account })))
  t.same(outcomes.map(({ outcome }) => outcome), Array.from({ length: 5 }, () => 'accepted'))
  t.ok(sandbox.state().processes <= 2)
  await until('no process is left', () => sandbox.state().processes === 0)
})

const counted = { head: 'let count = 0', dispatch: 'return { id: String(++count), status: \'sent\' }' }
const idOf = (answer: Outcome): unknown => 'response' in answer ? answer.response.id : answer

await t.test('a process ends after 10 minutes unused, by the clock, and not before', async (t) => {
  let moment = 0
  const { dispatch, sandbox } = await outpost(t, counted, { now: () => moment })
  t.equal((await dispatch()).outcome, 'accepted')
  moment = 599_999
  await pause(1_500)
  t.equal(sandbox.state().processes, 1)
  moment = 600_000
  await until('no process is left', () => sandbox.state().processes === 0)
})

await t.test('a process that has been used often enough, and has nothing to do, is replaced', async (t) => {
  const { dispatch, sandbox } = await outpost(t, counted, { uses: 3 })
  t.same([idOf(await dispatch()), idOf(await dispatch())], ['1', '2'])
  await pause(1_500)
  t.equal(sandbox.state().processes, 1)
  t.equal(idOf(await dispatch()), '3')
  await until('no process is left', () => sandbox.state().processes === 0)
  t.equal(idOf(await dispatch()), '1')
})

await t.test('a process that keeps much memory while it has nothing to do is replaced', {
  skip: platform() === 'linux' ? false : 'memory is read from /proc'
}, async (t) => {
  const { dispatch, sandbox } = await outpost(t, {
    head: 'let kept',
    dispatch: 'if (context.reference === \'keep\') kept = Buffer.alloc(80_000_000, 1); return { id: typeof kept, status: \'sent\' }'
  })
  t.equal(idOf(await dispatch()), 'undefined')
  await pause(1_500)
  t.equal(sandbox.state().processes, 1, 'a usual one stays')
  t.equal(idOf(await dispatch({ reference: 'keep' })), 'object')
  await until('no process is left', () => sandbox.state().processes === 0)
  t.equal(idOf(await dispatch()), 'undefined')
})

await t.test('one call asks the host for a bounded number of things', async (t) => {
  const { dispatch } = await outpost(t, {
    dispatch: `
      let asked = 0
      try { for (;; asked++) await context.state.get('x') } catch (error) { return { id: String(asked), status: 'sent', why: error.message } }`
  })
  t.same(await dispatch(), {
    outcome: 'accepted',
    response: { id: '10000', status: 'sent', why: 'One call asks for 10000 things at most.' }
  })
})

await t.test('whoever keeps all places busy gives them up when others wait', async (t) => {
  const { dispatch } = await outpost(t, { dispatch: `await new Promise((resolve) => setTimeout(resolve, 300)); ${accepted}` }, {
    maxProcesses: 1
  })
  let [calls, isServed] = [0, false]
  const busy = async (): Promise<void> => {
    do {
      await dispatch({ account: 'busy' })
      calls++
    } while (!isServed || calls < 4)
  }
  const all = [busy(), busy(), busy()]
  await pause(300)
  t.equal((await dispatch({ account: 'other' })).outcome, 'accepted')
  isServed = true
  await Promise.all(all)
})

await t.test('a check that does not answer says nothing of the request', async (t) => {
  const { provider } = await outpost(t, { dispatch: accepted, service: 'check: () => { for (;;); },' })
  const known = { settings: {}, requestSettings: {}, sandbox: false, now: new Date('2026-03-14T09:30:00.000Z') }
  const requested = async (): Promise<unknown> => problemsForeseen(provider, 'invoicing', { data: {} }, known, { account: 'one' })
  has(t, await requested().catch((error: unknown) => error), { word: 'provider_unavailable' })
})

/** An adapter that never answers a company that says so: of itself, or because its vendor does not answer. */
const silent = `if (context.reference === 'stuck') await new Promise(() => {})
if (context.reference === 'silent vendor') await context.wait(600)
${accepted}`

await t.test('a company whose adapters never answer keeps no other one from a place; what finds none was surely not sent', async (t) => {
  const service = 'check: () => [],'
  const { dispatch, provider, sandbox } = await outpost(t, { dispatch: silent, service }, { maxProcesses: 8, waitLimit: 300 })
  const end = new AbortController()
  t.teardown(() => end.abort())
  const users = Array.from({ length: 9 }, (_, user) => ({ account: `1|acme|user ${user}`, reference: 'stuck' }))
  const ended: Outcome[] = []
  const refused = Promise.withResolvers<undefined>()
  const stuck = users.map(async (user) => {
    ended.push(await dispatch(user, { signal: end.signal }))
    if (ended.length === 3) refused.resolve(undefined)
  })

  has(t, await dispatch({ account: '2|acme|company' }), { outcome: 'accepted' })
  await refused.promise
  for (const outcome of ended) {
    has(t, outcome, { outcome: 'unavailable', error: { word: 'provider_unavailable', ours: true, message: /Nothing was sent\.$/ } })
  }
  const known = { settings: {}, requestSettings: {}, sandbox: false, now: new Date('2026-03-14T09:30:00.000Z') }
  const requested = async (): Promise<unknown> =>
    problemsForeseen(provider, 'invoicing', { data: {} }, known, { account: '1|acme|user 10' })
  has(t, await requested().catch((error: unknown) => error), { word: 'provider_unavailable' }, 'a check that finds none refuses nothing')
  t.equal(sandbox.state().processes, 7, 'a quarter of the places is kept for who has none')
  end.abort()
  await Promise.all(stuck)
})

await t.test('who only waits for a vendor holds no place', async (t) => {
  const { dispatch } = await outpost(t, { dispatch: silent }, { maxProcesses: 1 })
  const end = new AbortController()
  const waiting = dispatch({ account: '1|acme|company', reference: 'silent vendor' }, { signal: end.signal })
  has(t, await dispatch({ account: '2|acme|company' }), { outcome: 'accepted' })
  has(t, await dispatch({ account: '1|acme|company' }), { outcome: 'accepted' }, 'the same process serves its next call')
  end.abort()
  has(t, await waiting, { outcome: 'unavailable' })
})
