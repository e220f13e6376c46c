import { type Actor, type AuditAuthor, noteAudit, notifyUrlOf } from '@dispatch/accounts'
import { canonicalJson, type JsonObject, type Log, uuidOf } from '@dispatch/common'
import { DispatchError, refusal } from '@dispatch/contract'
import type { Outbox, Reception } from '@dispatch/core'
import type { Database, OwnerQueries } from '@dispatch/database'
import { buyerStatus, type InvoiceFile, writeStatus } from '@dispatch/einvoice'
import type { FileStore } from '@dispatch/files'
import { clientWord } from '@dispatch/host'
import { token } from '@dispatch/plugins/feature'
import type { InvoiceReader } from '../../e-invoices/service/reader.ts'
import type { AnswerBody, AnswerView } from '../contract/received-invoices.ts'
import { beginAnswer, type DueAnswer, endAnswer, type Ended, listAnswers, sayAgain, takeAnswers } from '../store/answers.ts'
import { findInvoice, lockInvoice } from '../store/invoices.ts'
import type { Answer, AnswerRow, InvoiceRow } from '../store/tables.ts'
import { answerViewOf, pastOf, readStored, refOf, sayableOf } from './received.ts'

/** Runs work while there is room for the file of a company in memory. */
export type Place = <Result>(companyId: number, work: () => Promise<Result>) => Promise<Result>

/** What companies say of what they have received. `place`: where their files are read. */
export type Answers = {
  /**
   * Says it once: the same said again is found, and sent again only where the platform has certainly not got it. Undefined: there is no
   * such e-invoice. Throws `conflict` where it cannot be said, `validation_failed` where it breaks a rule, and the failure of the provider.
   */
  say: (actor: Actor, author: AuditAuthor, receivedId: string, body: AnswerBody, place: Place) => Promise<AnswerView | undefined>
  /** Finds out what became of what was said: its answer may be lost, and platforms check what they have taken. */
  follow: () => Promise<void>
}

export const answers = token<Answers>('receivedInvoiceAnswers')

/** The most that is said of one e-invoice, and what is looked up together. */
const [maxStatuses, together] = [100, 20]

type Options = {
  database: Database
  files: Pick<FileStore, 'stream'>
  invoiceReader: Pick<InvoiceReader, 'read'>
  outbox: Pick<Outbox, 'tell'>
  reception: Pick<Reception, 'say' | 'lookUp'>
  log: Log
  now: () => Date
}

/**
 * Says at platforms what companies answer to received e-invoices. Throws `validation_failed` for a status that cannot be written,
 * `conflict` for one that cannot be said now, `outcome_unknown` where nobody knows whether it was said, and the vendor's refusals.
 */
