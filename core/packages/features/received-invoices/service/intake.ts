import { listRetentionRules } from '@dispatch/accounts'
import { isRecord, type Json, type JsonObject, type Log, shortened } from '@dispatch/common'
import { DispatchError } from '@dispatch/contract'
import type { Outbox, Reception } from '@dispatch/core'
import type { Database } from '@dispatch/database'
import { type InvoiceFile, largestInvoice } from '@dispatch/einvoice'
import { draftEnding, type FileStore } from '@dispatch/files'
import { token } from '@dispatch/plugins/feature'
import { runEvery } from '@dispatch/queue'
import type { InvoiceReader } from '../../e-invoices/service/reader.ts'
import { companyIds, hideOld, listRemovable, noteOutcome, noteWithout, type Outcome, recordedKeys,
  takeInvoices } from '../store/invoices.ts'
import { countWaiting, forgetCursor, noteFailure, noteFound, takeReceptions } from '../store/receptions.ts'
import type { Facts, InvoiceRow, ReceptionRow, StoredInvoice } from '../store/tables.ts'
import { type Answers, tellOf } from './answers.ts'
import { asService, readStored } from './received.ts'

/** Takes in what has come, and removes what has been kept for long enough. Several processes may do so at once. */
export type Intake = {
  /** Asks the providers what has come, each once in five minutes. */
  poll: () => Promise<void>
  /** Fetches and reads the files of what was listed. */
  fetch: () => Promise<void>
  sweep: () => Promise<void>
  /** Removes the bytes of what nobody gets any more, of a company. */
  clean: (companyId: number) => Promise<void>
}

export const intake = token<Intake>('receivedInvoiceIntake')

/** Milliseconds between two rounds, and two sweeps. */
const [every, sweepEvery] = [15_000, 3_600_000]
const day = 24 * sweepEvery
/** Bytes without a row are removed when their folder is this many days old. */
const lookedInto = [2, 3, 4]
/** How many providers are asked and files fetched at once; files and rows that are looked for together. */
const [atOnce, together] = [4, 500]
/** Answers of a provider that are read in one look, and how many files of a company may wait to be fetched. */
const [maxAnswers, maxWaiting] = [20, 2_000]
/** After so many tries, in about a day, a file is given up that its vendor does not hand out. One that is away is asked every six hours. */
const maxTries = 10
/** The longest text of a list, and of all that may name persons. */
const [longest, longestNaming] = [300, 100_000]
/** Where the bytes are. */
const folder = 'received'

type Options = {
  database: Database
  files: FileStore
  invoiceReader: Pick<InvoiceReader, 'read'>
  outbox: Pick<Outbox, 'tell'>
  reception: Pick<Reception, 'list' | 'fetch'>
  log: Log
  newId: () => string
  now: () => Date
  retentionDays: number
}

async function lookAt ({ database, reception, newId }: Options, taken: ReceptionRow): Promise<void> {
  let row = taken
  const of = { companyId: row.company_id, provider: row.provider_code }
  for (let answer = 0; answer < maxAnswers && await countWaiting(database, of.companyId) < maxWaiting; answer++) {
    const { cursor, since } = row
    const listed = await reception.list(of, { since, ...cursor !== null && { cursor } })
    if (!listed.ok) return noteFailure(database, row, listed.why)
    const { received, sandbox, more, ...place } = listed.value
    if (cursor !== null && sandbox !== row.sandbox) {
      await forgetCursor(database, row, sandbox)
      row = { ...row, cursor: null, sandbox }
      continue
    }
    const found = { ...place, sandbox, received: received.map(({ id: remoteId, at }) => ({ remoteId, receivedId: newId(), at })) }
    // A provider whose place stays where it is would be asked for ever.
    if (!await noteFound(database, row, found) || !more || place.cursor === cursor) return
    row = { ...row, cursor: place.cursor, sandbox }
  }
}

