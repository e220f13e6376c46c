import { type CompanyChanges, type CompanyView, DispatchError, type NewCompanyBody } from '@dispatch/contract'
import { changeCredits, type CreditChange, type Credited } from '@dispatch/credits'
import type { Database } from '@dispatch/database'
import { normaliseEmail } from '../access/account.ts'
import { requireGoodPassword } from '../access/password-rules.ts'
import { hashPassword } from '../access/passwords.ts'
import { type AuditAuthor, auditRow } from '../audit/audit.ts'
import { addCompany, type CompanyRow, findCompany, listAllCompanies, updateCompany } from '../store/companies.ts'
import { refuseLockOut, requireValidNetworks } from './settings.ts'

/** The id of the operators' company, the first one of every installation. */
export const platform = { companyId: 1, name: 'Platform' } as const

/** The administration of all companies, for operators. Methods return undefined when there is no such company. */
export type CompanyAccounts = {
  list: (page: { limit: number, after?: string }) => Promise<CompanyView[]>
  find: (companyId: number) => Promise<CompanyView | undefined>
  /** Creates a company with its first credits and its first admin. Throws `validation_failed` for a bad password. */
  create: (author: AuditAuthor, company: NewCompanyBody) => Promise<CompanyView>
  /**
   * Throws `conflict` if the operators' own company would be disabled, `validation_error` for a text that is not a network, and
   * `validation_failed` for an address list that excludes its own author.
   */
  change: (author: AuditAuthor, companyId: number, changes: CompanyChanges) => Promise<CompanyView | undefined>
  /**
   * Adds or removes credits. Throws `conflict` when fewer credits are free (running dispatches hold theirs), and `idempotency_key_reused`
   * when the key belongs to another change.
   */
  credit: (author: AuditAuthor, companyId: number, change: CreditChange) => Promise<Credited | undefined>
}

/** Creates the administration of companies. What its functions throw is said at {@link CompanyAccounts}. */
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
        throw new DispatchError('conflict', 'The platform itself cannot be disabled, because nobody could enable it again.')
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
      const at = now()
      const { amount, reason } = change
      const audit = auditRow({
        companyId,
        author,
        action: amount < 0 ? 'credits.corrected' : 'credits.granted',
        object: { kind: 'credits', id: String(companyId) },
        facts: { amount, reason },
        at
      })
      const result = await changeCredits(database, companyId, change, { at, audit })
      if (result === 'short') {
        throw new DispatchError('conflict',
          `Fewer than ${-amount} credits are free: GET /api/v1/companies/${companyId} tells how many the company has, and how ` +
            'many of them dispatches under way hold.')
      }
      if (result === 'reused') {
        throw new DispatchError('idempotency_key_reused', 'This idempotency key was used for another change of credits: use a new key.')
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
