import { platform } from '../accounts/companies.ts'
import { refusal } from '../contract/errors.ts'
import type { Sandbox } from '../host/sandbox/provider.ts'
import type { Database } from '../store/db/database.ts'
import type { AuditStamp } from '../store/tenants/audit.ts'
import { missingCompanies } from '../store/tenants/companies.ts'
import { type AdapterRecord, addPackage, type Consent, editAdapter, listAdapters } from '../store/vendor/adapters.ts'
import type { AdapterFiles } from './adapter-files.ts'
import { adapterNotFound, conflict, type Decision, disabling, enabling, installing, offering, removing, rollingBack,
  upgrading } from './decisions.ts'
import { takeIn } from './take-in.ts'

/**
 * What operators do about adapters. Each change is one transaction that writes what is to run; then this process follows it, and every
 * other one does by itself. All of it throws a DispatchError whose details have a word for what is wrong.
 */
export type Marketplace = {
  list: () => Promise<AdapterRecord[]>
  find: (code: string) => Promise<AdapterRecord>
  /** Takes in a package, so that it can be installed. It is tried in the sandbox first. */
  add: (bytes: Uint8Array, stamp: AuditStamp) => Promise<{ code: string, version: string }>
  install: (code: string, asked: { version?: string | undefined, consent: Consent }, stamp: AuditStamp) => Promise<void>
  upgrade: (code: string, asked: { version: string, consent: Consent }, stamp: AuditStamp) => Promise<void>
  rollBack: (code: string, stamp: AuditStamp) => Promise<void>
  enable: (code: string, stamp: AuditStamp) => Promise<void>
  disable: (code: string, stamp: AuditStamp) => Promise<void>
  /** Offers it to companies, by their ids, or to all (null). */
  offer: (code: string, companies: readonly number[] | null, stamp: AuditStamp) => Promise<void>
  remove: (code: string, stamp: AuditStamp) => Promise<void>
}

/** `follow` brings this process to what the database says; it waits a moment for the others. */
export type MarketplaceOptions = {
  database: Database
  files: AdapterFiles
  sandbox: () => Promise<Sandbox>
  follow: () => Promise<unknown>
}

export function createMarketplace ({ database, files, sandbox, follow }: MarketplaceOptions): Marketplace {
  async function change (code: string, decide: Decision, stamp: AuditStamp): Promise<void> {
    await editAdapter(database, { code, companyId: platform.companyId }, (before) => decide(code, before), stamp)
    await follow()
  }

  return {
    list: () => listAdapters(database),

    async find (code) {
      const [found] = await listAdapters(database, code)
      if (found === undefined) throw adapterNotFound(code)
      return found
    },

    async add (bytes, stamp) {
      const added = await takeIn(bytes, { files, sandbox })
      const { code, version } = added
      if (await addPackage(database, added, platform.companyId, stamp)) return { code, version }
      throw conflict('version_taken', `Version ${version} of "${code}" is here with other content: other content is another version.`)
    },

    install: (code, asked, stamp) => change(code, installing(asked), stamp),
    upgrade: (code, asked, stamp) => change(code, upgrading(asked), stamp),
    rollBack: (code, stamp) => change(code, rollingBack, stamp),
    enable: (code, stamp) => change(code, enabling, stamp),
    disable: (code, stamp) => change(code, disabling, stamp),
    remove: (code, stamp) => change(code, removing, stamp),

    async offer (code, companies, stamp) {
      const missing = companies === null ? [] : await missingCompanies(database, companies)
      if (missing.length > 0) {
        throw refusal('validation_failed', missing.map((id) => ({
          path: '/companies',
          code: 'unknown_company',
          message: `There is no company ${id}.`
        })))
      }
      await change(code, offering(companies), stamp)
    }
  }
}
