import { type DocumentHandle, type JsonObject, type Log, turnLimit, withinTurns } from '@dispatch/common'
import { isDeliveryService } from '@dispatch/contract'
import { type CallContext, callDispatch, type CallLimits, copyJson, type FailedCall, type InstalledProvider, invoke, type Outcome,
  type State, type Verb, type VerbName, webhookUrl } from '@dispatch/host'
import type { ProvidedName, ServiceContracts } from '@dispatch/services'
import { aroundHttp, type Credential, credentialsOf, type Documents, type Files, type Http, type Smtp,
  type SmtpTransport } from '@dispatch/vendor-io'
import { failureOf } from '@dispatch/vendor-io/outcome'
import { hash } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { isDeepStrictEqual } from 'node:util'
import type { MailExchange } from '../fixtures/fixture.ts'
import { now } from './clock.ts'
import { connectionOf } from './connection.ts'
import { credentialsInBody } from './credentials.ts'
import { type LogLine, memoryLog, memoryState } from './memory.ts'
import { errorWithStack } from './trace.ts'
import type { ExchangeScript, ExchangeSession, VendorDouble } from './vendor-double.ts'

/** A call as a fixture describes it, with its placeholders filled in. */
export type FixtureCall = ExchangeScript & {
  service: ProvidedName
  mail?: MailExchange
  settings: JsonObject
  requestSettings: JsonObject
  /** The facts that the vendor has told about the connected account. */
  facts?: Readonly<Record<string, string>>
  /** The access token of that account, where it is a real one. */
  token?: string
  sandbox: boolean
  repeated?: true
  checkpointed?: string
  rest?: { answer: JsonObject, recipients: string[] }
  reference: string
  idempotencyKey: string
  documents: ReadonlyMap<string, Buffer>
  /** The state that the provider has stored before. */
  remembered?: JsonObject
  state?: State
  /** The clock, where it is not the kit's. */
  now?: () => Date
} & ({ verb: 'dispatch', request: JsonObject } | { verb: Exclude<VerbName, 'dispatch'>, query: JsonObject })

/**
 * The verb's own result, before the host made an outcome of it. `trace`: a thrown error that is no failure, with its stack. `refused`: what
 * the context's `http` refused to send. `credentials`: those that it gave with its requests. `handed`: the e-mails and the paths of files
 * that it gave to the host. `beside`: the mail servers and documents that belong to them.
 */
export type VerbObservation = {
  thrown?: unknown
  trace?: string
  returned?: unknown
  changed: boolean
  ended: boolean
  refused: string[]
  credentials: Credential[]
  handed: { what: string, value: unknown }[]
  beside: { what: string, value: unknown }[]
}

/** A call that was made. `saved`: each checkpoint, with the number of requests before it. */
export type CallRun = {
  result: Outcome | FailedCall | { outcome: 'answered', value: unknown }
  requests: ExchangeSession['requests']
  mails: ExchangeSession['mails']
  saved: { id: string, after: number }[]
  lines: readonly LogLine[]
  seen: VerbObservation
  /** Ended at the limit. */
  late: boolean
}

/** Milliseconds that the event loop turns: for a whole call, and for a verb to notice that its call was aborted. */
export type CallTimeouts = { limit: number, endLimit: number }

/** Calls a verb of the provider on the real host, with the vendor of the stage. */
export async function run (
  installed: InstalledProvider,
  stage: Pick<VendorDouble, 'play'>,
  call: FixtureCall,
  { limit, endLimit }: CallTimeouts
): Promise<CallRun> {
  let disk: string | undefined
  const openDisk = (): string => disk ??= mkdtempSync(join(tmpdir(), 'dispatch-'))
  const playing = await stage.play(call)
  const log = memoryLog()
  const saved: CallRun['saved'] = []
  const seen: VerbObservation = { changed: false, ended: true, refused: [], credentials: [], handed: [], beside: [] }
  const done = Promise.withResolvers<undefined>()
  const limited = turnLimit(limit)
  const watched = observed(installed, call, seen, () => done.resolve(undefined))
  try {
    // A request for an access token is not aborted with one call, because other calls may wait for it. It ends with its connection.
    const signal = AbortSignal.any([playing.givenUp, limited.signal])
    const context = contextOf(installed, call, playing, { openDisk, log, saved })
    let result: CallRun['result']
    try {
      result = await ask(watched, call, context, { signal })
    } finally {
      await playing.close()
    }
    if (!seen.ended) await withinTurns(endLimit, done.promise, new Error('It goes on.')).catch(() => undefined)
    return { result, requests: playing.requests, mails: playing.mails, saved, lines: log.lines, seen, late: limited.signal.aborted }
  } finally {
    limited.clear()
    if (disk !== undefined) await rm(disk, { recursive: true })
  }
}

function contextOf (
  installed: InstalledProvider,
  call: FixtureCall,
  { network, requests }: ExchangeSession,
  { openDisk, log, saved }: { openDisk: () => string, log: Log, saved: CallRun['saved'] }
): CallContext {
  const save = (id: string): Promise<void> => {
    saved.push({ id, after: requests.length })
    return Promise.resolve()
  }
  return {
    ...call,
    ...webhookUrlOf(installed, call.service),
    log,
    state: call.state ?? memoryState(call.remembered),
    now: call.now ?? now,
    resources: {
      network,
      account: 'the company',
      ...connectionOf(installed, call),
      documents: documentsOf(call),
      checkpoint: { ...(call.checkpointed !== undefined && { id: call.checkpointed }), save },
      disk: {
        // Most calls write no file.
        get root () {
          return openDisk()
        },
        folder: 'company'
      }
    }
  }
}

