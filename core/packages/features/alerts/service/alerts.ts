import { type AuditAuthor, noteAudit, notifyUrlOf } from '@dispatch/accounts'
import { type JsonObject, type Keyring, type Log, type Problem, uuidOf } from '@dispatch/common'
import { DispatchError, refusal } from '@dispatch/contract'
import type { Outbox } from '@dispatch/core'
import { asOwner, type Database, type OwnerQueries } from '@dispatch/database'
import { token } from '@dispatch/plugins/feature'
import { runEvery } from '@dispatch/queue'
import { addressProblems, type Network } from '@dispatch/vendor-io'
import { type AlertBody, type AlertView, factsOf, filters, maxAlerts, numbers, type TrialView } from '../contract/alerts.ts'
import { addAlert, changeAlert, findAlert, listAlerts, listOwn, moveAlert, noteTrial, removeAlert, settleMessage, takeAlerts, takeMessages,
  type Written } from '../store/alerts.ts'
import { measures } from '../store/measure.ts'
import type { AlertRow, Condition, Facts } from '../store/tables.ts'
import { chatContext, type Messenger } from './messages.ts'

/** What companies want to be told of. What is undefined is not there. */
export type Alerts = {
  list: (companyId: number) => Promise<AlertView[]>
  find: (companyId: number, alertId: string) => Promise<AlertView | undefined>
  /** Throws `validation_failed` for what does not belong together, and `conflict` where the company has the most already. */
  add: (author: AuditAuthor, body: AlertBody) => Promise<AlertView>
  /** Replaces it; an address of a chat that is left out stays. */
  change: (author: AuditAuthor, alertId: string, body: AlertBody) => Promise<AlertView | undefined>
  remove: (author: AuditAuthor, alertId: string) => Promise<boolean>
  /** Sends a trial message by each way at once. Throws `conflict` where it was tried within the last minute. */
  attempt: (author: AuditAuthor, alertId: string) => Promise<TrialView | undefined>
  /** Looks whether conditions are met, each at most once a minute, in whichever process comes first. */
  check: () => Promise<void>
  /** Sends what is to be sent by mail and to chats. */
  send: () => Promise<void>
}

export const alerts = token<Alerts>('alerts')

/** Milliseconds between two looks, and how many alerts or messages are taken together. */
const lookEvery = 15_000
const together = 20

type Options = {
  database: Database
  keyring: Pick<Keyring, 'seal'>
  messenger: Messenger
  network: Pick<Network, 'guard'>
  outbox: Pick<Outbox, 'tell'>
  log: Log
  newId: () => string
  now: () => Date
}

/** What is written of a body. `known`: the format of the chat that is stored. */
async function checked ({ database, network, keyring }: Options, companyId: number, body: AlertBody, stored: boolean): Promise<Written> {
  const { name, kind, language = 'en', emails = [], callback = false, chat = null } = body
  const own = await listOwn(database, companyId, emails)
  const problems = [
    ...conditionProblems(body),
    ...emails.flatMap((email, index) => own.includes(email) ? [] : [problem(`/emails/${index}`, 'not_own_address', notOwn)]),
    ...chat?.url === undefined ? [] : addressProblems(network.guard, chat.url, { path: '/chat/url', what: 'Messages' }),
    ...chat !== null && chat.url === undefined && !stored ? [missing('/chat/url', 'url')] : [],
    ...emails.length === 0 && !callback && chat === null ? [missing('/emails', 'emails')] : []
  ]
  if (problems.length > 0) throw refusal('validation_failed', problems)
  const url = chat?.url
  return {
    name,
    kind,
    condition: conditionOf(body),
    language,
    emails: [...new Set(emails)],
    callback,
    chat_format: chat?.format ?? null,
    ...chat === null && { chat: { chat: null, chat_host: null } },
    ...url !== undefined && { chat: { chat: keyring.seal(url, chatContext(companyId)), chat_host: new URL(url).host } }
  }
}

