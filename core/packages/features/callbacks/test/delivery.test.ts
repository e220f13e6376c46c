import { sql } from 'kysely'
import { spawn } from 'node:child_process'
import { randomUUIDv7 } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Webhook } from 'standardwebhooks'
import t, { type Test } from 'tap'
import { until } from '../../../../../test/core/work/support.ts'
import { contains, has, lacks } from '../../../../../test/support/matching.ts'
import { createAuthority } from '../../../conformance/vendor/certificates.ts'
import type { ReceivedRequest } from '../../../conformance/vendor/requests.ts'
import { createVendor } from '../../../conformance/vendor/vendor.ts'
import { callbackLimits, callbackRetryDelays } from '../service/delivery.ts'
import { desk } from './support.ts'

const authority = await createAuthority()
const { database, databaseUrl, signing, clock, log, jobs, process: open, company, dispatch, note, read } = await desk(t)
const receiver = await createVendor()
t.teardown(receiver.close)
/** A server whose certificate is of the right authority, for another name. */
const stranger = createServer(await authority.issue('other.test'), (_, response) => response.end()).listen(0, '127.0.0.1')
await once(stranger, 'listening')
t.teardown(() => stranger.close())
const otherName = { host: '127.0.0.1', port: (stranger.address() as AddressInfo).port }

const internet = { ca: [receiver.ca], route: receiver.route, loopback: 'allowed' } as const
const { deliver, sweep, replay } = open(internet)
const url = 'https://hooks.acme.test/dispatch?token=in-the-address'

/** A dispatch of a company of its own, and a secret that its receiver knows. */
async function begun () {
  clock.time = Date.now()
  const owner = await company()
  const { secret } = await signing.rotate(owner, null)
  const dispatchId = await dispatch(owner)
  jobs.length = 0
  receiver.requests.length = 0
  receiver.answer({ status: 200 })
  return {
    ...owner,
    owner,
    dispatchId,
    secret,
    webhook: new Webhook(secret),
    state: async () => (await read(owner.companyId, dispatchId))[0]!
  }
}

const verified = (webhook: Webhook, { body, headers }: ReceivedRequest): any => webhook.verify(body.toString(), headers)

await t.test('a callback is what the published library of Standard Webhooks verifies', async (t) => {
  const { companyId, dispatchId, webhook, state } = await begun()
  const callbackId = await note({ companyId, dispatchId, url })
  has(t, jobs, [{ data: { companyId } }])
  await deliver({ companyId })
  const [request] = receiver.requests
  has(t, request, {
    method: 'POST',
    host: 'hooks.acme.test',
    path: '/dispatch',
    query: { token: 'in-the-address' },
    headers: { 'content-type': 'application/json', 'webhook-id': callbackId }
  })
  t.strictSame(verified(webhook, request!), {
    type: 'dispatch.succeeded',
    timestamp: new Date(clock.time).toISOString(),
    sequence: 1,
    data: { dispatchId, note: 'Zoë' }
  })
  has(t, await state(), {
    state: 'delivered',
    next_at: null,
    attemptRows: [{ number: 1, outcome: 'delivered', status: 200, reason: null }]
  })
  await deliver({ companyId })
  t.equal(receiver.requests.length, 1, 'and it is sent once')
  t.throws(() => verified(new Webhook(`whsec_${Buffer.alloc(32, 1).toString('base64')}`), request!), 'another secret does not verify it')
  t.throws(() => verified(webhook, { ...request!, body: Buffer.from(request!.body.toString().replace('Zoë', 'Zoe')) }),
    'nor does another body')
})

