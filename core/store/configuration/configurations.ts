import { type AuditStamp, noteAudit, readRetention } from '@dispatch/accounts'
import type { JsonObject } from '@dispatch/common'
import { DispatchError, type ListedProvider, type Retention } from '@dispatch/contract'
import { type CompanyQueries, createFreshCache, type Database, type Freshness } from '@dispatch/database'
import type { StoredSettings } from '@dispatch/host'
import { columns, type StoredCheck, type Subscriptions, type Tables } from '@dispatch/tables'
import type { Selectable } from 'kysely'
import { isDeepStrictEqual } from 'node:util'
import { formColumns, formsIn, type StoredForm } from './forms.ts'
import { needAdapters, type ProviderSource } from './provider-sources.ts'

/** The owner of a choice or a configuration: the company, or one of its users. */
export type Owner = { companyId: number, userId: number | null }

/** `providers`: the whole list, where there are several; `providerCode` is its first. */
export type StoredChoice = { userId: number | null, service: string, providerCode: string, providers?: readonly ListedProvider[] }

/**
 * What is known of a connection with an account at the vendor. `client`: the digest of whom its tokens were issued to. `facts`: what the
 * vendor has said of the account.
 */
export type ConnectionState = { client: string, facts: Readonly<Record<string, string>>, refusal: string | null, connectedAt: Date }

/** The connections of a company by the opaque names of their configurations. */
export type ListConnections = (queries: CompanyQueries, companyId: number) => Promise<ReadonlyMap<string, ConnectionState>>

/** A stored configuration of a provider. */
export type StoredConfiguration = {
  userId: number | null
  providerCode: string
  settings: StoredSettings
  /** The version of the provider in which the settings were written, where that is known. */
  version?: string
  /** The settings in the forms of other versions, the newest first: those that were migrated, or written before under another version. */
  forms?: readonly StoredForm[]
  sandbox: boolean
  updatedAt: Date
  /** Its opaque name in the address of its webhooks. */
  account: string
  /** Present where its webhooks were registered at the vendor. */
  subscriptions?: Subscriptions
  /** What the vendor answered when these settings were checked last. */
  checked?: StoredCheck
  /** Present where a person has connected it. */
  connection?: ConnectionState
}

/** A configuration to store. Of a new one, the database makes an opaque name where it has none. */
export type NewConfiguration = Omit<StoredConfiguration, 'account' | 'forms' | 'checked' | 'connection'> & { account?: string }

export type CompanyConfiguration = { choices: readonly StoredChoice[], configurations: readonly StoredConfiguration[] }

/** A configuration together with its company. */
export type OwnedConfiguration = StoredConfiguration & { companyId: number }

export type Configurations = {
  /** All choices and configurations of a company and its users, as of the last freshness check. */
  of: (companyId: number) => Promise<CompanyConfiguration>
  /** The same, after a new freshness check. */
  latest: (companyId: number) => Promise<CompanyConfiguration>
  /** For how many days a company keeps its data, as of the last freshness check. */
  retentionOf: (companyId: number) => Promise<Retention>
  /** Chooses the providers of a service; none removes the choice. `adapters`: those of them that an operator can remove. */
  choose: (
    owner: Owner,
    choice: { service: string, providers: readonly ListedProvider[], adapters: readonly string[] },
    signature: AuditStamp
  ) => Promise<void>
  /**
   * Replaces a configuration by what `edit` makes of the stored one. Nobody can change it in between. `destinations`: the settings by which
   * requests go elsewhere than before. `forms`: settings in the forms of other versions of the provider, which are kept beside it.
   */
  edit: (
    owner: Owner,
    provider: { code: string, isAdapter: boolean },
    edit: (stored: StoredConfiguration | undefined) => {
      edited: NewConfiguration
      destinations: readonly string[]
      forms: readonly StoredForm[]
    },
    signature: AuditStamp
  ) => Promise<StoredConfiguration>
  /** Keeps the answer to a check. It holds for these settings alone, of which the check is. */
  keepCheck: (
    owner: Owner,
    stored: Pick<StoredConfiguration, 'providerCode' | 'updatedAt'>,
    result: StoredCheck['result'],
    signature: AuditStamp
  ) => Promise<void>
  /** Removes a configuration. Answers whether there was one. */
  remove: (owner: Owner, providerCode: string, signature: AuditStamp) => Promise<boolean>
}