async function fetchOne (options: Options, row: InvoiceRow): Promise<void> {
  const { reception, log } = options
  const from = { companyId: row.company_id, provider: row.provider_code, sandbox: row.sandbox }
  const fetched = await reception.fetch(from, row.remote_id, folder)
  if (!fetched.ok) {
    if (fetched.passes !== true && row.tries >= maxTries) {
      await record(options, row, { state: 'unreadable', problem: { code: 'not_fetched', message: fetched.why } })
    }
    return
  }
  const { document: { filename, contentType, size, sha256, storageKey: key }, discard } = fetched.value
  try {
    if (size > largestInvoice) {
      await record(options, row, { state: 'unreadable', problem: tooLarge })
      await discard()
      return
    }
    const file = { filename, contentType, size, sha256, key }
    if (!await record(options, row, await outcomeOf(options, row.company_id, file))) await discard()
  } catch (error) {
    // A database that does not answer may have recorded it. What was not is found by the day on which it was stored.
    if (!isRefused(error)) throw error
    await discard()
    if (row.tries < maxTries) throw error
    log.warn({ err: error, companyId: row.company_id }, 'a received e-invoice cannot be recorded')
    await record(options, row, { state: 'unreadable', problem: notRecorded })
  }
}

/** What a file is. Throws where it cannot be read now. */
async function outcomeOf ({ files, invoiceReader }: Options, companyId: number, file: StoredInvoice): Promise<Outcome> {
  try {
    const invoice = await readStored({ files, invoiceReader }, companyId, file)
    return { state: 'readable', file, facts: factsOf(invoice), parties: namingIn(invoice) }
  } catch (error) {
    const [problem] = error instanceof DispatchError && error.word === 'validation_failed' ? error.details ?? [] : []
    if (problem === undefined) throw error
    return { state: 'unreadable', file, problem: { code: problem.code, message: problem.message } }
  }
}

const record = ({ database, outbox }: Options, row: InvoiceRow, outcome: Outcome): Promise<boolean> =>
  noteOutcome(database, row, outcome, (queries, recorded) => tellOf(queries, outbox, recorded, 'invoice.received'))

async function removeHidden ({ database, files }: Options, only?: number): Promise<void> {
  const requested = { limit: together, ...only !== undefined && { only } }
  for (let gone = await listRemovable(database, requested); gone.length > 0; gone = await listRemovable(database, requested)) {
    for (const { file } of gone) if (file !== null) await files.remove(file.key)
    await noteWithout(database, gone)
  }
}

async function hideExpired ({ now, database, retentionDays }: Options): Promise<void> {
  const time = now().getTime()
  const shorter = (await listRetentionRules(database, retentionDays)).filter(({ services }) => services.includes(asService))
  const hide = async (days: number, of: { only?: number, but: readonly number[] }): Promise<void> => {
    const requested = { before: new Date(time - days * day), limit: together, ...of }
    while (await hideOld(database, requested) === together);
  }
  for (const { companyId: only, days } of shorter) await hide(days, { only, but: [] })
  await hide(retentionDays, { but: [] })
}

/** Removes bytes whose taking in ended before they were recorded, by the day on which they were stored. */
async function removeAbandoned ({ database, now, files }: Options): Promise<void> {
  for (const companyId of await companyIds(database)) {
    for (const days of lookedInto) {
      const date = new Date(now().getTime() - days * day).toISOString().slice(0, 10)
      const keys = await files.list(`${folder}/${companyId}/${date}`)
      const stored = (key: string): string => key.endsWith(draftEnding) ? key.slice(0, -draftEnding.length) : key
      for (let from = 0; from < keys.length; from += together) {
        const page = keys.slice(from, from + together)
        const recorded = await recordedKeys(database, companyId, page.map(stored))
        for (const key of page) if (!recorded.has(stored(key))) await files.remove(key)
      }
    }
  }
}