await t.test('each kind that is due has a job of its own', async (t) => {
  const { companyId, dispatchId } = await begun()
  const [endpointId, moment] = [randomUUIDv7(), new Date(clock.time)]
  await sql`insert into callback_endpoints (endpoint_id, company_id, name, url, enabled, secrets, created_at)
    values (${endpointId}, ${companyId}, '', 'https://endpoint.acme.test/', true, '[]', ${moment})`.execute(database.owner)
  await note({ companyId, dispatchId, url })
  await note({ companyId, dispatchId, url })
  await sql`insert into outbox (callback_id, company_id, endpoint_id, type, sequence, receiver, body, state, next_at, created_at)
    values (${randomUUIDv7()}, ${companyId}, ${endpointId}, 'company.credits_low', 1, '', '{}', 'pending', ${moment}, ${moment})`
    .execute(database.owner)
  const added = () => [...new Set(jobs.splice(0).map(({ key, data }) => [key, 'endpoints' in data].join()))]
  added()
  await deliver({ companyId })
  t.same(added(), [`${companyId} next,false`, `${companyId} endpoints next,true`])
  clock.time -= 1000
  await deliver({ companyId })
  t.same(added(), [`${companyId} watch,false`, `${companyId} endpoints watch,true`], 'nor is one alone looked after')
})

await t.test('while a secret is being replaced both verify, for a day; nobody sees one twice', async (t) => {
  const { companyId, owner, dispatchId, webhook, secret } = await begun()
  clock.time += 1000
  const second = await signing.rotate(owner, null)
  has(t, second, { secret: /^whsec_/, previousUntil: new Date(clock.time + 24 * 3_600_000).toISOString() })
  t.not(second.secret, secret)
  await note({ companyId, dispatchId, url })
  await deliver({ companyId })
  const { headers, body } = receiver.requests[0]!
  t.equal(headers['webhook-signature']?.split(' ').length, 2)
  for (const each of [webhook, new Webhook(second.secret)]) t.ok(each.verify(body.toString(), headers))
  t.strictSame(await signing.list(companyId), {
    secrets: [
      { createdAt: second.createdAt, expiresAt: null },
      { createdAt: new Date(clock.time - 1000).toISOString(), expiresAt: second.previousUntil }
    ]
  })

  clock.time += 24 * 3_600_000
  await note({ companyId, dispatchId, url })
  await deliver({ companyId })
  contains(t, receiver.requests[1]!.headers['webhook-signature'], /^v1,[^ ]+$/, 'after a day the old one signs no more')
  t.equal((await signing.list(companyId)).secrets.length, 1)
})

await t.test('rotations at the same moment leave one current secret, and all of them sign', async (t) => {
  const owner = await company()
  await Promise.all([signing.rotate(owner, null), signing.rotate(owner, null),
    signing.sign({ companyId: owner.companyId, endpointId: null, secrets: [] }, { id: 'a', body: '' })])
  const { secrets } = await signing.list(owner.companyId)
  t.equal(secrets.filter(({ expiresAt }) => expiresAt === null).length, 1)
})

await t.test('a company that has never asked for a secret has one all the same, which the store keeps sealed', async (t) => {
  const { companyId } = await company()
  const signed = await Promise.all([1, 2].map(() => signing.sign({ companyId, endpointId: null, secrets: [] }, { id: 'a', body: 'b' })))
  t.strictSame(signed[0], signed[1])
  const rows = await database.owner.selectFrom('callback_secrets').selectAll().where('company_id', '=', companyId).execute()
  has(t, rows, [{ user_id: null, sealed: { v: 1, kid: String } }])
})

await t.test('callbacks of a dispatch are numbered without gaps, whatever becomes of their transactions', async (t) => {
  const { companyId, dispatchId } = await begun()
  const tries = await Promise.allSettled(Array.from({ length: 12 }, (_, index) =>
    index % 3 === 0
      ? database.company(companyId, async (queries) => {
        await queries.updateTable('dispatches').set({ recipient: 'Ada' }).where('dispatch_id', '=', dispatchId).execute()
        throw new Error('undone')
      })
      : note({ companyId, dispatchId, url })))
  t.equal(tries.filter(({ status }) => status === 'fulfilled').length, 8)
  const found = await read(companyId, dispatchId)
  t.strictSame(found.map(({ sequence }) => sequence), [1, 2, 3, 4, 5, 6, 7, 8])
  t.strictSame(found.map(({ body }) => (JSON.parse(body!) as { sequence: number }).sequence), [1, 2, 3, 4, 5, 6, 7, 8])
})

