import { type Account, type Accounts, type Actor, type Requester, type SecondFactors, unusableHash } from '@dispatch/accounts'
import { type PasswordPolicy, requireGrantable, requireOwned, rolesUpTo } from '@dispatch/accounts/people'
import type { Keyring } from '@dispatch/common'
import { DispatchError, refusal } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import { token } from '@dispatch/plugins/feature'
import { type OpenId, OpenIdFailure } from '@dispatch/vendor-io'
import { randomInt } from 'node:crypto'
import type { MySingleSignOnView, SingleSignOnBody, SingleSignOnQuery, SingleSignOnView } from '../contract/single-sign-on.ts'
import { countIdentities, deleteIdentities, deleteSingleSignOn, isKnown, readSingleSignOn, type SingleSignOnRow,
  storeSingleSignOn } from '../store/single-sign-on.ts'
import { addressNameOf, returnAddressOf } from './return-address.ts'

/** What the admins of a company decide about single sign-on. */
export type SingleSignOn = {
  /** `issuer`: the one whose redirect address is asked for, in the place of the one that is set. */
  read: (actor: Actor, query: SingleSignOnQuery) => Promise<SingleSignOnView>
  /** The settings that any user may read. */
  readOwn: (actor: Actor) => Promise<MySingleSignOnView>
  /** The same of a user of the company; undefined when there is none, or their role is above the actor's. */
  readOf: (actor: Actor, userId: number) => Promise<MySingleSignOnView | undefined>
  /**
   * Throws `validation_failed` for an issuer that cannot be used, a missing secret, or a way in that is no enabled admin of the company;
   * `forbidden` for services that the actor does not have (all of them, where users are known by their e-mail address); `conflict` where
   * it is required before anybody has signed in by it.
   */
  change: (by: Requester, body: SingleSignOnBody) => Promise<SingleSignOnView>
  /** False where the company has none. */
  remove: (by: Requester) => Promise<boolean>
  /**
   * Forgets as whom the provider knows another user of the company. Throws `forbidden` for the actor's own user. False when there is no
   * such user, or the provider does not know them.
   */
  unlink: (by: Requester, userId: number) => Promise<boolean>
  /** The same for the actor. Throws `forbidden` for a wrong password, and `conflict` where nothing is linked or it is required. */
  unlinkOwn: (by: Requester, proof: { password: string }) => Promise<void>
  /** Passwords are refused where the company requires single sign-on. */
  passwordPolicy: PasswordPolicy
}

export const singleSignOn = token<SingleSignOn>('singleSignOn')

type Options = {
  database: Database
  accounts: Accounts
  keyring: Pick<Keyring, 'seal'>
  openId: Pick<OpenId, 'probe'>
  /** As {@link SecondFactors.prove}. */
  prove: SecondFactors['prove']
  publicUrl: string
  /** Providers without TLS too, for development. */
  plainHttp: boolean
  now: () => Date
}

/** The context under which the secret of a company's client is sealed. */
export const secretContext = (companyId: number): string => `${companyId}|single-sign-on`

/** What is added where the provider is to ask the person to sign in again. */
const freshSignOn = '&fresh=on'

const signInUrlOf = (publicUrl: string, code: string): string => `${publicUrl}/console/sign-on?company=${code}`

async function view (
  options: Options,
  companyId: number,
  row: SingleSignOnRow | undefined,
  issuer = row?.issuer
): Promise<SingleSignOnView> {
  const { publicUrl } = options
  return {
    redirectUri: issuer === undefined ? null : returnAddressOf(publicUrl, addressNameOf(companyId, issuer)),
    current: row === undefined ? null : await currentOf(options, row)
  }
}

const currentOf = async (
  { publicUrl, database, now }: Options,
  row: SingleSignOnRow
): Promise<NonNullable<SingleSignOnView['current']>> => ({
  issuer: row.issuer,
  clientId: row.client_id,
  createsUsers: row.creates_users,
  defaultRole: row.default_role,
  defaultServices: row.default_services as NonNullable<SingleSignOnView['current']>['defaultServices'],
  linksByEmail: row.links_by_email,
  trustsEmail: row.trusts_email,
  required: row.required,
  wayIn: row.way_in,
  code: row.code,
  signInUrl: signInUrlOf(publicUrl, row.code),
  linked: await countIdentities(database, row.company_id, row.issuer),
  shared: sharesAddress(row, now()) ? { redirectUri: returnAddressOf(publicUrl), until: row.shared_until.toISOString() } : null
})

async function stateOf ({ database }: Options, { companyId, userId }: Pick<Account, 'companyId' | 'userId'>): Promise<MySingleSignOnView> {
  const row = await readSingleSignOn(database, companyId)
  return { available: row !== undefined, linked: row !== undefined && await isKnown(database, { companyId, userId }, row.issuer) }
}

async function requireWayIn ({ accounts }: Options, companyId: number, userId: number): Promise<void> {
  const account = await accounts.byId(userId)
  if (account?.companyId === companyId && !account.disabled && account.role !== 'member') return
  throw invalid('/wayIn', 'not_an_admin', 'It must be an enabled admin of the company, who can still sign in when the provider is away.')
}

async function requireIssuer ({ plainHttp, openId }: Options, issuer: string): Promise<void> {
  const url = URL.parse(issuer)
  const isPlain = url?.protocol === 'http:' && plainHttp
  if (url === null || (url.protocol !== 'https:' && !isPlain) || url.username !== '' || url.search !== '' || url.hash !== '') {
    throw invalid('/issuer', 'not_an_issuer', 'It must be an https:// address without user name, query and fragment.')
  }
  await openId.probe(issuer).catch((error: unknown) => {
    throw error instanceof OpenIdFailure ? invalid('/issuer', 'not_usable', error.message) : error
  })
}