const noted = ({ now }: Options, { companyId, ...author }: AuditAuthor, action: string, id: string) => ({
  companyId,
  author: { companyId, ...author },
  at: now(),
  action,
  object: { kind: 'alert', id }
})

async function tell (
  { outbox }: Options,
  queries: OwnerQueries,
  { company_id: companyId, alert_id: alertId, kind }: AlertRow,
  { event, facts, trial }: { event: 'began' | 'ended', facts: Facts, trial: boolean }
): Promise<void> {
  const url = await notifyUrlOf(queries, companyId)
  const data = { companyId, alertId, kind, ...facts, trial } as JsonObject
  await outbox.tell(queries, companyId, { type: `alert.${event}`, data, ...url !== null && { url } })
}

/** `now`: by the clock of the database, which has written the times that are compared. */
async function lookAt (options: Options, row: AlertRow, now: Date): Promise<void> {
  const { database } = options
  const { company_id: companyId, condition, kind } = row
  const found = await database.company(companyId, (queries) => measures[kind](queries, { companyId, condition, now }))
  await moveAlert(database, row, found, (queries, event) => tell(options, queries, row, { event, facts: found.facts, trial: false }))
}

const add = (options: Options): Alerts['add'] => async (author, body) => {
  const { newId, database, now } = options
  const [{ companyId }, alertId] = [author, newId()]
  const written = await checked(options, companyId, body, false)
  const row = await database.company(companyId, async (queries) => {
    const added = await addAlert(queries, { companyId, alertId }, written, { at: now(), max: maxAlerts })
    if (added !== undefined) await noteAudit(queries, noted(options, author, 'alert.added', alertId))
    return added
  })
  if (row === undefined) {
    throw new DispatchError('conflict', `A company has at most ${maxAlerts} alerts: remove one first.`, { reason: 'at_most' })
  }
  return viewOf(row)
}

const change = (options: Options): Alerts['change'] => async (author, alertId, body) => {
  const { database } = options
  const { companyId } = author
  const known = await database.company(companyId, (queries) => findAlert(queries, { companyId, alertId }))
  if (known === undefined) return undefined
  const written = await checked(options, companyId, body, known.chat !== null)
  const row = await database.company(companyId, async (queries) => {
    const changed = await changeAlert(queries, { companyId, alertId }, written)
    if (changed !== undefined) await noteAudit(queries, noted(options, author, 'alert.changed', alertId))
    return changed
  })
  return row && viewOf(row)
}

const attempt = (options: Options): Alerts['attempt'] => async (author, alertId) => {
  const { database, now, newId, messenger } = options
  const { companyId } = author
  const facts = { value: 0 }
  const row = await database.company(companyId, async (queries) => {
    const found = await findAlert(queries, { companyId, alertId })
    if (found === undefined) return undefined
    if (!await noteTrial(database, queries, { companyId, alertId })) {
      throw new DispatchError('conflict', 'It was tried within the last minute: wait a little.', { reason: 'tried_lately' })
    }
    await noteAudit(queries, noted(options, author, 'alert.tried', alertId))
    if (found.callback) await tell(options, await asOwner(queries), found, { event: 'began', facts, trial: true })
    return found
  })
  if (row === undefined) return undefined
  const message = { event: 'trial', facts, at: now(), idOf: newId } as const
  const ways = [...row.emails.length === 0 ? [] : ['mail' as const], ...row.chat === null ? [] : ['chat' as const]]
  const results = await Promise.all(ways.map(async (way) => ({ way, ...await messenger[way](row, message) })))
  return { results: [...results, ...row.callback ? [{ way: 'callback' as const, sent: true }] : []] }
}

