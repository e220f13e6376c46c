import type { AccessEnd, Check, FactorStore, PasswordPolicy, Verification } from '@dispatch/accounts'
import { lazy } from '@dispatch/common'
import type { ApprovalDesk, DispatchRows, FileShelf, FileUse, Holder, RecipientBook } from '@dispatch/core'
import type { ProviderSource } from '@dispatch/core/source'
import type { Database } from '@dispatch/database'
import type { Migrations } from '@dispatch/tables'
import type { FastifyContextConfig, FastifyPluginAsync, FastifyPluginCallback } from 'fastify'
import type { ConsoleParts, MenuEntry, PageParts, ProviderSection, Text } from '../console/session/visit.ts'
import type { FeatureCommand } from './command.ts'
import { give, type Given, type Needs, type Resolve, type Token } from './token.ts'

export { companyTable } from '@dispatch/tables'
export type { CommandTools, FeatureCommand } from './command.ts'
export { ports } from './ports.ts'
export { service, token } from './token.ts'

/** A plugin of fastify that gets what its feature needs. */
type Plugin<Options extends object> = FastifyPluginAsync<Options> | FastifyPluginCallback<Options>

/** Something that a feature provides: it is made when it is first needed, and only once. */
type Provision<Options> = { name: string, create: (given: Options) => unknown }

/** Provides what a token stands for. */
type Provide<Options> = <Dependency>(token: Token<Dependency>, create: (given: Options) => Dependency) => Provision<Options>

/** Who may ask for an operation, as the configuration of its route says it. */
export type Permission = Pick<
  FastifyContextConfig,
  'public' | 'roles' | 'scopes' | 'testable' | 'everyService' | 'person' | 'freshProof' | 'enrolment' | 'irreversible'
>

/**
 * What a feature is: one folder below `core/packages/features`, whose `index.ts` has this as its default export. Everything but the name
 * and the needs may be left out.
 */
export type Definition<Needed extends Needs> = {
  /** That of its folder. */
  name: string
  /** What it uses of the service and of other features. What is not declared here is not given to it, and does not compile. */
  needs: Needed
  provides?: (provide: Provide<Given<Needed>>) => readonly Provision<Given<Needed>>[]
  /** Its tables, and whose rows they hold. Those of companies are made with `companyTable`, so that no company sees another's. */
  tables?: Readonly<Record<string, 'company' | 'service'>>
  /** By name, in order: `<feature>/001-…`. A released one is never changed. */
  migrations?: Migrations
  /** Brings into the database what the feature has for it, when a service or its tests begin. Several processes may do so at once. */
  prepare?: (given: Given<Needed>) => Promise<void>
  /**
   * Providers that come from elsewhere than the directories. It is asked once, before the providers of the service are loaded, when of the
   * service there are `catalogLocations`, `config`, `database`, `keyring`, `log`, `now` and `sandbox`.
   */
  providers?: (given: Given<Needed>) => Promise<ProviderSource>
  /** Its part of the API. */
  routes?: Plugin<Given<Needed>>
  /** The operation before which its own stand in the OpenAPI document; they are the last unless told. */
  before?: string
  /** Who may ask for each operation of its routes, by `operationId`. A route that is not named here ends the start. */
  permissions?: Readonly<Record<string, Permission>>
  /** Its part of the console, below `/console`. Pages reach data through the API alone. */
  pages?: FastifyPluginAsync | FastifyPluginCallback
  /** Routes of the console that begin sessions, also below `/console`. Their plugin gets the needs, and reaches more than the API. */
  session?: Plugin<Given<Needed>>
  menu?: readonly MenuEntry[]
  /** A part of the page of a provider whose configuration is stored, for admins. */
  providerSection?: ProviderSection
  /** Parts of other pages, by their places. */
  parts?: PageParts
  /** What it writes into the audit log, by action. */
  audit?: Readonly<Record<string, Text>>
  /**
   * A kind of verification: with what, besides the password, people show who they are. Its form at the console is given to
   * `offerVerification` by `pages`.
   */
  verification?: FactorStore & { check: (given: Given<Needed>) => Check }
  /** What it says of the passwords of users: those of a company may have to sign in otherwise. */
  passwordPolicy?: (given: Given<Needed>) => PasswordPolicy
  /** What it knows of those to whom companies send: it is asked before a dispatch is recorded and before each call. */
  recipients?: (given: Given<Needed>) => RecipientBook
  /** What companies want two people for: one feature brings it. */
  approvals?: (given: Given<Needed>) => ApprovalDesk
  /** The files that companies have uploaded for their dispatches: one feature brings them. */
  shelf?: (given: Given<Needed>) => FileShelf
  /** Which files of a company something in its tables names that waits: as long as it does, they are kept. */
  namesFiles?: (given: Given<Needed>) => FileUse
  /** What its tables keep of dispatches: it goes with them. */
  dispatchRows?: () => readonly DispatchRows[]
  /** What its tables hold of persons to whom companies send, for who is erased or asks what is known of them. */
  holds?: (given: Given<Needed>) => readonly Holder[]
  /** Ends the ways in of a user that it brings, besides those of its verification: for one whom somebody else has got into. */
  endAccess?: AccessEnd
  /** Resolves when nothing that a request has begun is under way: asked when the service stops, while all that it needs is there. */
  drain?: (given: Given<Needed>) => Promise<void>
  /** Work beside requests, in processes that run jobs. What it answers is closed when the service stops; undefined: nothing is to do. */
  work?: (given: Given<Needed>) => AsyncDisposable | undefined | Promise<AsyncDisposable>
  /** Below which path each word of an error has a page, which answers name. */
  errorPages?: string
  command?: FeatureCommand
  /** For the tests of the walls between companies: rows of a company in each of its tables of companies. */
  isolation?: (queries: Database['owner'], companyId: number) => Promise<void>
}

