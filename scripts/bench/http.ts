import { Agent, request } from 'undici'
import { type CallContext, callDispatch } from '../../core/host/call/dispatch.ts'
import { createRedactor, redactLog } from '../../core/host/call/redact.ts'
import { createProgress } from '../../core/host/call/request-outcome.ts'
import { createOwnDocuments } from '../../core/host/files/own-documents.ts'
import { createHttp } from '../../core/host/http/client.ts'
import { createNetwork, type Network } from '../../core/host/http/network.ts'
import type { InstalledProvider } from '../../core/host/load/load.ts'
import { deriveManifest } from '../../core/host/manifest/derive.ts'
import { defineProvider, Secret, Type } from '../../core/provider.ts'
import { startChild } from './support/child.ts'
import { effort } from './support/effort.ts'
import type { QuickVendor } from './support/quick-vendor.ts'
import { printTable } from './support/table.ts'

/**
 * The overhead of the host for a call: the same request made directly with undici, by a call's `http`, and by a whole dispatch of a
 * provider, to the same HTTPS server on loopback. They run in turns, and the server is a separate process.
 */

const { rounds, warmUp, callsPerRound } = effort({ rounds: 60, warmUp: 30, callsPerRound: 150 }, {
  rounds: 4,
  warmUp: 1,
  callsPerRound: 50
})

const user = 'AC0123456789abcdef0123456789abcdef'
const password = '0123456789abcdef0123456789abcdef'
const Sent = Type.Object({ sid: Type.String(), status: Type.String() })
const form = { To: '+33612345678', From: 'Acme', Body: 'Your invoice F-2026-001 is ready.' }

const nothing = (): void => undefined
const silent = { debug: nothing, info: nothing, warn: nothing, error: nothing }
const missing = (): Promise<never> => Promise.reject(new Error('There are no documents here.'))
const outside = { documents: { read: missing, keep: missing } }

await measure()

async function measure (): Promise<void> {
  const { ready: { ca, port }, stop } = await startChild<QuickVendor>('quick-vendor.ts')
  const network = createNetwork({ ca: [ca], loopback: 'allowed', route: () => ({ host: '127.0.0.1', port }) })
  const agent = new Agent({ connect: { ca: [ca] }, allowH2: false })
  try {
    printTable(
      await compare({
        'undici by hand': byHand(agent, port),
        'http of a call': throughHttp(network),
        'a dispatch through the host': throughHost(network)
      })
    )
  } finally {
    await Promise.all([network.close(), agent.close()])
    await stop()
  }
}

/** The least that such a call needs: sign in, send, read, parse. */
function byHand (dispatcher: Agent, port: number): () => Promise<unknown> {
  const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
  return async () => {
    const { body } = await request(`https://127.0.0.1:${port}/2010-04-01/Accounts/${user}/Messages.json`, {
      method: 'POST',
      dispatcher,
      body: new URLSearchParams(form).toString(),
      headers: { authorization, 'content-type': 'application/x-www-form-urlencoded' }
    })
    return JSON.parse(await body.text()) as unknown
  }
}

/** Redaction, schema, timing and the rules of a request, without the start and the end of a dispatch. */
function throughHttp ({ transport: wire, accessTokens: tokens }: Network): () => Promise<unknown> {
  const redact = createRedactor([password])
  const log = redactLog(silent, redact)
  const { conceal } = redact
  return () =>
    createHttp({
      transport: wire,
      accessTokens: tokens,
      log,
      conceal,
      ...outside,
      own: createOwnDocuments({}),
      account: 'company 1',
      targets: { provider: 'bench', declared: ['api.twilio.com'], chosen: [] },
      errors: { map: {} },
      notProcessed: [],
      keyed: false,
      progress: createProgress({ passed: true }),
      ended: new AbortController().signal,
      holds: () => true,
      limit: 60_000,
      now: () => new Date()
    }).post(`https://api.twilio.com/2010-04-01/Accounts/${user}/Messages.json`, { basic: [user, password], form }, Sent)
}

