import { createBreakers } from '@dispatch/host'
import fc from 'fast-check'
import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { VendorReply } from '../../core/packages/conformance/vendor/vendor.ts'
import { languages } from '../../plugins/console/language/language.ts'
import { until } from '../core/work/support.ts'
import { type Login, seededDatabase, startService } from '../support/service.ts'
import { vendorOf } from '../support/vendor.ts'
import { formIn, openConsole } from './support/console.ts'
import { testProviders } from './support/providers.ts'

const { en } = languages

type Fields = Record<string, string>
type Console = ReturnType<typeof openConsole>

const { vendor, network } = await vendorOf(t)
const providers = await testProviders(t)
// A vendor that honours no key and finds nothing again: whatever reaches it twice is there twice.
await providers.add('blind', { of: 'sms', service: 'idempotency: { kind: \'none\' }, notProcessed: [503]' },
  ({ metadata, sms }: any, { http }) =>
    http.post('https://api.vendor.example/messages', { query: metadata, json: sms }, { type: 'object' } as never))

const started = {
  databaseUrl: await seededDatabase(t),
  config: { providerDirectories: providers.directories },
  // A vendor that fails again and again is still asked.
  replacements: { network, breakers: createBreakers({ now: () => new Date(), failures: 1000 }) }
}
const first = await startService(t, started)
const second = await startService(t, started)
const { admin }: { admin: Login } = await first.company('sending')
await first.send('PUT', '/api/v1/company/providers/blind', { body: { settings: {} } }, admin)
await first.send('PUT', '/api/v1/company/defaults/sms', { body: { providerName: 'blind' } }, admin)
const processes = [first, second].map(openConsole)
const cookie = await openConsole(first).signIn(admin)

/** What the vendor does with each message that reaches it; it takes all others. Only what is `busy` was surely not taken. */
const replies = {
  takes: { json: { id: '1', status: 'sent' } },
  busy: { status: 503, json: { message: 'Later.' } },
  loses: { cut: 'after-body' },
  stops: { cut: 'in-reply' }
} satisfies Record<string, VendorReply>
type Reply = keyof typeof replies

let next: Reply[] = []
/** The drafts that have reached it, each time that they did. */
const taken: string[] = []
let arrived = Promise.withResolvers<undefined>()
vendor.on('POST /messages', ({ query }) => {
  const reply = next.shift() ?? 'takes'
  if (reply !== 'busy') taken.push(query['draft'] ?? '')
  arrived.resolve(undefined)
  return replies[reply]
})

const address = '/send?template=20'
const keyOf = (form: Fields): string => form[':once'] ?? ''
/** A form as a person has filled it in, whose message names the draft: the vendor counts by it. */
const filled = (form: Fields, message: string): Fields => ({
  ...form,
  'request.phoneNumber': '+33687654321',
  'data.sender': 'Acme',
  'data.message': message,
  'data.amount': '1.00',
  'data.date': '2026-05-01',
  'data.url': 'https://pay.acme.example/1',
  ':metadata': `draft=${keyOf(form)}`
})

/** The tabs of a browser: the forms that it shows, the last one in front. `open` reads one anew, from the address that names its draft. */
class Browser {
  tabs: Fields[] = []
  keys = new Set<string>()
  answered = new Set<string>()
  #process = 0

  get #console (): Console {
    return processes[this.#process % processes.length]!
  }

