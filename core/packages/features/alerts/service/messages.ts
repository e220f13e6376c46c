import type { LinkMail } from '@dispatch/accounts'
import type { JsonObject, Keyring, Log } from '@dispatch/common'
import { DispatchError } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import { type Network, postToTenant } from '@dispatch/vendor-io'
import type { TrialView } from '../contract/alerts.ts'
import { listOwn } from '../store/alerts.ts'
import type { AlertEvent, AlertRow, Facts, Way } from '../store/tables.ts'
import { words as en } from '../words.en.ts'
import { words as fr } from '../words.fr.ts'

/** What is told of an alert. `idOf`: the id of the mail to an address, by which it is sent once. */
export type Message = { event: AlertEvent | 'trial', facts: Facts, at: Date, idOf: (email: string) => string }
export type Result = Omit<TrialView['results'][number], 'way'>

/** Sends the messages of alerts. */
export type Messenger = Readonly<Record<Way, (row: AlertRow, message: Message) => Promise<Result>>>

type Options = {
  database: Database
  keyring: Pick<Keyring, 'open'>
  linkMail: Pick<LinkMail, 'message'>
  network: Pick<Network, 'transport'>
  log: Log
  publicUrl: string
  now: () => Date
}

/** The context under which the address of a chat is sealed. */
export const chatContext = (companyId: number): string => `${companyId}|alert-chat`

/** Sends the messages of alerts by mail and to chats. Answers why one could not be sent. */
export function createMessenger ({ database, keyring, linkMail, network, log, publicUrl, now }: Options): Messenger {
  const urlOf = ({ alert_id: id }: AlertRow): string => `${publicUrl}/console/alerts/${id}`
  return {
    async mail (row, message) {
      const { subject, text } = textOf(row, message)
      const companyId = row.company_id
      const own = await listOwn(database, companyId, row.emails)
      let failure = own.length === 0 ? 'None of the addresses is the company\'s any more.' : undefined
      for (const to of own) {
        // The same mail is sent once, however often it is tried.
        await linkMail.message({ dispatchId: message.idOf(to), to, companyId, subject, text, url: urlOf(row) }).catch((err: unknown) => {
          failure = err instanceof DispatchError ? err.message : 'The mail could not be sent.'
          log.warn({ err, companyId }, 'an alert could not be mailed')
        })
      }
      return failure === undefined ? { sent: true } : { sent: false, reason: failure }
    },

    async chat (row, message) {
      if (row.chat === null) return { sent: false, reason: 'There is no chat.' }
      const url = keyring.open(row.chat, chatContext(row.company_id)).toString()
      const { subject, text } = textOf(row, message)
      const [lines, link] = [[subject, ...text], urlOf(row)]
      const body = row.chat_format === 'teams' ?
        teamsOf(lines, { title: wordsOf(row).alertOpen, url: link }) :
        { text: slackText([...lines, link].join('\n')) }
      const answer = await postToTenant(network.transport, { url, headers: {}, body: JSON.stringify(body), now: now() })
      if (!answer.answered) return { sent: false, reason: answer.reason }
      const { status } = answer
      return status >= 200 && status < 300 ? { sent: true } : { sent: false, reason: `The receiver answered ${status}.` }
    }
  }
}

const wordsOf = ({ language }: AlertRow) => language === 'fr' ? fr : en

/** A message in the language of its alert. */
function textOf (row: AlertRow, { event, facts, at }: Message): { subject: string, text: string[] } {
  const [words, { name, kind, condition }] = [wordsOf(row), row]
  const { providers = [], ...numbers } = facts
  const reported = {
    name,
    ...condition,
    ...numbers,
    providers: providers.join(', '),
    at: `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`
  }
  const say = (sentence: string): string =>
    sentence.replaceAll(/\{(\w+)\}/g, (_, key: keyof typeof reported) => String(reported[key] ?? ''))
  const kindSaid = words[`alertKind_${kind}`]
  const first = event === 'began' ? words[`alertTold_${kind}`] : event === 'ended' ? `${kindSaid}: ${words.alertOver}` : words.alertTrial
  return { subject: say(words[`alertSubject_${event}`]), text: [first, words.alertAt].map(say) }
}

/** Slack reads "<!channel>" and its like as orders. */
const slackText = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** An adaptive card, as the workflows of Teams take it. An address in its text is no link there. */
function teamsOf (lines: readonly string[], link: { title: string, url: string }): JsonObject {
  return {
    type: 'message',
    attachments: [{
      contentType: 'application/vnd.microsoft.card.adaptive',
      contentUrl: null,
      content: {
        $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
        type: 'AdaptiveCard',
        version: '1.4',
        body: lines.map((text) => ({ type: 'TextBlock', text, wrap: true })),
        actions: [{ type: 'Action.OpenUrl', ...link }]
      }
    }]
  }
}