/** The address of a webhook that a vendor may be given. */
function webhookUrlOf ({ manifest: { code, webhooks } }: InstalledProvider, service: ProvidedName): { webhookUrl?: string } {
  if (!isDeliveryService(service) || webhooks?.[service] === undefined) return {}
  return { webhookUrl: webhookUrl('https://dispatch.example.com', { code, service, account: '01960000-0000-7000-8000-00000000eeee' }) }
}

async function ask (installed: InstalledProvider, call: FixtureCall, context: CallContext, limits: CallLimits): Promise<CallRun['result']> {
  if (call.verb === 'dispatch') {
    return await callDispatch(installed, call.service, call.request as unknown as ServiceContracts[ProvidedName]['dispatch'], context,
      limits)
  }
  const called = await invoke(installed, call.service, call.verb, call.query, context, limits)
  if ('outcome' in called) return called
  // What the end of a registration returns says nothing.
  if (call.verb === 'unsubscribe') return { outcome: 'answered', value: {} }
  const copied = copyJson(called.returned)
  return { outcome: 'answered', value: copied.ok ? copied.value : undefined }
}

/** The error that a verb threw and that is no failure, on lines of its own. */
export function traceOf ({ trace }: Pick<VerbObservation, 'trace'>): string {
  return trace === undefined ? '' : `\nIt threw ${trace}`
}

/** The same provider, with its verb recorded. */
function observed (
  installed: InstalledProvider,
  { service, verb }: FixtureCall,
  seen: VerbObservation,
  done: () => void
): InstalledProvider {
  const own = installed.verbs[service]?.[verb]
  if (own === undefined) return installed
  const verbSeen: Verb = async (request, context, caller) => {
    const given = (): unknown => ({ request, settings: context.settings, requestSettings: context.requestSettings })
    const before = structuredClone(given())
    seen.ended = false
    try {
      const { http, smtp, documents, files } = context
      const heard = {
        http: listened(http, seen),
        smtp: overheard(smtp, seen),
        documents: composed(documents, seen),
        files: noted(files, seen),
        // An invented vendor has done at once what a real one takes time for.
        wait: (seconds: number) => context.wait(Math.min(seconds, 0.1))
      }
      seen.returned = await own(request, { ...context, ...heard }, caller)
      return seen.returned
    } catch (thrown) {
      seen.thrown = thrown
      if (failureOf(thrown) === undefined) seen.trace = errorWithStack(thrown, installed.folder)
      throw thrown
    } finally {
      seen.ended = true
      seen.changed = !isDeepStrictEqual(before, given())
      done()
    }
  }
  return { ...installed, verbs: { ...installed.verbs, [service]: { ...installed.verbs[service], [verb]: verbSeen } } }
}

/** A failure that is not the vendor's comes from the request itself: its destination or its content. */
function listened (http: Http, seen: VerbObservation): Http {
  const tell = (thrown: unknown): never => {
    const failure = failureOf(thrown)
    if (failure?.ours === true) seen.refused.push(failure.message)
    throw thrown
  }
  return aroundHttp(http, (sent, call) => {
    seen.credentials.push(...credentialsOf(call), ...credentialsInBody(call))
    return sent.catch(tell)
  })
}

function overheard (smtp: Smtp, seen: VerbObservation): Smtp {
  const hear = ({ password, oauth2, dkim }: SmtpTransport): void => {
    if (password !== undefined) seen.credentials.push({ sent: 'as "password" of a mail server', value: password })
    if (oauth2 !== undefined) seen.credentials.push(...credentialsOf({ oauth2 }))
    if (dkim !== undefined) seen.credentials.push({ sent: 'as "dkim.privateKey"', value: dkim.privateKey })
  }
  return {
    send (message, transport) {
      hear(transport)
      seen.handed.push({ what: 'the e-mail', value: message })
      seen.beside.push({ what: 'the mail server', value: transport })
      return smtp.send(message, transport)
    },
    verify (transport) {
      hear(transport)
      return smtp.verify(transport)
    }
  }
}

function composed (documents: Documents, seen: VerbObservation): Documents {
  return {
    ...documents,
    compose (message) {
      seen.handed.push({ what: 'the e-mail', value: message })
      return documents.compose(message)
    }
  }
}

function noted (files: Files, seen: VerbObservation): Files {
  return {
    put (path, document) {
      seen.handed.push({ what: 'the path of the file', value: path })
      seen.beside.push({ what: 'the file', value: document.sha256 })
      return files.put(path, document)
    }
  }
}

function documentsOf ({ documents }: FixtureCall): CallContext['resources']['documents'] {
  const known = new Map([...documents.values()].map((bytes) => [hash('sha256', bytes), bytes]))
  return {
    read: ({ id, sha256 }: DocumentHandle) => {
      const bytes = known.get(sha256)
      return bytes === undefined
        ? Promise.reject(new Error(`There is no document ${id}.`))
        : Promise.resolve(Readable.from([bytes], { objectMode: false }))
    },
    async keep (content, about) {
      const bytes = await buffer(content)
      const sha256 = hash('sha256', bytes)
      known.set(sha256, bytes)
      return { id: `01960000-0000-7000-8000-${sha256.slice(0, 12)}`, ...about, size: bytes.byteLength, sha256 }
    }
  }
}
