import { type Actor, type AuditAuthor, noteAudit, readRetention, sightOf } from '@dispatch/accounts'
import { DispatchError, dueMoment, refusal, retentionInEffect } from '@dispatch/contract'
import type { Reception } from '@dispatch/core'
import type { Database } from '@dispatch/database'
import { buyerCodes, type InvoiceFile, isStatusCode, statusCodes } from '@dispatch/einvoice'
import type { FileStore } from '@dispatch/files'
import { token } from '@dispatch/plugins/feature'
import { type ServiceName, serviceNames, services } from '@dispatch/services'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type { InvoiceReader } from '../../e-invoices/service/reader.ts'
import type { AnswerView, ReceivedInvoiceDetails, ReceivedInvoiceView, ReceivedQuery, ReceptionBody,
  ReceptionView } from '../contract/received-invoices.ts'
import { listAnswers } from '../store/answers.ts'
import { findInvoice, type InvoiceRef, listInvoices } from '../store/invoices.ts'
import { listReceptions, setReception } from '../store/receptions.ts'
import type { AnswerRow, InvoiceRow, StoredInvoice } from '../store/tables.ts'

/** A file as its sender has made it. */
export type Original = { filename: string, contentType: string, size: number, content: Readable }

/** What a company has received. What is undefined is not there, or is none that the actor may see. */
export type ReceivedInvoices = {
  /** One more than `limit` where there are more. */
  list: (actor: Actor, query: ReceivedQuery & { limit: number }) => Promise<ReceivedInvoiceView[]>
  read: (actor: Actor, receivedId: string) => Promise<ReceivedInvoiceDetails | undefined>
  /** Throws `document_damaged` where it is not what was stored. */
  original: (actor: Actor, receivedId: string) => Promise<Original | undefined>
  /** What the file says. Throws `validation_failed` where it cannot be read. */
  reading: (actor: Actor, receivedId: string) => Promise<InvoiceFile | undefined>
  receptions: (companyId: number) => Promise<ReceptionView[]>
  /** Throws `validation_failed` for a time that there is not. */
  setReception: (author: AuditAuthor, provider: string, body: ReceptionBody) => Promise<ReceptionView | undefined>
}

export const receivedInvoices = token<ReceivedInvoices>('receivedInvoices')

/** The service whose rights and rules of retention are for what is received: the one whose documents go to electronic addresses. */
export const asService = theService()

function theService (): ServiceName {
  const found = serviceNames.find((name) => services[name].electronicAddress !== undefined)
  if (found === undefined) throw new Error('No service sends to electronic addresses.')
  return found
}

const day = 24 * 3_600_000

type Options = {
  database: Database
  files: Pick<FileStore, 'stream'>
  invoiceReader: Pick<InvoiceReader, 'read'>
  reception: Pick<Reception, 'sources'>
  now: () => Date
  retentionDays: number
}

/**
 * The received e-invoices of companies. Throws `validation_failed` for what cannot be read or written, `conflict` for one whose file is not
 * there yet.
 */