await t.test('what is not delivered is tried ten times over three days, with what it was signed then', async (t) => {
  const { companyId, dispatchId, state } = await begun()
  receiver.answer({ status: 500, text: 'the receiver said canary' })
  await note({ companyId, dispatchId, url })
  const began = clock.time
  for (const [index, pause] of callbackRetryDelays.entries()) {
    if (pause > 0) {
      clock.time += pause * 1000 - 1
      await deliver({ companyId })
      t.equal(receiver.requests.length, index, `not before ${String(pause)} s have passed`)
      clock.time += 1
    }
    await deliver({ companyId })
    t.equal(receiver.requests.length, index + 1)
  }
  t.equal(clock.time - began, 1000 * callbackRetryDelays.reduce((sum, pause) => sum + pause))
  has(t, await state(), {
    state: 'failed',
    next_at: null,
    attemptRows: callbackRetryDelays.map((_, index) => ({
      number: index + 1,
      outcome: 'failed',
      status: 500,
      reason: 'It answered 500 instead of 200.'
    }))
  })
  clock.time += 100 * 24 * 3_600_000
  await deliver({ companyId })
  t.equal(receiver.requests.length, 10, 'and then no more')
  t.equal(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])).size, 1, 'under one id')
  t.equal(new Set(receiver.requests.map(({ headers }) => headers['webhook-timestamp'])).size, 10, 'each at its own time')
  lacks(t, JSON.stringify([await state(), log.lines]), /canary|whsec_/, 'of what the receiver said nothing is kept')
  lacks(t, JSON.stringify(log.lines), /in-the-address/)
})

await t.test('a receiver that asks to be left alone for longer is, in seconds or until a date, for a day at most', async (t) => {
  const whole = (): number => Math.floor(clock.time / 1000) * 1000
  const usual = callbackRetryDelays[1] ?? 0
  for (const [ask, seconds] of [
    [() => '120', () => 120],
    [() => new Date(whole() + 7_200_000).toUTCString(), () => Math.ceil((whole() + 7_200_000 - clock.time) / 1000)],
    [() => '999999999999', () => 24 * 3600],
    [() => '2', () => usual],
    [() => 'soon', () => usual]
  ] as const) {
    const { companyId, dispatchId, state } = await begun()
    receiver.answer({ status: 503, headers: { 'retry-after': ask() } })
    await note({ companyId, dispatchId, url })
    await deliver({ companyId })
    t.equal((((await state()).next_at?.getTime() ?? 0) - clock.time) / 1000, seconds(), ask())
  }
})

await t.test('each try that follows has its job, after its pause', async (t) => {
  const { companyId, dispatchId } = await begun()
  receiver.answer([{ status: 503 }, { status: 429 }, { status: 204 }])
  await note({ companyId, dispatchId, url })
  jobs.length = 0
  await deliver({ companyId })
  has(t, jobs.splice(0), [{ data: { companyId }, after: 6 }])
  clock.time += 5000
  await deliver({ companyId })
  has(t, jobs.splice(0), [{ after: 301 }])
  clock.time += 300_000
  await deliver({ companyId })
  t.strictSame(jobs, [], 'what is delivered has none')
})

