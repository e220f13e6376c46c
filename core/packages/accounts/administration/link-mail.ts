import type { JsonObject } from '@dispatch/common'
import { DispatchError, type DispatchStatus, type LinkMailBody, type LinkMailView, type MailLanguage } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import { mailService } from '@dispatch/services'
import type { Accounts, Actor } from '../access/account.ts'
import { personOf } from '../access/authentication.ts'
import { type MailedSecrets, secretMark } from '../access/mailed-secrets.ts'
import { isRecorded } from '../audit/notices.ts'
import { type LinkMailRow, readLinkMail, readMailStates, storeLinkMail } from '../store/link-mail.ts'
import type { RateLimiter } from '../store/rate-limiter.ts'
import { noticeText } from './notice-words.ts'
import type { Requester } from './users.ts'

/** What a mail is about. `company`: whose link it is. `inviter`: an e-mail address. `url`: where to sign in without a password. */
export type MailContent =
  & {
    to: string
    language: MailLanguage
    companyId: number
    company: string
    requestId: string
    expiresAt?: Date
  }
  & ({ purpose: 'invitation', inviter: string } | { purpose: 'password' } | { purpose: 'provider', url: string } | {
    purpose: 'notice'
    changes: readonly NoticedChange[]
  })

/**
 * A change of which somebody is told: its action in the audit log, and when it was made (RFC 3339). `company`: whose it is, where a mail
 * tells of several.
 */
export type NoticedChange = { action: string, at: string, company?: string }

/** A message in paragraphs, with where it leads. */
export type MessageMail = { dispatchId: string, to: string, companyId: number, subject: string, text: readonly string[], url: string }

/** A mail before its link is made: the id of its dispatch, and the secret of the link. */
export type BegunMail = { dispatchId: string, secret: string, send: (content: MailContent) => Promise<void> }

/**
 * The mails of the service itself: one-time links, sent as dispatches by the e-mail provider of an operator. The secret of a link is not in
 * the dispatch: it is put into the mail when that is sent, and for that dispatch and recipient alone.
 */
export type LinkMail = {
  read: (actor: Actor) => Promise<LinkMailView>
  /** Throws what a dispatch with this provider and sender would be refused with. */
  change: (by: Requester, body: LinkMailBody) => Promise<LinkMailView>
  /** False where nobody mails links. */
  remove: (by: Requester) => Promise<boolean>
  offered: () => Promise<boolean>
  /**
   * Mails somebody what was changed, by a dispatch with this id. Throws what the dispatch is refused with, and `conflict` where nobody
   * mails links.
   */
  tell: (notice: Omit<Extract<MailContent, { purpose: 'notice' }>, 'purpose'> & { dispatchId: string }) => Promise<void>
  /**
   * Mails somebody a message of the company's own affairs, by a dispatch with this id: the same id sends it once. Throws what the dispatch
   * is refused with, `conflict` where nobody mails links, and `rate_limited` after too many mails of the company.
   */
  message: (mail: MessageMail) => Promise<void>
  /** What became of mails, by their dispatches; those of another company than the one that mails now are left out. */
  statesOf: (dispatchIds: readonly string[]) => Promise<Map<string, DispatchStatus>>
  /** Throws `conflict` where nobody mails links, and `rate_limited` after too many mails of the company. */
  begin: (mail: { to: string, companyId: number }) => Promise<BegunMail>
}

/** What the pipeline is asked for a mail. */
export type MailCommand = {
  actor: Actor
  services: readonly [typeof mailService]
  body: JsonObject
  requestId: string
  mode: 'asynchronous'
  dispatchId?: string
}

type Options = {
  database: Database
  accounts: Accounts
  secrets: MailedSecrets
  /** Throws a DispatchError for what would be refused. */
  validate: (command: MailCommand) => Promise<unknown>
  dispatch: (command: MailCommand) => Promise<unknown>
  /** Counts the mails of companies. */
  limiter: Pick<RateLimiter, 'take'>
  publicUrl: string
  showsConsole: boolean
  now: () => Date
  newId: () => string
}

/** The shared template of these mails. */
const templateId = 13

const subjects = {
  en: {
    invitation: 'Your invitation to {company}',
    password: 'Your new password for {company}',
    provider: 'Signing in to {company}',
    notice: 'Your account with {company} was changed'
  },
  fr: {
    invitation: 'Votre invitation chez {company}',
    password: 'Votre nouveau mot de passe pour {company}',
    provider: 'Votre connexion à {company}',
    notice: 'Votre compte chez {company} a été modifié'
  }
} as const

/** Who mails links, and the operator as whom: one who is an operator no more mails nothing. */
async function findSender ({ database, accounts, showsConsole }: Options): Promise<{ row: LinkMailRow, actor: Actor } | undefined> {
  const row = await readLinkMail(database)
  const account = row && await accounts.byId(row.user_id)
  if (row === undefined || account?.disabled !== false || account.role !== 'operator' || !showsConsole) return undefined
  return { row, actor: personOf(account) }
}