export function createAnswers ({ database, files, invoiceReader, outbox, reception, log, now }: Options): Answers {
  /** Notes how saying something has ended. Whoever has said it is told of what comes of it later, and of what the platform has. */
  async function end (row: AnswerRow, before: AnswerRow['state'], ended: Ended): Promise<AnswerRow> {
    return endAnswer(database, row, ended, async (queries, invoice, answer) => {
      const isNews = ended.state === 'said' ? before !== 'said' : ended.state === 'refused' && ended.looked === true
      if (isNews) await tellOf(queries, outbox, invoice, ended.state === 'said' ? 'invoice.status_said' : 'invoice.status_refused', answer)
    })
  }

  async function send (invoice: InvoiceRow, row: AnswerRow, message: Message): Promise<AnswerRow> {
    await sayAgain(database, row.company_id, row.status_id)
    const said = { id: invoice.remote_id, code: row.saying.code, ...message }
    const result = await reception.say(fromOf(invoice), row.status_id, said)
    if (result.outcome === 'said') return end(row, 'asked', { state: 'said', message: null })
    const { error: { word, message: why, retryAfter }, outcome } = result
    await end(row, 'asked', { state: outcome === 'uncertain' ? 'uncertain' : 'refused', message: why })
    if (outcome === 'uncertain') throw inDoubt(why)
    if (word === 'provider_error') throw notTaken(why)
    throw new DispatchError(clientWord(word), why, retryAfter === undefined ? {} : { retryAfter })
  }

  /** Says what was said before and is not known to have arrived, unless it has. */
  async function sayOnceMore (invoice: InvoiceRow, row: AnswerRow, since: number, message: Message): Promise<AnswerRow> {
    if (row.state === 'refused') return send(invoice, row, message)
    const known = await reception.lookUp(fromOf(invoice), { statusId: row.status_id, since })
    if (known.is === 'there') return end(row, row.state, { state: 'said', message: null })
    if (known.is === 'absent') return send(invoice, row, message)
    await end(row, row.state, { state: known.is === 'refused' ? 'refused' : 'uncertain', message: known.message })
    throw known.is === 'refused' ? notTaken(known.message) : inDoubt(known.message)
  }

  async function followOne ({ since, ...row }: DueAnswer): Promise<void> {
    const known = await reception.lookUp(fromOf(row), { statusId: row.status_id, since })
    const looked = true
    // What the platform has said to have is not gone because a search does not find it.
    const isOver = known.is === 'refused' || (known.is === 'absent' && row.state !== 'said')
    const open = row.state === 'said' ? 'said' : 'uncertain'
    const state = known.is === 'there' ? 'said' : isOver ? 'refused' : open
    await end(row, row.state, { state, message: state === 'said' || known.is === 'there' ? null : known.message, looked })
  }

  return {
    async say (actor, author, receivedId, body, place) {
      const { companyId, userId, key } = actor
      const ref = { companyId, receivedId }
      const found = await database.company(companyId, (queries) => findInvoice(queries, ref))
      if (found === undefined || (key?.mode === 'test' && !found.sandbox)) return undefined
      const statusId = uuidOf(['received invoice', receivedId, canonicalJson(body)])
      const known = await database.company(companyId, (queries) => listAnswers(queries, ref))
      const before = known.find(({ status_id: id }) => id === statusId)
      if (before?.state === 'said') return answerViewOf(before)
      if (found.state !== 'readable' || found.file === null) {
        throw new DispatchError('conflict', 'What cannot be read here cannot be answered from here: say it at the provider itself.')
      }
      const sayable = sayableOf(found)
      if (!sayable.includes(body.code)) {
        const can = sayable.length === 0 ? 'nothing' : sayable.join(', ')
        throw new DispatchError('conflict', `The status ${body.code} cannot be said now: ${can} can.`, { reason: 'state_forbids' })
      }
      if (before === undefined && known.length >= maxStatuses) {
        throw new DispatchError('conflict', `Of one invoice ${maxStatuses} statuses are said at most.`)
      }
      const at = pastOf(body.at ?? before?.saying.at ?? now().toISOString(), '/at', now()).toISOString()
      const answer: Answer = { ...body, at }
      const { file } = found
      const invoice = await place(companyId, () => readStored({ files, invoiceReader }, companyId, file))
      const message = messageOf(invoice, answer, { id: statusId, issued: now() })
      const begun = await database.company(companyId, async (queries) => {
        const locked = await lockInvoice(queries, ref)
        // What was said meanwhile decides what may be said.
        if (locked?.status !== found.status) return false
        const said = (await listAnswers(queries, ref)).find(({ status_id: id }) => id === statusId)
        if (said?.state !== before?.state) return false
        const began = await beginAnswer(queries, database, ref, { statusId, answer, userId })
        if (began === false) return false
        const object = { kind: 'received_invoice', id: receivedId }
        await noteAudit(queries, { companyId, author, at: now(), action: 'received_invoice.answered', object, facts: { code: body.code } })
        return began
      })
      if (begun === false) {
        throw new DispatchError('conflict', 'Something is being said of this invoice: try again in a moment.', {
          reason: 'being_done',
          retryAfter: 5
        })
      }
      const row = before ?? (await database.company(companyId, (queries) => listAnswers(queries, ref)))
        .find(({ status_id: id }) => id === statusId)
      if (row === undefined) throw new Error(`The status ${statusId} of a received invoice is gone.`)
      return answerViewOf(before === undefined ? await send(found, row, message) : await sayOnceMore(found, row, begun.since, message))
    },

    async follow () {
      for (let due = await takeAnswers(database, together); due.length > 0; due = await takeAnswers(database, together)) {
        await Promise.all(due.map(async (row) => {
          await followOne(row).catch((err: unknown) => {
            log.warn({ err, companyId: row.company_id }, 'what became of a status of a received invoice could not be found out')
          })
        }))
      }
    }
  }
}

type Message = { status: JsonObject, message: string }

/** The answer to an invoice as the message that the platform gets. */
function messageOf ({ format, data }: InvoiceFile, answer: Answer, { id, issued }: { id: string, issued: Date }): Message {
  const { status, problems } = buyerStatus(data, answer, {
    id,
    issued: issued.toISOString(),
    reading: { format, currency: undefined, rules: 'FRANCE' }
  })
  if (problems.length > 0) throw refusal('validation_failed', problems)
  return { status: { ...status }, message: writeStatus(status) }
}

const fromOf =
  ({ company_id: companyId, provider_code: provider, sandbox }: Pick<InvoiceRow, 'company_id' | 'provider_code' | 'sandbox'>) => ({
    companyId,
    provider,
    sandbox
  })

function notTaken (why: string): DispatchError {
  return new DispatchError('conflict', `The provider does not take it: ${why}`)
}

function inDoubt (why: string): DispatchError {
  return new DispatchError('outcome_unknown', `${why} Saying the same once more finds out what became of it, and says it at most once.`)
}

/** Tells a company of one of its received e-invoices. It names no person, so that nobody has to be erased from callbacks. */
export async function tellOf (
  queries: OwnerQueries,
  outbox: Pick<Outbox, 'tell'>,
  invoice: InvoiceRow,
  type: 'invoice.received' | 'invoice.status_said' | 'invoice.status_refused',
  answer?: AnswerRow
): Promise<void> {
  const { companyId, receivedId } = refOf(invoice)
  const { provider_code: provider, sandbox, state, facts, problem } = invoice
  const url = await notifyUrlOf(queries, companyId)
  const data: JsonObject = {
    companyId,
    invoiceId: receivedId,
    provider,
    sandbox,
    state,
    ...facts !== null && { format: facts.format, profile: facts.profile },
    ...problem !== null && { problem: problem.code },
    ...answer !== undefined && { statusId: answer.status_id, code: answer.saying.code }
  }
  await outbox.tell(queries, companyId, { type, data, ...url !== null && { url } })
}