await t.test('410 ends it; every other answer but 2xx is a failure, and redirects are not followed', async (t) => {
  for (const [answer, expected] of [
    [{ status: 410 }, { state: 'stopped', attemptRows: [{ outcome: 'stopped', status: 410 }] }],
    [
      { status: 302, headers: { location: 'https://hooks.acme.test/elsewhere' } },
      { state: 'pending', attemptRows: [{ outcome: 'failed', status: 302, reason: 'It answered 302; redirects are not followed.' }] }
    ],
    [{ status: 307, headers: { location: 'https://169.254.169.254/' } }, { state: 'pending', attemptRows: [{ status: 307 }] }],
    [{ status: 404 }, { state: 'pending', attemptRows: [{ status: 404 }] }],
    [{ status: 202 }, { state: 'delivered', attemptRows: [{ status: 202 }] }],
    [
      { cut: 'after-body' },
      { state: 'pending', attemptRows: [{ outcome: 'failed', status: null, reason: '"hooks.acme.test" cut the connection.' }] }
    ],
    [{ cut: 'in-reply' }, { state: 'delivered', attemptRows: [{ status: 200 }] }]
  ] as const) {
    const { companyId, dispatchId, state } = await begun()
    receiver.answer(answer)
    await note({ companyId, dispatchId, url })
    await deliver({ companyId })
    has(t, await state(), expected, JSON.stringify(answer))
    t.equal(receiver.requests.length, 1)
  }
})

await t.test('addresses', async (t) => {
  /** What the first attempt to reach an address came to. */
  async function reason (address: string, network: Parameters<typeof open>[0]): Promise<string | null | undefined> {
    const { companyId, dispatchId, state } = await begun()
    await note({ companyId, dispatchId, url: address })
    await open(network).deliver({ companyId })
    const { state: word, attemptRows } = await state()
    t.equal(word, 'pending', address)
    t.equal(receiver.requests.length, 0, address)
    return attemptRows[0]?.reason
  }

  const literal = ['127.0.0.1', '10.0.0.1', '172.16.0.1', '192.168.1.1', '100.64.0.1', '169.254.169.254', '0.0.0.0', '2130706433', '0x7f.1',
    '0177.0.0.1', '127.1', '[::1]', '[::]', '[fe80::1]', '[fd00:ec2::254]', '[::ffff:10.0.0.1]', '[64:ff9b::7f00:1]', '[2002:7f00:1::]']
  for (const host of literal) {
    await t.test(`an address that is not public is refused: ${host}`, async (t) => {
      contains(t, await reason(`https://${host}:${receiver.port}/`, { ca: [receiver.ca] }),
        /may not be called: its address is not public\.$/)
    })
  }

  await t.test('a name that leads to such an address is refused when it is connected to, and also one of several', async (t) => {
    for (const addresses of [['10.0.0.1'], ['127.0.0.1'], ['93.184.215.14', '127.0.0.1'], ['::ffff:127.0.0.1']]) {
      contains(t, await reason(`https://hooks.acme.test:${receiver.port}/`, {
        ca: [receiver.ca],
        resolve: () => Promise.resolve(addresses)
      }), /"hooks\.acme\.test" cannot be found, or has no permitted address\.$/)
    }
    contains(t, await reason(`https://localhost:${receiver.port}/`, { ca: [receiver.ca] }), /cannot be found, or has no permitted address/,
      'with the real resolver')
  })

  await t.test('a name that changes its address after the first look is judged anew at each connection', async (t) => {
    const { companyId, dispatchId, state } = await begun()
    receiver.answer({ status: 500, headers: { connection: 'close' } })
    const answers = [['127.0.0.1'], ['10.0.0.1']]
    const rebound = open({ ca: [receiver.ca], allow: ['127.0.0.1/32'], resolve: () => Promise.resolve(answers.shift() ?? []) })
    await note({ companyId, dispatchId, url: `https://rebound.acme.test:${receiver.port}/` })
    await rebound.deliver({ companyId })
    clock.time += 5000
    await rebound.deliver({ companyId })
    has(t, (await state()).attemptRows, [{ status: 500 }, { status: null, reason: /cannot be found, or has no permitted address/ }])
  })

  await t.test('only https, without a user name, with a certificate that is trusted and is the host\'s', async (t) => {
    t.equal(await reason(`http://hooks.acme.test:${receiver.port}/`, internet), 'The address is not an https:// URL.')
    t.equal(await reason('https://user:password@hooks.acme.test/', internet), 'The address has a user name or a password.')
    contains(t, await reason(url, { route: receiver.route, loopback: 'allowed' }), /no valid TLS certificate/,
      'an authority that nobody knows')
    contains(t, await reason('https://hooks.acme.test/', { ...internet, route: () => otherName }), /no valid TLS certificate/)
    contains(t, await reason('https://hooks.acme.test/', { ...internet, route: () => ({ host: '127.0.0.1', port: 1 }) }),
      /refused the connection/)
  })
})