export function createReceivedInvoices ({ database, files, invoiceReader, reception, now, retentionDays }: Options): ReceivedInvoices {
  /** The milliseconds for which a company keeps it. */
  async function keptFor (companyId: number): Promise<number> {
    const retention = await database.company(companyId, (queries) => readRetention(queries, companyId))
    return retentionInEffect(retention, retentionDays)[asService] * day
  }

  async function visible (actor: Actor, receivedId: string): Promise<InvoiceRow | undefined> {
    const ref = { companyId: actor.companyId, receivedId }
    const row = await database.company(ref.companyId, (queries) => findInvoice(queries, ref))
    return row === undefined || (sightOf(actor).test === true && !row.sandbox) ? undefined : row
  }

  /** Its file; undefined where there is no such e-invoice. */
  async function stored (actor: Actor, receivedId: string): Promise<StoredInvoice | undefined> {
    const row = await visible(actor, receivedId)
    if (row?.file === null) {
      throw new DispatchError('conflict', row.state === 'fetching'
        ? 'Its file has not come yet: try again in a few minutes.'
        : 'There is no file of it here: get it at the provider itself.')
    }
    return row?.file ?? undefined
  }

  const receptionsOf = async (companyId: number): Promise<ReceptionView[]> => {
    const [sources, rows] = await Promise.all([reception.sources(companyId), listReceptions(database, companyId)])
    return sources.map(({ problem, ...source }) => {
      const row = rows.find(({ provider_code: code }) => code === source.provider)
      return {
        ...source,
        receives: row?.is_on ?? false,
        since: row?.since.toISOString() ?? null,
        lookedAt: row?.looked_at?.toISOString() ?? null,
        problem: problem ?? row?.problem ?? null
      }
    })
  }

  return {
    async list (actor, { limit, cursor, state, status, number }) {
      const { companyId } = actor
      const test = sightOf(actor).test === true
      const rows = await listInvoices(database, companyId, { test, state, status, number }, { limit: limit + 1, after: cursor })
      const kept = await keptFor(companyId)
      return rows.map((row) => viewOf(row, kept))
    },

    async read (actor, receivedId) {
      const row = await visible(actor, receivedId)
      if (row === undefined) return undefined
      const { companyId } = actor
      const answers = await database.company(companyId, (queries) => listAnswers(queries, { companyId, receivedId }))
      const sources = await reception.sources(companyId)
      const says = sources.some(({ provider, sandbox, says }) => says && provider === row.provider_code && sandbox === row.sandbox)
      return {
        ...viewOf(row, await keptFor(companyId)),
        statuses: answers.map(answerViewOf),
        sayable: says ? [...sayableOf(row)] : []
      }
    },

    async original (actor, receivedId) {
      const file = await stored(actor, receivedId)
      if (file === undefined) return undefined
      const { filename, contentType, size } = file
      return { filename, contentType, size, content: await files.stream(file) }
    },

    async reading (actor, receivedId) {
      const file = await stored(actor, receivedId)
      return file && readStored({ files, invoiceReader }, actor.companyId, file)
    },

    receptions: receptionsOf,

    async setReception (author, provider, { receives, since }) {
      const { companyId } = author
      if (!(await reception.sources(companyId)).some((source) => source.provider === provider)) return undefined
      const from = since === undefined ? undefined : pastOf(since, '/since', now())
      await database.company(companyId, async (queries) => {
        await setReception(queries, database, { companyId, provider }, { receives, since: from })
        const object = { kind: 'reception', id: provider }
        await noteAudit(queries, { companyId, author, at: now(), action: 'reception.changed', object, facts: { receives } })
      })
      return (await receptionsOf(companyId)).find((source) => source.provider === provider)
    }
  }
}

/** Reads a stored file in a thread with limits. Throws `validation_failed` where it cannot be read. */
export async function readStored (
  { files, invoiceReader }: { files: Pick<FileStore, 'stream'>, invoiceReader: Pick<InvoiceReader, 'read'> },
  companyId: number,
  file: StoredInvoice
): Promise<InvoiceFile> {
  return invoiceReader.read(companyId, await buffer(await files.stream(file)))
}

/** A moment that has been. Throws `validation_failed` for another one. */
export function pastOf (text: string, path: string, now: Date): Date {
  const moment = momentOf(text)
  if (moment === undefined || moment > now) {
    const [code, message] = moment === undefined ? ['format', 'This is no time.'] : ['in_the_future', 'This is still to come.']
    throw refusal('validation_failed', [{ path, code, message }])
  }
  return moment
}

function momentOf (text: string): Date | undefined {
  try {
    return dueMoment(text)
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** What may be said of an e-invoice: nothing more of one that is refused, and its payment again of one that is paid. */
export function sayableOf ({ state, status }: Pick<InvoiceRow, 'state' | 'status'>): readonly string[] {
  if (state !== 'readable' || status === '210') return []
  return status === '211' ? ['211'] : buyerCodes
}

export const refOf = ({ company_id: companyId, received_id: receivedId }: Pick<InvoiceRow, 'company_id' | 'received_id'>): InvoiceRef => ({
  companyId,
  receivedId
})

function viewOf (row: InvoiceRow, keptFor: number): ReceivedInvoiceView {
  return {
    id: row.received_id,
    provider: row.provider_code,
    remoteId: row.remote_id,
    sandbox: row.sandbox,
    state: row.state,
    problem: row.problem,
    file: row.file === null ? null : fileOf(row.file),
    invoice: row.facts,
    status: row.status,
    receivedAt: row.received_at.toISOString(),
    keptUntil: new Date(row.taken_at.getTime() + keptFor).toISOString()
  }
}

function fileOf ({ filename, contentType, size, sha256 }: StoredInvoice): NonNullable<ReceivedInvoiceView['file']> {
  return { filename, contentType, size, sha256 }
}

export function answerViewOf ({ status_id: statusId, saying, state, message, user_id: userId, asked_at: askedAt }: AnswerRow): AnswerView {
  const { code } = saying
  return {
    statusId,
    ...saying,
    name: isStatusCode(code) ? statusCodes[code].name : code,
    state,
    ...state !== 'said' && message !== null && { message },
    userId,
    askedAt: askedAt.toISOString()
  }
}