/** Does the work of each that was taken; one that fails comes again later, and keeps nobody else waiting. */
async function each<Row extends { company_id: number }> (
  { log }: Options,
  take: () => Promise<Row[]>,
  work: (row: Row) => Promise<void>,
  what: string
): Promise<void> {
  for (let taken = await take(); taken.length > 0; taken = await take()) {
    await Promise.all(taken.map(async (row) => {
      await work(row).catch((err: unknown) => {
        log.warn({ err, companyId: row.company_id }, what)
      })
    }))
  }
}

/** Takes in what vendors have received, in rounds. A fault with one vendor or file is logged; it is tried again later. */
export function createIntake (options: Options): Intake {
  const { database } = options

  return {
    poll: () =>
      each(options, () => takeReceptions(database, atOnce), (row) => lookAt(options, row), 'a provider could not be asked for e-invoices'),
    fetch: () =>
      each(options, () => takeInvoices(database, atOnce), (row) => fetchOne(options, row),
        'the file of a received e-invoice could not be taken in'),
    clean: (companyId) => removeHidden(options, companyId),

    async sweep () {
      await hideExpired(options)
      await removeHidden(options)
      await removeAbandoned(options)
    }
  }
}

const tooLarge = { code: 'too_large', message: `The file is larger than ${largestInvoice / 1024 / 1024} MiB, and was not kept.` }

const notRecorded = { code: 'not_recorded', message: 'What it says could not be recorded here, and the file was not kept.' }

/** Whether certainly nothing was recorded: the file could not be read now, or the database has refused what it says (SQLSTATE 22…). */
function isRefused (error: unknown): boolean {
  return error instanceof DispatchError
    || (error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code.startsWith('22'))
}

/** Looks, fetches and follows every 15 seconds, and removes every hour. */
export function workOnReceived ({ poll, fetch, sweep }: Intake, { follow }: Pick<Answers, 'follow'>, log: Log): AsyncDisposable {
  const repeated = (milliseconds: number, work: () => Promise<void>, what: string) =>
    runEvery(milliseconds, work, (err) => {
      log.warn({ err }, what)
    })
  const tasks = [
    repeated(every, poll, 'providers were not asked for e-invoices'),
    repeated(every, fetch, 'files of received e-invoices were not fetched'),
    repeated(every, follow, 'what became of statuses of received e-invoices was not found out'),
    repeated(sweepEvery, sweep, 'expired e-invoices could not be removed')
  ]
  return {
    async [Symbol.asyncDispose] () {
      await Promise.all(tasks.map((task) => task.close()))
    }
  }
}

/** What lists show of an e-invoice. */
function factsOf ({ format, profile, data, totals, problems }: InvoiceFile): Facts {
  const [seller, customer] = [partyIn(data['seller']), partyIn(data['customer'])]
  const texts = {
    number: textOf(data['number']),
    type: textOf(data['type']),
    date: textOf(data['date']),
    dueDate: textOf(data['dueDate']),
    currency: textOf(data['currency']),
    seller: textOf(seller['name']),
    sellerId: textOf(partyIn(seller['registration'])['id']) ?? textOf(seller['vatId']),
    customer: textOf(customer['name'])
  }
  const known = Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== undefined)) as {
    [Name in keyof typeof texts]?: string
  }
  return { format, profile, ...known, total: totals.total, amountDue: totals.amountDue, brokenRules: problems.length }
}

/** Whatever may name a person in it, for who asks what is known of one: who stands in it first, and all but the content of attachments. */
function namingIn ({ data }: InvoiceFile): string {
  const { seller = null, customer = null, payee = null, delivery = null, taxRepresentative = null, attachments = [], ...others } = data
  const files = Array.isArray(attachments) ? (attachments as Json[]).map((one) => ({ ...partyIn(one), content: null })) : []
  return shortened(JSON.stringify([seller, customer, payee, delivery, taxRepresentative, others, files]), longestNaming)
}

function partyIn (value: Json | undefined): JsonObject {
  return isRecord(value) ? value : {}
}

function textOf (value: Json | undefined): string | undefined {
  return typeof value === 'string' || typeof value === 'number' ? shortened(String(value), longest) : undefined
}
