import type { Problem } from '@dispatch/common'
import { refusal, type SettingsBody, type SettingsView } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import { addressProblems, type Guard } from '@dispatch/vendor-io'
import type { Actor } from '../access/account.ts'
import { isAddressAllowed, normaliseNetwork } from '../access/networks.ts'
import type { AuditAuthor } from '../audit/audit.ts'
import { findCompany, updateSettings } from '../store/companies.ts'
import type { Requester } from './users.ts'

/** The settings that a company chooses for itself. */
export type CompanySettings = {
  read: (actor: Actor) => Promise<SettingsView>
  /**
   * Throws `validation_error` for a text that is not a network, `validation_failed` for a list that excludes its author, unless forced, and
   * for a `notifyUrl` whose host is an address that is not public.
   */
  change: (by: Requester, changes: SettingsBody) => Promise<SettingsView>
}

type Options = { database: Database, guard: Pick<Guard, 'check'>, now: () => Date }

/** Creates the settings of companies. `guard`: which hosts may be notified. What its functions throw is said at {@link CompanySettings}. */
export function createCompanySettings ({ database, guard, now }: Options): CompanySettings {
  async function read ({ companyId }: Pick<Actor, 'companyId'>): Promise<SettingsView> {
    const company = await findCompany(database, companyId)
    if (company === undefined) throw new Error(`The company ${companyId} of a user is not there.`)
    return {
      id: companyId,
      name: company.name,
      addresses: company.addresses,
      notifyUrl: company.notify_url,
      lowCredit: company.low_credit === null ? null : Number(company.low_credit),
      requireSecondFactor: company.second_factor_required
    }
  }

  return {
    read,
    async change ({ actor, author }, { force = false, addresses, ...changes }) {
      const networks = addresses && requireValidNetworks(addresses)
      if (networks !== undefined && !force) refuseLockOut(networks, author)
      const problems = addressProblems(guard, changes.notifyUrl, { path: '/notifyUrl', what: 'Callbacks' })
      if (problems.length > 0) throw refusal('validation_failed', problems)
      await updateSettings(database, actor.companyId, { ...changes, ...(networks === undefined ? {} : { addresses: networks }) }, {
        author,
        at: now()
      })
      return read(actor)
    }
  }
}

/** The networks in canonical form, without duplicates. Throws `validation_error` for a text that is not a network. */
export function requireValidNetworks (addresses: readonly string[]): string[] {
  const networks = addresses.map(normaliseNetwork)
  const problems = networks.flatMap((network, index): Problem[] =>
    network !== undefined ? [] : [
      {
        path: `/addresses/${index}`,
        code: 'network',
        message: 'Expected a network or an address, such as 192.0.2.0/24, 198.51.100.7 or 2001:db8::/32.'
      }
    ]
  )
  if (problems.length > 0) throw refusal('validation_error', problems)
  return [...new Set(networks.filter((network) => network !== undefined))]
}

/** Throws `validation_failed` for an address list that excludes the user who writes it. */
export function refuseLockOut (networks: readonly string[], { address }: Pick<AuditAuthor, 'address'>): void {
  if (isAddressAllowed(networks, address)) return
  throw refusal('validation_failed', [{
    path: '/addresses',
    code: 'locks_out',
    message: `You call from ${address}, which is not on this list: the next request would be refused. Add it, or send "force": true with ` +
      'PUT /api/v1/company.'
  }])
}