  async open (query: string, message: string): Promise<void> {
    const form = formIn((await this.#console.follow(query, cookie)).body)
    if (keyOf(form) === '') throw new TypeError(`${query} shows no form.`)
    this.tabs.push(filled(form, message))
    this.keys.add(keyOf(form))
  }

  get front (): Fields {
    return this.tabs.at(-1) ?? {}
  }

  /** Memory is lost: another process answers from now on. */
  restart (): void {
    this.#process++
  }

  async send (form = this.front): Promise<void> {
    const { status, body } = await this.#console.post('/send/dispatch', form, cookie)
    // Another message of a draft that was sent is not sent: the page says so.
    const said = /<div class="notice[^]*?<\/div>/.exec(String(body))?.[0] ?? ''
    if (status !== 303 && !said.includes(en.sendWasSent)) throw new TypeError(`It was answered ${String(status)}: ${said}`)
    this.answered.add(keyOf(form))
  }

  /** The browser goes before it has the answer: at once, or when the vendor has the message. */
  async cut (late: boolean): Promise<void> {
    const gone = new AbortController()
    arrived = Promise.withResolvers()
    const sent = fetch(`${[first, second][this.#process % 2]?.url ?? ''}/console/send/dispatch`, {
      method: 'POST',
      body: new URLSearchParams(this.front),
      headers: { cookie, 'sec-fetch-site': 'same-origin' },
      redirect: 'manual',
      signal: gone.signal
    }).then(() => undefined, () => undefined)
    // A message that was sent before reaches no vendor again.
    if (late) await Promise.race([arrived.promise, sent])
    gone.abort()
    await sent
  }

  async copy (): Promise<void> {
    const { headers } = await this.#console.post('/send/copy', this.front, cookie)
    await this.open((headers.get('location') ?? '').slice('/console'.length), 'Anew')
  }
}

const acts: Record<string, (browser: Browser) => Promise<void> | void> = {
  send: (browser) => browser.send(),
  'press twice': async (browser) => {
    await Promise.all([browser.send(), browser.send()])
  },
  'go back and send': (browser) => browser.send(browser.tabs[0]),
  'open the draft in another tab': (browser) => browser.open(`${address}&draft=${keyOf(browser.front)}`, 'Hello again'),
  'send from two tabs': async (browser) => {
    await Promise.all(browser.tabs.slice(-2).map((tab) => browser.send(tab)))
  },
  'lose the answer': (browser) => browser.cut(true),
  'go before it is sent': (browser) => browser.cut(false),
  'restart': (browser) => {
    browser.restart()
  },
  'send anew': (browser) => browser.copy()
}

/** Acts after which a person does not know whether anything has been sent yet. */
const unknown = ['lose the answer', 'go before it is sent']
const reached = (key: string): number => taken.filter((one) => one === key).length

await t.test('whatever a person does, a draft reaches its vendor once', async (t) => {
  const steps = fc.array(fc.constantFrom(...Object.keys(acts)), { minLength: 1, maxLength: 7 })
  const vendorDoes = fc.array(fc.constantFrom<Reply>('takes', 'takes', 'busy', 'loses', 'stops'), { maxLength: 3 })
  const all = new Set<string>()
  await fc.assert(fc.asyncProperty(steps, vendorDoes, async (chosen, scripted) => {
    next = [...scripted]
    const browser = new Browser()
    await browser.open(address, 'Hello')
    for (const act of chosen) await acts[act]?.(browser)
    const { body: { data } } = await first.send('GET', '/api/v1/dispatches?service=sms&limit=100', {}, admin)
    const isKnown = scripted.length === 0 && !chosen.some((act) => unknown.includes(act))
    for (const key of browser.keys) {
      all.add(key)
      const recorded = data.filter(({ metadata }: { metadata: Record<string, string> }) => metadata['draft'] === key).length
      const isRight = browser.answered.has(key)
        ? recorded === 1 && reached(key) <= 1 && (reached(key) === 1 || !isKnown)
        : recorded <= 1 && reached(key) <= 1
      if (!isRight) throw new Error(`A draft was recorded ${String(recorded)} times, and reached its vendor ${String(reached(key))} times.`)
    }
  }), { numRuns: 15, endOnFailure: true, examples: [[['send'], []], [['press twice', 'restart', 'go back and send'], []]] })
  t.same([...all].filter((key) => reached(key) > 1), [], 'nor does it afterwards')
})

await t.test('whatever people do, each row of a batch that somebody approves reaches its vendor once', async () => {
  const { admin: approver, member } = await first.company('approving', { credits: 1_000 })
  await first.send('PUT', '/api/v1/company/providers/blind', { body: { settings: {} } }, approver)
  await first.send('PUT', '/api/v1/company/defaults/sms', { body: { providerName: 'blind' } }, approver)
  await first.send('POST', '/api/v1/company/approval-rules', { body: { name: 'Everything' } }, approver)
  const [asks, decides] = await Promise.all([member, approver].map((login) => openConsole(first).signIn(login)))
  let turn = 0
  const current = (): Console => processes[turn % processes.length]!

  type Batch = { form: Fields, batchId: string, approvalId: string }
  const approve = async ({ approvalId }: Batch): Promise<void> => {
    const { status } = await current().post(`/approvals/${approvalId}/approve`, {}, decides)
    if (![303, 409].includes(status)) throw new TypeError(`An approval was answered ${String(status)}.`)
  }
  const sendAgain = async ({ form, batchId }: Batch): Promise<void> => {
    const { headers } = await current().post('/batches', form, asks)
    if (headers.get('location') !== `/console/batches/${batchId}`) throw new TypeError('Another batch was made.')
  }
  const acts: Record<string, (batch: Batch) => unknown> = {
    approve,
    'press twice': (batch) => Promise.all([approve(batch), approve(batch)]),
    'approve from two tabs': ({ approvalId }) =>
      Promise.all(processes.map((one) => one.post(`/approvals/${approvalId}/approve`, {}, decides))),
    'lose the answer': async ({ approvalId }) => {
      const gone = new AbortController()
      const sent = fetch(`${[first, second][turn % 2]?.url ?? ''}/console/approvals/${approvalId}/approve`, {
        method: 'POST',
        body: new URLSearchParams(),
        headers: { cookie: decides ?? '', 'sec-fetch-site': 'same-origin' },
        redirect: 'manual',
        signal: gone.signal
      }).catch(() => undefined)
      gone.abort()
      await sent
    },
    'go back and send the batch': sendAgain,
    'let it go on': ({ batchId }) => current().post(`/batches/${batchId}/resume`, {}, asks),
    restart: () => {
      turn++
    }
  }

  await fc.assert(fc.asyncProperty(fc.array(fc.constantFrom(...Object.keys(acts)), { minLength: 1, maxLength: 5 }), async (chosen) => {
    next = []
    const key = randomUUID()
    const names = [`${key}/1`, `${key}/2`]
    const rows = names.map((draft) => JSON.stringify({ sms: { phoneNumber: '+33687654321', message: 'Hello' }, metadata: { draft } }))
    const form = { service: 'sms', name: 'rows.ndjson', key, file: Buffer.from(`${rows.join('\n')}\n`).toString('base64') }
    const batchId = (await current().post('/batches', form, asks)).headers.get('location')?.split('/').at(-1) ?? ''
    const waiting = async (): Promise<any> =>
      (await first.send('GET', '/api/v1/approvals', {}, approver)).body.data.find((one: { batchId: string }) => one.batchId === batchId)
    const statusOf = async (): Promise<string> => (await first.send('GET', `/api/v1/batches/${batchId}`, {}, member)).body.status
    // The console has the rows checked, and sends them when somebody lets them go.
    await until('it is checked', async () => await statusOf() === 'paused')
    await current().post(`/batches/${batchId}/resume`, {}, asks)
    await until('it waits', async () => await waiting() !== undefined)
    const batch = { form, batchId, approvalId: (await waiting()).id }
    if (names.some((name) => reached(name) > 0)) throw new Error('It was sent before it was approved.')
    for (const act of chosen) await acts[act]?.(batch)
    await approve(batch)
    await until('it is finished', async () => await statusOf() === 'finished')
    for (const name of names) if (reached(name) !== 1) throw new Error(`A row reached its vendor ${String(reached(name))} times.`)
  }), { numRuns: 4, endOnFailure: true, examples: [[['press twice', 'restart', 'go back and send the batch', 'approve from two tabs']]] })
})

await t.test('whatever people do, a proposal that somebody sends reaches its vendor once', async () => {
  let turn = 0
  const current = (): Console => processes[turn % processes.length]!
  type Proposal = { path: string, form: Fields }
  const send = async ({ path, form }: Proposal): Promise<void> => {
    const { status } = await current().post(`${path}/send`, form, cookie)
    if (![303, 409].includes(status)) throw new TypeError(`A proposal was answered ${String(status)}.`)
  }
  const acts: Record<string, (proposal: Proposal) => unknown> = {
    send,
    'press twice': (proposal) => Promise.all([send(proposal), send(proposal)]),
    'send from two tabs': ({ path, form }) => Promise.all(processes.map((one) => one.post(`${path}/send`, form, cookie))),
    'lose the answer': async ({ path, form }) => {
      const gone = new AbortController()
      const sent = fetch(`${[first, second][turn % 2]?.url ?? ''}/console${path}/send`, {
        method: 'POST',
        body: new URLSearchParams(form),
        headers: { cookie, 'sec-fetch-site': 'same-origin' },
        redirect: 'manual',
        signal: gone.signal
      }).catch(() => undefined)
      gone.abort()
      await sent
    },
    'decline': ({ path }) => current().confirm(`${path}/decline`, {}, cookie),
    restart: () => {
      turn++
    }
  }
  await fc.assert(fc.asyncProperty(fc.array(fc.constantFrom(...Object.keys(acts)), { minLength: 1, maxLength: 5 }), async (chosen) => {
    next = []
    const key = randomUUID()
    const request = { sms: { phoneNumber: '+33687654321', message: 'Hello' }, metadata: { draft: key } }
    const { body: { id } } = await first.send('POST', '/api/v1/proposals', { body: { service: 'sms', request } }, admin)
    const path = `/proposals/${String(id)}`
    const [, seen = ''] = /name="seen" value="([^"]+)"/.exec(String((await current().open(path, cookie)).body)) ?? []
    for (const act of chosen) await acts[act]?.({ path, form: { seen } })
    await send({ path, form: { seen } })
    const statusOf = async (): Promise<string> => (await first.send('GET', `/api/v1/proposals/${String(id)}`, {}, admin)).body.status
    const desired = await statusOf() === 'declined' ? 0 : 1
    if (desired === 1) await until('it is sent', () => reached(key) >= 1)
    if (reached(key) !== desired) throw new Error(`A proposal reached its vendor ${String(reached(key))} times.`)
  }), {
    numRuns: 6,
    endOnFailure: true,
    examples: [[['press twice', 'restart', 'send']], [['lose the answer', 'send from two tabs']], [['decline', 'send']]]
  })
})