const change = (options: Options): SingleSignOn['change'] => async ({ actor, author }, body) => {
  const { database, keyring, now } = options
  const { issuer, clientId, clientSecret, createsUsers = false, defaultRole = 'member', defaultServices = [] } = body
  const { linksByEmail = false, trustsEmail = false, required = false, wayIn = actor.userId, address } = body
  const { companyId } = actor
  requireGrantable(actor, defaultRole)
  requireOwned(actor, linksByEmail ? ['*'] : defaultServices)
  const known = await readSingleSignOn(database, companyId)
  const isSame = known?.issuer === issuer && known.client_id === clientId
  if (clientSecret === undefined && !isSame) throw invalid('/clientSecret', 'required', 'Another issuer or client needs its secret.')
  await requireIssuer(options, issuer)
  if (required) {
    await requireWayIn(options, companyId, wayIn)
    if (await countIdentities(database, companyId, issuer) === 0) {
      throw new DispatchError('conflict', 'Single sign-on can be required once somebody of the company has signed in by this issuer.')
    }
  }
  const secret = clientSecret === undefined ? known?.client_secret : keyring.seal(clientSecret, secretContext(companyId))
  if (secret === undefined) throw new TypeError('There is a secret, or it is refused above.')
  return await view(options, companyId, await storeSingleSignOn(database, companyId, {
    code: newCode(),
    issuer,
    client_id: clientId,
    client_secret: secret,
    creates_users: createsUsers,
    default_role: defaultRole,
    default_services: defaultServices,
    links_by_email: linksByEmail,
    trusts_email: trustsEmail,
    required,
    way_in: required ? wayIn : null,
    shared_until: isSame && address === undefined ? known.shared_until : null
  }, Object.keys(body), { author, at: now() }))
}

const unlink = ({ accounts, database, now }: Options): SingleSignOn['unlink'] => async ({ actor, author }, userId) => {
  const { companyId, impersonatorId = actor.userId } = actor
  const user = await accounts.byId(userId)
  if (user?.companyId !== companyId || !rolesUpTo(actor.role).includes(user.role)) return false
  if (userId === impersonatorId || userId === actor.userId) {
    throw new DispatchError('forbidden', 'One\'s own account is unlinked with the password: POST /api/v1/my/single-sign-on/unlink.')
  }
  return deleteIdentities(database, { companyId, userId }, { author, at: now() })
}

const unlinkOwn = ({ prove, database, now }: Options): SingleSignOn['unlinkOwn'] => async (by, proof) => {
  const { actor: { companyId, userId, sessionId }, author } = by
  await prove(by, proof)
  const row = await readSingleSignOn(database, companyId)
  if (row?.required === true && row.way_in !== userId) {
    throw new DispatchError('conflict', 'The company requires single sign-on: without it you could not sign in.', {
      reason: 'required_by_company'
    })
  }
  if (!await deleteIdentities(database, { companyId, userId, keptSession: sessionId }, { author, at: now() })) {
    throw new DispatchError('conflict', 'Your account is not linked.', { reason: 'nothing_there' })
  }
}

/**
 * The single sign-on of companies. Throws `validation_failed` for what cannot be stored; `conflict` for a demand that would lock everybody
 * out, and where nothing is linked; `forbidden` for one's own account without a password.
 */
export function createSingleSignOn (options: Options): SingleSignOn {
  const { database, accounts, now, publicUrl } = options

  return {
    read: async ({ companyId }, { issuer }) => view(options, companyId, await readSingleSignOn(database, companyId), issuer),

    readOwn: (actor) => stateOf(options, actor),

    async readOf ({ companyId, role }, userId) {
      const user = await accounts.byId(userId)
      return user?.companyId === companyId && rolesUpTo(role).includes(user.role) ? stateOf(options, user) : undefined
    },

    change: change(options),

    remove: ({ actor, author }) => deleteSingleSignOn(database, actor.companyId, { author, at: now() }),

    unlink: unlink(options),

    unlinkOwn: unlinkOwn(options),

    passwordPolicy: {
      async refusesPassword ({ companyId, userId }) {
        const row = await readSingleSignOn(database, companyId)
        return row?.required === true && row.way_in !== userId
      },

      async insteadOfPassword ({ companyId, userId, passwordHash }, purpose) {
        const row = await readSingleSignOn(database, companyId)
        const without = row?.required === true ? row.way_in !== userId : passwordHash === unusableHash
        if (row === undefined || !without) return undefined
        return `${signInUrlOf(publicUrl, row.code)}${purpose === 'proof' ? freshSignOn : ''}`
      }
    }
  }
}

/** Whether the client is still registered with the address that all companies shared. */
export function sharesAddress (row: SingleSignOnRow, now: Date): row is SingleSignOnRow & { shared_until: Date } {
  return row.shared_until !== null && row.shared_until > now
}

function invalid (path: string, code: string, message: string): DispatchError {
  return refusal('validation_failed', [{ path, code, message }])
}

/** Without letters and digits that look alike. */
const alphabet = 'abcdefghjkmnpqrstuvwxyz23456789'

/** 12 characters, 59 bits: nobody finds the code of a company by trying. */
function newCode (): string {
  return Array.from({ length: 12 }, () => alphabet[randomInt(alphabet.length)]).join('')
}
