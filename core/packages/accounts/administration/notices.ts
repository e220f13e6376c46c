import type { Log } from '@dispatch/common'
import type { NoticeView } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import type { Actor } from '../access/account.ts'
import { isRecorded, listNotices, noteRecorded, type NoticeMail, type NoticeRow, takeNotices } from '../audit/notices.ts'
import { findCompany } from '../store/companies.ts'
import type { LinkMail, NoticedChange } from './link-mail.ts'

/**
 * Tells people what was changed of how they sign in, of their keys and of their secrets, so that nobody else does so unseen. Each change is
 * noted with its entry of the audit log.
 */
export type Notices = {
  /** The notices of the actor, the newest first: at most 20. */
  list: (actor: Actor) => Promise<NoticeView[]>
  /**
   * Mails what waits, to each address once, in the language of its person; nothing where nobody mails links. Whatever happens in between,
   * a mail is sent, and not twice: its dispatch has the id that was noted before.
   */
  mail: () => Promise<void>
}

/** In seconds: an older notice is not mailed when somebody begins to mail links. */
const mailedWithin = 86_400
/** How many one call takes. */
const atOnce = 500
/** Of one company in one call; what waits longer is merged into one mail for each address. */
const maxAddresses = 20
/** Mails of one company in 24 hours; what comes beyond is told at the console, and mailed when there is room within a day. */
const maxDaily = 200
const shown = 20

type Options = {
  database: Database
  linkMail: Pick<LinkMail, 'offered' | 'tell'>
  log: Log
  newId: () => string
}

/** Creates the notices. `mail` throws nothing for a mail that is refused: the log says so, and it comes again. */
export function createNotices ({ database, linkMail, log, newId }: Options): Notices {
  async function namesOf (notices: readonly NoticeRow[]): Promise<Map<number, string>> {
    const names = new Map<number, string>()
    for (const { company_id: companyId } of notices) {
      if (!names.has(companyId)) names.set(companyId, (await findCompany(database, companyId))?.name ?? '')
    }
    return names
  }

  async function tell ({ id, to, language, isRepeat, notices }: NoticeMail): Promise<void> {
    const companies = await namesOf(notices)
    const [[companyId] = [0]] = companies
    const changes: NoticedChange[] = notices.map(({ action, at, company_id: of }) => ({
      action,
      at: at.toISOString(),
      ...companies.size > 1 && { company: companies.get(of) ?? '' }
    }))
    try {
      if (!isRepeat || !await isRecorded(database, id)) {
        const company = [...companies.values()].join(', ')
        await linkMail.tell({ to, language, companyId, company, changes, requestId: newId(), dispatchId: id })
      }
      await noteRecorded(database, id)
    } catch (err) {
      log.warn({ err, companyId }, 'people were not told of changes: it is tried again')
    }
  }

  return {
    list: async (actor) => (await listNotices(database, actor, shown)).map((row) => viewOf(row, actor)),

    async mail () {
      if (!await linkMail.offered()) return
      const taking = { within: mailedWithin, limit: atOnce, addresses: maxAddresses, daily: maxDaily }
      for (const mail of await takeNotices(database, taking, newId)) await tell(mail)
    }
  }
}

/** The address of somebody else is not shown: it may be one of the platform. */
function viewOf ({ notice_id: id, action, by_user_id: by, address, at }: NoticeRow, { userId }: Actor): NoticeView {
  const isOwn = by === userId
  return { id, action, own: isOwn, at: at.toISOString(), ...isOwn && address !== null ? { address } : {} }
}