/** A plugin with what it is given. */
type Routes = { plugin: Plugin<object>, options: object }

/** A feature with what it needs at hand. */
export type BoundFeature = Omit<Feature, 'bind' | 'verification'> & {
  drain?: () => Promise<void>
  provisions: readonly { name: string, create: () => unknown }[]
  /** Undefined where it has no part of the API. */
  routes?: Routes
  session?: Routes
  passwordPolicy?: () => PasswordPolicy
  recipients?: () => RecipientBook
  approvals?: () => ApprovalDesk
  shelf?: () => FileShelf
  namesFiles?: () => FileUse
  holds?: () => readonly Holder[]
  prepare?: () => Promise<void>
  providers?: () => Promise<ProviderSource>
  verification?: Verification
  work?: () => AsyncDisposable | undefined | Promise<AsyncDisposable>
}

/** A feature as the service handles it: nothing is known of what it needs but names. */
export type Feature =
  & Omit<
    Definition<Needs>,
    | 'provides'
    | 'prepare'
    | 'providers'
    | 'routes'
    | 'verification'
    | 'work'
    | 'drain'
    | 'session'
    | 'passwordPolicy'
    | 'recipients'
    | 'approvals'
    | 'shelf'
    | 'namesFiles'
    | 'holds'
  >
  & {
    /** What users have of its kind of verification. */
    verification?: FactorStore
    /** The names of what it provides. */
    provided: readonly string[]
    bind: (resolve: Resolve) => BoundFeature
  }

/** What ends a way in of a user, of each feature that brings one. */
export function accessEndsOf (features: readonly Pick<Feature, 'verification' | 'endAccess'>[]): AccessEnd[] {
  return features.flatMap(({ verification, endAccess }) => [verification?.remove, endAccess].filter((end) => end !== undefined))
}

/** What features add to the console. */
export function consolePartsOf (features: readonly BoundFeature[]): ConsoleParts {
  return {
    menu: features.flatMap(({ menu = [] }) => menu),
    sessions: features.flatMap(({ session }) => session ?? []),
    pages: features.flatMap(({ pages }) => pages ?? []),
    providerSections: features.flatMap(({ providerSection }) => providerSection ?? []),
    pageParts: features.flatMap(({ parts }) => parts ?? []),
    audit: Object.assign({}, ...features.map(({ audit }) => audit)) as Record<string, Text>
  }
}

/** Defines a feature: `export default defineFeature({ name: 'notes', needs: service('database', 'now'), … })`. */
export function defineFeature<const Needed extends Needs> (definition: Definition<Needed>): Feature {
  const {
    provides,
    prepare,
    providers,
    routes,
    verification,
    work,
    drain,
    session,
    passwordPolicy,
    recipients,
    approvals,
    shelf,
    namesFiles,
    holds,
    ...rest
  } = definition
  const provisions = provides?.(({ name }, create) => ({ name, create })) ?? []
  const facts = { ...rest, provided: provisions.map(({ name }) => name) }
  return {
    ...facts,
    ...verification === undefined ? {} : { verification },
    bind (resolve) {
      const given = give(definition.needs, resolve)
      return {
        ...facts,
        provisions: provisions.map(({ name, create }) => ({ name, create: () => create(given) })),
        ...routes === undefined ? {} : { routes: { plugin: routes as Plugin<object>, options: given } },
        ...prepare === undefined ? {} : { prepare: () => prepare(given) },
        ...providers === undefined ? {} : { providers: () => providers(given) },
        ...verification === undefined ? {} : { verification: { ...verification, check: lazy(() => verification.check(given)) } },
        ...work === undefined ? {} : { work: () => work(given) },
        ...session === undefined ? {} : { session: { plugin: session as Plugin<object>, options: given } },
        ...passwordPolicy === undefined ? {} : { passwordPolicy: lazy(() => passwordPolicy(given)) },
        ...recipients === undefined ? {} : { recipients: lazy(() => recipients(given)) },
        ...approvals === undefined ? {} : { approvals: lazy(() => approvals(given)) },
        ...shelf === undefined ? {} : { shelf: lazy(() => shelf(given)) },
        ...namesFiles === undefined ? {} : { namesFiles: () => namesFiles(given) },
        ...holds === undefined ? {} : { holds: () => holds(given) },
        ...drain === undefined ? {} : { drain: () => drain(given) }
      }
    }
  }
}