const send = ({ database, messenger }: Options): Alerts['send'] => async () => {
  for (let taken = await takeMessages(database, together); taken.length > 0; taken = await takeMessages(database, together)) {
    await Promise.all(taken.map(async (message) => {
      const { company_id: companyId, alert_id: alertId, number, way, event, facts, at } = message
      const row = await findAlert(database.owner, { companyId, alertId })
      if (row === undefined) return
      const idOf = (email: string): string => uuidOf([companyId, alertId, number, email])
      const isSelected = way === 'mail' ? row.emails.length > 0 : row.chat !== null
      const { sent } = isSelected ? await messenger[way](row, { event, facts, at, idOf }) : { sent: true }
      await settleMessage(database.owner, message, sent)
    }))
  }
}

/**
 * The alerts of companies. Throws `validation_failed` for a condition that cannot be; `conflict` beyond the most alerts of a company, and
 * for a trial within a minute after the last one.
 */
export function createAlerts (options: Options): Alerts {
  const { database, log } = options

  return {
    list: async (companyId) => (await listAlerts(database, companyId)).map(viewOf),

    async find (companyId, alertId) {
      const row = await database.company(companyId, (queries) => findAlert(queries, { companyId, alertId }))
      return row && viewOf(row)
    },

    add: add(options),

    change: change(options),

    async remove (author, alertId) {
      const { companyId } = author
      return database.company(companyId, async (queries) => {
        if (!await removeAlert(queries, { companyId, alertId })) return false
        await noteAudit(queries, noted(options, author, 'alert.removed', alertId))
        return true
      })
    },

    attempt: attempt(options),

    async check () {
      for (let taken = await takeAlerts(database, together); taken.length > 0; taken = await takeAlerts(database, together)) {
        const now = await database.time()
        for (const row of taken) {
          // What fails is looked at again in a minute, and keeps nobody else waiting.
          await lookAt(options, row, now).catch((err: unknown) => {
            log.warn({ err, companyId: row.company_id }, 'an alert could not be looked at')
          })
        }
      }
    },

    send: send(options)
  }
}

/** Looks and sends every 15 seconds. */
export function workOnAlerts ({ check, send }: Alerts, log: Log): AsyncDisposable {
  const looking = runEvery(lookEvery, check, (err) => {
    log.warn({ err }, 'alerts were not looked at')
  })
  const sending = runEvery(lookEvery, send, (err) => {
    log.warn({ err }, 'messages of alerts were not sent')
  })
  return {
    async [Symbol.asyncDispose] () {
      await Promise.all([looking.close(), sending.close()])
    }
  }
}

const notOwn = 'This is the address of no user of the company, nor within its domains.'
const problem = (path: string, code: string, message: string): Problem => ({ path, code, message })
const missing = (path: string, name: string): Problem => problem(path, 'required', `The field "${name}" is required.`)

/** The problems of a condition: missing fields, and fields of another kind. */
function conditionProblems (body: AlertBody): Problem[] {
  const { numbers: needed, filtered } = factsOf[body.kind]
  const strange = [...numbers.filter((name) => !needed.includes(name)), ...filtered ? [] : filters]
  return [
    ...needed.filter((name) => body[name] === undefined).map((name) => missing(`/${name}`, name)),
    ...strange.filter((name) => body[name] !== undefined).map((name) => problem(`/${name}`, 'unknown_field', `Unknown field "${name}".`))
  ]
}

function conditionOf ({ percent, least, minutes, credits, service, provider }: AlertBody): Condition {
  const condition = { percent, least, minutes, credits, service, provider }
  return Object.fromEntries(Object.entries(condition).filter(([, value]) => value !== undefined))
}

function viewOf (row: AlertRow): AlertView {
  return {
    id: row.alert_id,
    name: row.name,
    kind: row.kind,
    ...row.condition,
    language: row.language,
    emails: row.emails,
    callback: row.callback,
    chat: row.chat_format === null ? null : { format: row.chat_format, host: row.chat_host ?? '' },
    firing: row.firing,
    since: row.moved_at?.toISOString() ?? null,
    undelivered: row.undelivered.toSorted()
  }
}
