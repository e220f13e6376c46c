import type { Actor } from '../access/account.ts'
import type { NoticeView } from '../contract/notices.ts'
import type { Log } from '../host/call/log.ts'
import type { Database } from '../store/db/database.ts'
import { findCompany } from '../store/tenants/companies.ts'
import { listNotices, type NoticeRow, returnNotices, takeNotices } from '../store/tenants/notices.ts'
import type { LinkMail, NoticedChange } from './link-mail.ts'

/**
 * Tells people what was changed of how they sign in, of their keys and of their secrets, so that nobody else does so unseen. Each change is
 * noted with its entry of the audit log.
 */
export type Notices = {
  /** What the actor is told, the newest first: at most 20. */
  list: (actor: Actor) => Promise<NoticeView[]>
  /** Mails what waits, to each address once; nothing where nobody mails links. */
  mail: () => Promise<void>
}

/** In seconds: an older notice is not mailed when somebody begins to mail links. */
const mailedWithin = 86_400
/** How many one call takes. */
const atOnce = 500
/** Of one company in one call; what waits longer is merged into one mail for each address. */
const mostAddresses = 20
const shown = 20

type Options = {
  database: Database
  linkMail: Pick<LinkMail, 'offered' | 'tell'>
  log: Log
  newId: () => string
}

export function createNotices ({ database, linkMail, log, newId }: Options): Notices {
  async function tell (to: string, rows: readonly NoticeRow[]): Promise<void> {
    const [{ company_id: companyId } = { company_id: 0 }] = rows
    const company = (await findCompany(database, companyId))?.name ?? ''
    const changes: NoticedChange[] = rows.map(({ action, at }) => ({ action, at: at.toISOString() }))
    try {
      await linkMail.tell({ to, companyId, company, changes, requestId: newId() })
    } catch (err) {
      log.warn({ err, companyId }, 'people were not told of changes: it is tried again')
      await returnNotices(database, companyId, rows.map(({ notice_id: id }) => id))
    }
  }

  return {
    list: async (actor) => (await listNotices(database, actor, shown)).map((row) => viewOf(row, actor)),

    async mail () {
      if (!await linkMail.offered()) return
      const taken = await takeNotices(database, { within: mailedWithin, limit: atOnce, addresses: mostAddresses })
      const byAddress = Map.groupBy(taken, ({ company_id: companyId, email }) => JSON.stringify([companyId, email]))
      for (const rows of byAddress.values()) await tell(rows[0]?.email ?? '', rows.toSorted((a, b) => a.at.getTime() - b.at.getTime()))
    }
  }
}

/** The address of somebody else is not shown: it may be one of the platform. */
function viewOf ({ notice_id: id, action, by_user_id: by, address, at }: NoticeRow, { userId }: Actor): NoticeView {
  const isOwn = by === userId
  return { id, action, own: isOwn, at: at.toISOString(), ...isOwn && address !== null ? { address } : {} }
}