await t.test('a receiver of 100 MB costs neither memory nor time', async (t) => {
  let written = 0
  const server: Server = createServer(await authority.issue('big.test'), (request, response) => {
    request.resume()
    response.on('error', () => undefined)
    response.writeHead(200)
    const piece = Buffer.alloc(1024 * 1024)
    const write = (): void => {
      while (written < 100 && !response.destroyed) {
        written++
        if (!response.write(piece)) {
          response.once('drain', write)
          return
        }
      }
      response.end()
    }
    write()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const { companyId, dispatchId, state } = await begun()
  await note({ companyId, dispatchId, url: 'https://big.test/' })
  await open({ ca: [authority.ca], route: () => ({ host: '127.0.0.1', port }), loopback: 'allowed' }).deliver({ companyId })
  has(t, await state(), { state: 'delivered' })
  await until('the connection is cut',
    async () => await new Promise((resolve) => server.getConnections((_, count) => resolve(count === 0))))
  t.ok(written < 20, `${String(written)} MB were taken`)
})

await t.test('a receiver that does not answer holds up neither the company\'s other receivers nor other companies', async (t) => {
  const { companyId, userId, dispatchId } = await begun()
  const held = Promise.withResolvers<{ status: number }>()
  receiver.answer(({ host }) => host === 'mute.acme.test' ? held.promise : { status: 200 })
  for (let index = 0; index < 10; index++) await note({ companyId, dispatchId, url: 'https://mute.acme.test/' })
  const other = await dispatch({ companyId, userId })
  await note({ companyId, dispatchId: other, url })
  const under = Array.from({ length: callbackLimits.perReceiver }, () => deliver({ companyId }))
  await until('they are under way', () => receiver.requests.length === callbackLimits.perReceiver)
  await deliver({ companyId })
  has(t, await read(companyId, other), [{ state: 'delivered' }])
  jobs.length = 0
  await deliver({ companyId })
  has(t, jobs, [{ key: `${String(companyId)} watch`, after: 16 }], 'the others wait, and are looked after')
  t.equal(receiver.requests.filter(({ host }) => host === 'mute.acme.test').length, callbackLimits.perReceiver)
  held.resolve({ status: 200 })
  await Promise.all(under)
  t.ok(jobs.some(({ key }) => key === `${String(companyId)} next`), 'who has ended has the next one sent')
})

await t.test('what a killed process had begun is sent again, once its time is over', async (t) => {
  const { companyId, owner, dispatchId, state } = await begun()
  const held = Promise.withResolvers<{ status: number }>()
  receiver.answer([{ status: 200 }])
  receiver.answer(() => receiver.requests.length === 1 ? held.promise : { status: 200 })
  await note({ companyId, dispatchId, url })
  const lost = deliver({ companyId })
  await until('it is under way', () => receiver.requests.length === 1)
  await deliver({ companyId })
  await t.rejects(replay(owner, (await state()).callback_id), {
    word: 'conflict',
    message: 'The callback is being sent at this moment; its attempts tell what came of it.'
  })
  t.equal(receiver.requests.length, 1, 'nobody else takes it meanwhile')
  clock.time += 15_000
  await deliver({ companyId })
  t.equal(receiver.requests.length, 2)
  has(t, await state(), { state: 'delivered', attemptRows: [{ number: 1, outcome: null }, { number: 2, outcome: 'delivered' }] })
  held.resolve({ status: 500 })
  await lost
  has(t, await state(), { state: 'delivered', attemptRows: [{ outcome: 'failed', status: 500 }, { outcome: 'delivered' }] },
    'what is learnt of it later does not undo that')
})

await t.test('a callback whose job was lost is found again', async (t) => {
  const { companyId, dispatchId } = await begun()
  await note({ companyId, dispatchId, url })
  jobs.length = 0
  clock.time += 59_000
  await sweep()
  t.notOk(jobs.some(({ data }) => data.companyId === companyId))
  clock.time += 2_000
  await sweep()
  t.ok(jobs.some(({ data }) => data.companyId === companyId))
})

await t.test('a callback is sent again when it is asked for, under its id', async (t) => {
  const { companyId, owner, dispatchId, state } = await begun()
  receiver.answer([{ status: 410 }, { status: 500 }, { status: 200 }])
  const callbackId = await note({ companyId, dispatchId, url })
  await deliver({ companyId })
  has(t, await state(), { state: 'stopped' })
  has(t, await replay(owner, callbackId), { state: 'pending', attempts: [{ number: 1 }] })
  await deliver({ companyId })
  has(t, await state(), { state: 'pending', tries: 1, attempts: 2 })
  clock.time += 5000
  await deliver({ companyId })
  has(t, await state(), { state: 'delivered', attemptRows: [{ outcome: 'stopped' }, { outcome: 'failed' }, { outcome: 'delivered' }] })
  t.equal(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])).size, 1)
  const another = await company()
  t.equal(await replay(another, callbackId), undefined, 'not by another company')
})