/** `sources`: where adapters come from, of which none is removed while a company stores that it needs it. */
type Parts = { listConnections: ListConnections, sources: readonly Pick<ProviderSource, 'present'>[] }

/**
 * What companies have configured, in memory as long as it is fresh. Storing throws `conflict` where somebody else has changed it meanwhile.
 */
export function createConfigurations (database: Database, freshness: Freshness, { listConnections, sources }: Parts): Configurations {
  const cache = createFreshCache<number, CompanyConfiguration>(freshness, (companyId) => companyId)
  const retentions = createFreshCache<number, Retention>(freshness, (companyId) => companyId)
  const of: Configurations['of'] = (companyId) => cache.get(companyId, () => read(database, companyId, listConnections))
  const storing = <T>(companyId: number, codes: readonly string[], store: (queries: CompanyQueries) => Promise<T>): Promise<T> =>
    database.company(companyId, (queries) => needAdapters(queries, { codes, sources }, () => store(queries)))
  return {
    of,

    async latest (companyId) {
      await freshness.check()
      return of(companyId)
    },

    retentionOf: (companyId) =>
      retentions.get(companyId, () => database.company(companyId, (queries) => readRetention(queries, companyId))),

    choose: ({ companyId, userId }, { service, providers: [first, ...others], adapters }, signature) =>
      storing(companyId, adapters, async (queries) => {
        const own = queries.deleteFrom('choices').where('company_id', '=', companyId).where('user_id', 'is not distinct from', userId)
          .where('service', '=', service)
        const list = first === undefined || others.length === 0 ? null : [first, ...others]
        if (first === undefined) {
          await own.execute()
        } else {
          const chosen = {
            provider_code: first.providerName,
            providers: list === null ? null : JSON.stringify(list),
            updated_at: signature.at
          }
          await queries.insertInto('choices').values({ company_id: companyId, user_id: userId, service, ...chosen })
            .onConflict((conflict) => conflict.columns(['company_id', 'user_id', 'service']).doUpdateSet(chosen)).execute()
        }
        const facts = { provider: first?.providerName ?? null, ...(list === null ? {} : { providers: list }) }
        await note(queries, { companyId, userId }, 'choice.changed', { kind: 'choice', id: service }, facts, signature)
      }),

    edit: ({ companyId, userId }, { code: providerCode, isAdapter }, edit, signature) =>
      storing(companyId, isAdapter ? [providerCode] : [], async (queries) => {
        const row = await queries.selectFrom('configurations').select(columns.configurations).where('company_id', '=', companyId)
          .where('user_id', 'is not distinct from', userId).where('provider_code', '=', providerCode).forUpdate().executeTakeFirst()
        // Whether it is connected decides what is registered at its vendor.
        const connections = await listConnections(queries, companyId)
        const before = row && withConnection(configurationOf(row), connections.get(row.account))
        const { edited, destinations, forms } = edit(before)
        const values = {
          settings: JSON.stringify(edited.settings.plain),
          secrets: JSON.stringify(edited.settings.secrets),
          version: edited.version ?? null,
          ...formColumns(forms),
          subscriptions: edited.subscriptions === undefined ? null : JSON.stringify(edited.subscriptions),
          checked: null,
          sandbox: edited.sandbox,
          updated_at: edited.updatedAt
        }
        const { account } = await queries.insertInto('configurations').values({
          company_id: companyId,
          user_id: userId,
          provider_code: providerCode,
          ...(edited.account !== undefined && { account: edited.account }),
          ...values
        })
          .onConflict((conflict) => conflict.columns(['company_id', 'user_id', 'provider_code']).doUpdateSet(values)).returning('account')
          .executeTakeFirstOrThrow()
        // Somebody else has stored the first one meanwhile, and it has another name than the one that was registered.
        if (edited.account !== undefined && edited.account !== account) throw changedMeanwhile()
        const facts = {
          fields: changedSettings(before?.settings ?? { plain: {}, secrets: {} }, edited.settings),
          sandbox: edited.sandbox,
          ...destinations.length > 0 && { destinations: [...destinations] }
        }
        await note(queries, { companyId, userId }, 'configuration.changed', { kind: 'configuration', id: providerCode }, facts, signature)
        return withConnection({ ...edited, ...(forms.length > 0 && { forms }), account }, connections.get(account))
      }),

    keepCheck: ({ companyId, userId }, { providerCode, updatedAt }, result, signature) =>
      database.company(companyId, async (queries) => {
        const checked: StoredCheck = { result, at: signature.at.toISOString(), of: updatedAt.toISOString() }
        await queries.updateTable('configurations').set({ checked: JSON.stringify(checked) }).where('company_id', '=', companyId)
          .where('user_id', 'is not distinct from', userId).where('provider_code', '=', providerCode).execute()
        const object = { kind: 'configuration', id: providerCode }
        await noteAudit(queries, { companyId, action: 'configuration.checked', object, facts: { result }, ...signature })
      }),

    remove: ({ companyId, userId }, providerCode, signature) =>
      database.company(companyId, async (queries) => {
        const removed = await queries.deleteFrom('configurations').where('company_id', '=', companyId)
          .where('user_id', 'is not distinct from', userId).where('provider_code', '=', providerCode).returning('provider_code')
          .executeTakeFirst()
        if (removed === undefined) return false
        await note(queries, { companyId, userId }, 'configuration.removed', { kind: 'configuration', id: providerCode }, {}, signature)
        return true
      })
  }
}

