import { normaliseEmail } from '../access/account.ts'
import { requireGoodPassword } from '../access/password-rules.ts'
import { hashPassword } from '../access/passwords.ts'
import type { CompanyChanges, CompanyView, NewCompanyBody } from '../contract/accounts.ts'
import { DispatchError } from '../contract/errors.ts'
import type { Database } from '../store/db/database.ts'
import type { AuditAuthor } from '../store/tenants/audit.ts'
import { addCompany, addCredits, type CompanyRow, type CreditChange, type Credited, findCompany, listAllCompanies,
  updateCompany } from '../store/tenants/companies.ts'
import { refuseLockOut, requireValidNetworks } from './settings.ts'

/** The company of the operators: the first one of every installation. */
export const platform = { companyId: 1, name: 'Platform' } as const

/** All companies, as the operators of the platform see and change them. Undefined where there is no such company. */
export type CompanyAccounts = {
  list: (page: { limit: number, after?: string }) => Promise<CompanyView[]>
  find: (companyId: number) => Promise<CompanyView | undefined>
  /** A company with its first credits and its first admin. Throws `validation_failed` for a bad password. */
  create: (author: AuditAuthor, company: NewCompanyBody) => Promise<CompanyView>
  /**
   * Throws `conflict` where the platform itself would be disabled, `validation_error` for what is no network, `validation_failed` for a
   * list that shuts out who writes it.
   */
  change: (author: AuditAuthor, companyId: number, changes: CompanyChanges) => Promise<CompanyView | undefined>
  /**
   * More credits, or fewer. Throws `conflict` where that would take what dispatches under way hold, `idempotency_key_reused` for the key of
   * another change.
   */
  credit: (author: AuditAuthor, companyId: number, change: CreditChange) => Promise<Credited | undefined>
}

export function createCompanyAccounts ({ database, now }: { database: Database, now: () => Date }): CompanyAccounts {
  return {
    list: async (page) => (await listAllCompanies(database, page)).map(viewOf),

    async find (companyId) {
      const found = await findCompany(database, companyId)
      return found && viewOf(found)
    },

    async create (author, { name, credits, admin }) {
      requireGoodPassword(admin.password, admin.email)
      const first = {
        email: normaliseEmail(admin.email),
        role: 'admin',
        services: ['*'],
        passwordHash: await hashPassword(admin.password)
      } as const
      return viewOf(await addCompany(database, { name, credits, users: [first] }, { author, at: now() }))
    },

    async change (author, companyId, { addresses, ...changes }) {
      if (companyId === platform.companyId && changes.disabled === true) {
        throw new DispatchError('conflict', 'The platform is not disabled: nobody could enable it again.')
      }
      const networks = addresses && requireValidNetworks(addresses)
      if (networks !== undefined && companyId === author.companyId) refuseLockOut(networks, author)
      const changed = await updateCompany(database, companyId, { ...changes, ...(networks === undefined ? {} : { addresses: networks }) }, {
        author,
        at: now()
      })
      return changed && viewOf(changed)
    },

    async credit (author, companyId, change) {
      const result = await addCredits(database, companyId, change, { author, at: now() })
      if (result === 'short') {
        throw new DispatchError('conflict',
          `Fewer than ${-change.amount} credits are free: GET /api/v1/companies/${companyId} tells how many the company has, and how ` +
            'many of them dispatches under way hold.')
      }
      if (result === 'reused') {
        throw new DispatchError('idempotency_key_reused',
          'This idempotency key was used with another change of credits: take a new key for a new one.')
      }
      return result
    }
  }
}

function viewOf (company: CompanyRow): CompanyView {
  return {
    id: company.company_id,
    name: company.name,
    disabled: company.disabled_at !== null,
    addresses: company.addresses,
    balance: Number(company.balance),
    held: Number(company.held),
    createdAt: company.created_at.toISOString()
  }
}
