import { randomBytes } from 'node:crypto'
import type { Accounts, Actor } from '../access/account.ts'
import { digestOf } from '../access/api-key.ts'
import type { Authentication } from '../access/authentication.ts'
import { isAddressAllowed } from '../access/networks.ts'
import type { SessionView } from '../contract/sessions.ts'
import type { Database } from '../store/db/database.ts'
import { deleteSession, insertSession, listSessions, type SessionLimits, type SessionRow, useSession } from '../store/tenants/sessions.ts'
import type { Requester } from './users.ts'

/** Where a person signs in from. */
export type SessionClient = { address: string, browser: string }

/**
 * Sessions of people at the console. A session ends when its user ends it, changes their password, gets another role or is disabled, after
 * twelve hours, and after an hour without use. All times are those of the database.
 */
export type Sessions = {
  /** Begins a session; its secret is known to the browser alone. Throws as {@link Authentication.login}. */
  open: (email: string, password: string, client: SessionClient) => Promise<string>
  /** The user of the session with this secret; undefined where the session has ended, or the address is not on the company's list. */
  actorOf: (secret: string, address: string) => Promise<Actor | undefined>
  /** The actor's sessions, the newest first. */
  list: (actor: Actor) => Promise<SessionView[]>
  /** Ends a session of the actor. False when the actor has no such session. */
  end: (by: Requester, sessionId: string) => Promise<boolean>
}

/** In seconds: twelve hours, and one hour. */
const limits: SessionLimits = { longest: 43_200, idle: 3_600 }

/** Most sessions of one user; a further one ends the oldest. */
const most = 20

/** How much of a browser's name is kept, in characters. */
const longestName = 300

/** 32 random bytes in base64url. */
const secretForm = /^[\w-]{43}$/

type Options = {
  database: Database
  accounts: Accounts
  authentication: Pick<Authentication, 'login'>
  now: () => Date
  newId: () => string
}

export function createSessions ({ database, accounts, authentication, now, newId }: Options): Sessions {
  return {
    async open (email, password, { address, browser }) {
      const { userId } = await authentication.login(email, password, address)
      const account = await accounts.byId(userId)
      if (account === undefined) throw new TypeError('The user has just logged in.')
      const secret = randomBytes(32).toString('base64url')
      const client = { address, browser: browser.slice(0, longestName) }
      await insertSession(database, { ...account, ...client, sessionId: newId(), digest: digestOf(secret) }, { ...limits, most })
      return secret
    },

    async actorOf (secret, address) {
      const session = secretForm.test(secret) ? await useSession(database, digestOf(secret), limits) : undefined
      const account = session === undefined ? undefined : await accounts.byId(session.user_id)
      if (session === undefined || account === undefined || account.disabled) return undefined
      if (account.role !== session.role || account.passwordVersion !== session.password_version) return undefined
      if (!isAddressAllowed(account.addresses, address)) return undefined
      const { userId, companyId, email, role, services } = account
      return { userId, companyId, email, role, services, sessionId: session.session_id }
    },

    async list (actor) {
      const [rows, account] = [await listSessions(database, actor, limits), await accounts.byId(actor.userId)]
      return rows.filter((row) => row.role === account?.role && row.password_version === account.passwordVersion)
        .map((row) => viewOf(row, actor))
    },

    end: ({ actor, author }, sessionId) => deleteSession(database, actor, sessionId, { author, at: now() })
  }
}

function viewOf (row: SessionRow, { sessionId }: Actor): SessionView {
  return {
    id: row.session_id,
    current: row.session_id === sessionId,
    address: row.address,
    browser: row.browser,
    createdAt: row.created_at.toISOString(),
    usedAt: row.used_at.toISOString(),
    expiresAt: new Date(row.created_at.getTime() + limits.longest * 1000).toISOString()
  }
}