/** Another change was stored while the vendor was asked about this one. */
export function changedMeanwhile (): DispatchError {
  return new DispatchError('conflict', 'Somebody else has changed this configuration meanwhile: look at it, and save again.', {
    reason: 'changed_meanwhile'
  })
}

/** A condition for the rows of one owner: of the company, or of one user. */
function note (
  queries: CompanyQueries,
  { companyId, userId }: Owner,
  action: string,
  object: { kind: string, id: string },
  facts: JsonObject,
  signature: AuditStamp
): Promise<void> {
  return noteAudit(queries, {
    companyId,
    action,
    object,
    facts: { ...facts, ...(userId === null ? {} : { ofUser: userId }) },
    ...signature
  })
}

async function read (database: Database, companyId: number, listConnections: ListConnections): Promise<CompanyConfiguration> {
  return database.snapshot(companyId, async (queries) => {
    const choices = await queries.selectFrom('choices').select(columns.choices).where('company_id', '=', companyId).execute()
    const configurations = await queries.selectFrom('configurations').select(columns.configurations).where('company_id', '=', companyId)
      .orderBy(
        'provider_code'
      ).execute()
    const connections = await listConnections(queries, companyId)
    return {
      choices: choices.map(({ user_id: userId, service, provider_code: providerCode, providers }) => ({
        userId,
        service,
        providerCode,
        ...(providers === null ? {} : { providers })
      })),
      configurations: configurations.map((row) => withConnection(configurationOf(row), connections.get(row.account)))
    }
  })
}

function withConnection (configuration: StoredConfiguration, connection: ConnectionState | undefined): StoredConfiguration {
  return connection === undefined ? configuration : { ...configuration, connection }
}

/** The configurations of a provider, of all companies and users. */
export async function listConfigurationsOf ({ owner }: Database, providerCode: string): Promise<OwnedConfiguration[]> {
  const rows = await owner.selectFrom('configurations').select(columns.configurations).where('provider_code', '=', providerCode).orderBy(
    'company_id'
  )
    .orderBy('user_id').execute()
  return rows.map(ownedConfiguration)
}

export function ownedConfiguration (row: Selectable<Tables['configurations']>): OwnedConfiguration {
  return { ...configurationOf(row), companyId: row.company_id }
}

/** The names of the settings that differ, secrets included. */
export function changedSettings (before: StoredSettings, after: StoredSettings): string[] {
  const old: Readonly<Record<string, unknown>> = { ...before.plain, ...before.secrets }
  const edited: Readonly<Record<string, unknown>> = { ...after.plain, ...after.secrets }
  return Object.keys({ ...old, ...edited }).filter((name) => !isDeepStrictEqual(old[name], edited[name]))
}

function configurationOf (row: Selectable<Tables['configurations']>): StoredConfiguration {
  const forms = formsIn(row)
  return {
    userId: row.user_id,
    providerCode: row.provider_code,
    settings: { plain: row.settings, secrets: row.secrets },
    ...(row.version !== null && { version: row.version }),
    ...(forms.length > 0 && { forms }),
    sandbox: row.sandbox,
    updatedAt: row.updated_at,
    account: row.account,
    ...(row.subscriptions !== null && { subscriptions: row.subscriptions }),
    // An older process, which saves settings during an upgrade, leaves the check of those before.
    ...(row.checked?.of === row.updated_at.toISOString() && { checked: row.checked })
  }
}