await t.test('a process of its own, whose authorities are the system\'s', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'dispatch-ca-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const bundle = join(folder, 'ca.pem')
  writeFileSync(bundle, authority.ca)
  const received: { headers: Record<string, string>, body: string }[] = []
  const server = createServer(await authority.issue('localhost'), (request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece)).on('end', () => {
      received.push({ headers: request.headers as Record<string, string>, body: Buffer.concat(pieces).toString() })
      response.end()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const address = `https://localhost:${(server.address() as AddressInfo).port}/hook`

  /** Runs a process until the company has nothing due. */
  async function run (test: Test, companyId: number, env: NodeJS.ProcessEnv): Promise<void> {
    const child = spawn(process.execPath, [
      fileURLToPath(new URL('./fixtures/deliverer.ts', import.meta.url)),
      databaseUrl,
      String(companyId)
    ], { env: { ...process.env, ...env }, stdio: ['ignore', 'inherit', 'inherit'] })
    const [code] = await once(child, 'exit') as [number]
    test.equal(code, 0)
  }

  await t.test('delivers where the authority is among NODE_EXTRA_CA_CERTS', async (t) => {
    const { companyId, dispatchId, webhook } = await begun()
    await note({ companyId, dispatchId, url: address })
    await run(t, companyId, { NODE_EXTRA_CA_CERTS: bundle })
    has(t, await read(companyId, dispatchId), [{ state: 'delivered' }])
    has(t, webhook.verify(received[0]!.body, received[0]!.headers), { sequence: 1 })
  })

  await t.test('and refuses a certificate that is signed by nobody it knows', async (t) => {
    const { companyId, dispatchId } = await begun()
    received.length = 0
    await note({ companyId, dispatchId, url: address })
    await run(t, companyId, { NODE_EXTRA_CA_CERTS: '' })
    has(t, await read(companyId, dispatchId), [{
      state: 'pending',
      attemptRows: [{ outcome: 'failed', status: null, reason: /no valid TLS certificate/ }]
    }])
    t.strictSame(received, [])
  })

  await t.test('two of them do not send the same one', async (t) => {
    const { companyId, dispatchId } = await begun()
    received.length = 0
    for (let index = 0; index < 40; index++) await note({ companyId, dispatchId, url: address })
    await Promise.all([1, 2].map(() => run(t, companyId, { NODE_EXTRA_CA_CERTS: bundle })))
    t.equal(received.length, 40)
    t.equal(new Set(received.map(({ headers }) => headers['webhook-id'])).size, 40)
  })
})