async function limit ({ limiter }: Options, companyId: number, of?: 'messages'): Promise<void> {
  const { exceeded, ...budget } = await limiter.take(of === undefined ? String(companyId) : `${companyId} ${of}`)
  if (!exceeded) return
  throw new DispatchError('rate_limited', `A company has ${budget.quota} mails with links a day: pass the link on yourself.`, {
    budget,
    retryAfter: budget.reset
  })
}

function urlOf ({ publicUrl }: Options, content: MailContent): string {
  if (content.purpose === 'provider') return content.url
  return content.purpose === 'notice' ? `${publicUrl}/console/sessions` : `${publicUrl}/console/link/${secretMark}`
}

function commandOf (
  options: Options,
  sender: { row: Pick<LinkMailRow, 'provider' | 'sender'>, actor: Actor },
  content: MailContent
): MailCommand {
  const { publicUrl } = options
  const { to, language, purpose, company, companyId, requestId, expiresAt } = content
  const data = {
    language,
    purpose,
    company,
    email: to,
    service: new URL(publicUrl).host,
    url: urlOf(options, content),
    ...(purpose === 'invitation' ? { inviter: content.inviter } : {}),
    ...(purpose === 'notice' ? { changes: content.changes.map((change) => ({ text: textOf(change, language), at: change.at })) } : {}),
    ...(expiresAt === undefined ? {} : { expiresAt: expiresAt.toISOString() })
  }
  const subject = subjects[language][purpose].replace('{company}', () => company)
  const { row: { provider: providerName, sender: from }, actor } = sender
  const body = {
    providerName,
    from,
    to,
    subject,
    template: { id: templateId, data },
    metadata: { mail: purpose, company: String(companyId) }
  }
  return { actor: { ...actor, services: [mailService] }, services: [mailService], body, requestId, mode: 'asynchronous' }
}

async function view (options: Options, { role }: Actor): Promise<LinkMailView> {
  const { database } = options
  const row = role === 'operator' ? await readLinkMail(database) : undefined
  const current = row && {
    providerName: row.provider,
    from: row.sender,
    company: row.company_id,
    setBy: row.user_id,
    setAt: row.set_at.toISOString()
  }
  return { available: await findSender(options) !== undefined, current: current ?? null }
}

const message = (options: Options): LinkMail['message'] => async ({ dispatchId, to, companyId, subject, text, url }) => {
  const { database, dispatch, newId } = options
  const sender = await findSender(options)
  if (sender === undefined) throw noSender()
  if (await isRecorded(database, dispatchId)) return
  // Messages leave invitations and passwords theirs.
  await limit(options, companyId, 'messages')
  const { row: { provider: providerName, sender: from }, actor } = sender
  await dispatch({
    actor: { ...actor, services: [mailService] },
    services: [mailService],
    body: {
      providerName,
      email: { from, to, subject, body: [...text, url].join('\n\n') },
      metadata: { mail: 'message', company: String(companyId) }
    },
    requestId: newId(),
    mode: 'asynchronous',
    dispatchId
  })
}

const begin = (options: Options): LinkMail['begin'] => async ({ to, companyId }) => {
  const { newId, secrets, dispatch } = options
  const sender = await findSender(options)
  if (sender === undefined) throw noSender()
  await limit(options, companyId)
  const dispatchId = newId()
  return {
    dispatchId,
    secret: secrets({ dispatchId, to: [to], cc: [], bcc: [] }),
    send: async (content) => {
      await dispatch({ ...commandOf(options, sender, content), dispatchId })
    }
  }
}

/** Creates the mails of the service itself. `publicUrl`: without a slash at its end. See {@link LinkMail} for what is thrown. */
export function createLinkMail (options: Options): LinkMail {
  const { validate, database, now, dispatch } = options

  return {
    read: (actor) => view(options, actor),

    async change ({ actor, author }, { providerName: provider, from: sender }) {
      const { email: to, companyId } = actor
      const content = { to, language: 'en', companyId, company: 'Example', requestId: author.requestId, purpose: 'password' } as const
      await validate(commandOf(options, { row: { provider, sender }, actor }, content))
      await storeLinkMail(database, { provider, sender }, { author, at: now() })
      return await view(options, actor)
    },

    remove: ({ author }) => storeLinkMail(database, null, { author, at: now() }),
    offered: async () => await findSender(options) !== undefined,

    async tell ({ dispatchId, ...notice }) {
      const sender = await findSender(options)
      if (sender === undefined) throw noSender()
      await dispatch({ ...commandOf(options, sender, { ...notice, purpose: 'notice' }), dispatchId })
    },

    message: message(options),

    statesOf: (dispatchIds) => readMailStates(database, dispatchIds),

    begin: begin(options)
  }
}

function textOf ({ action, company }: NoticedChange, language: MailLanguage): string {
  const text = noticeText(action, language)
  return company === undefined ? text : `${company}: ${text}`
}

function noSender (): DispatchError {
  return new DispatchError('conflict', 'This service mails no links: leave "mailIn" out, and pass the link on.', { reason: 'no_mail' })
}