function throughHost (network: Network): () => Promise<unknown> {
  const provider = installed()
  const context: CallContext = {
    settings: { accountSid: user, authToken: password },
    requestSettings: {},
    sandbox: false,
    reference: 'step-1',
    idempotencyKey: 'step-1',
    log: silent,
    state: { get: missing, put: missing, putIfAbsent: missing, delete: missing },
    now: () => new Date(),
    resources: { ...outside, network, account: 'company 1', checkpoint: { save: missing } }
  }
  const document = {
    id: '01960000-0000-7000-8000-000000000001',
    filename: 'F-1.pdf',
    contentType: 'application/pdf',
    size: 1,
    sha256: '0'.repeat(64)
  }
  return async () => {
    const outcome = await callDispatch(provider, 'invoicing', { invoicing: { documentType: 'INVOICE' }, data: {}, document, metadata: {} },
      context)
    if (outcome.outcome !== 'accepted') throw new Error(outcome.error.message)
  }
}

function installed (): InstalledProvider {
  const definition = defineProvider({
    code: 'bench',
    name: 'Bench',
    hosts: ['api.twilio.com'],
    settings: Type.Object({ accountSid: Type.String(), authToken: Secret() }),
    services: {
      invoicing: {
        documentTypes: ['INVOICE'],
        idempotency: { kind: 'none' },
        async dispatch (_request, { settings: { accountSid, authToken }, http }) {
          const { sid, status } = await http.post(`https://api.twilio.com/2010-04-01/Accounts/${accountSid}/Messages.json`, {
            basic: [accountSid, authToken],
            form
          }, Sent)
          return { id: sid, status }
        }
      }
    }
  })
  const fit = deriveManifest(definition, '1.0.0')
  if (!fit.ok) throw new Error(JSON.stringify(fit.problems))
  const { dispatch } = definition.services.invoicing ?? {}
  return {
    state: 'installed',
    folder: '/',
    code: 'bench',
    version: '1.0.0',
    digest: '',
    publisher: { packageName: 'acme', author: null },
    manifest: fit.value,
    verbs: { invoicing: { dispatch: dispatch as never } },
    checks: {},
    eventReaders: {}
  }
}

type Row = { 'median µs': number, 'CPU µs': number, 'over the first, median µs': number, 'over the first, CPU µs': number }

/** Runs the contestants in turns, so that a slow moment of the machine affects all of them. Processor time does not include waiting. */
async function compare (contestants: Record<string, () => Promise<unknown>>): Promise<Record<string, Row>> {
  const runs = Object.entries(contestants).map(([name, run]) => ({ name, run, times: [] as number[], processor: 0 }))
  for (let round = -warmUp; round < rounds; round++) {
    for (const contestant of runs) {
      const before = process.cpuUsage()
      const times = await timesOf(contestant.run)
      const { user, system } = process.cpuUsage(before)
      if (round < 0) continue
      contestant.times.push(...times)
      contestant.processor += user + system
    }
  }
  const costs = runs.map(({ name, times, processor }) => ({ name, median: median(times), processor: processor / times.length }))
  const [first] = costs
  return Object.fromEntries(costs.map(({ name, median, processor }) => [
    name,
    {
      'median µs': Math.round(median),
      'CPU µs': Math.round(processor),
      'over the first, median µs': Math.round(median - (first?.median ?? 0)),
      'over the first, CPU µs': Math.round(processor - (first?.processor ?? 0))
    }
  ]))
}

/** Microseconds for each call of a round. */
async function timesOf (run: () => Promise<unknown>): Promise<number[]> {
  const times: number[] = []
  for (let call = 0; call < callsPerRound; call++) {
    const begun = performance.now()
    await run()
    times.push((performance.now() - begun) * 1000)
  }
  return times
}

function median (values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}
