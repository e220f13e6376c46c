import type { Check, Database, FactorStore, Migrations, Verification } from '@dispatch/core'
import type { FastifyContextConfig, FastifyPluginAsync, FastifyPluginCallback } from 'fastify'
import type { ConsoleParts, MenuEntry, ProviderSection, Text } from '../console/session/visit.ts'
import { give, type Given, type Needs, type Resolve, type Token } from './token.ts'

export { companyTable } from '@dispatch/core'
export { port, service, token } from './token.ts'

/** A plugin of fastify that gets what its feature needs. */
type Plugin<Options extends object> = FastifyPluginAsync<Options> | FastifyPluginCallback<Options>

/** Something that a feature provides: it is made when it is first needed, and only once. */
type Provision<Options> = { name: string, create: (given: Options) => unknown }

/** Provides what a token stands for. */
type Provide<Options> = <Dependency>(token: Token<Dependency>, create: (given: Options) => Dependency) => Provision<Options>

/** Who may ask for an operation, as the configuration of its route says it. */
export type Permission = Pick<
  FastifyContextConfig,
  'public' | 'roles' | 'scopes' | 'testable' | 'everyService' | 'person' | 'freshProof' | 'enrolment'
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
  /** Its part of the API. */
  routes?: Plugin<Given<Needed>>
  /** The operation before which its own stand in the OpenAPI document; they are the last unless told. */
  before?: string
  /** Who may ask for each operation of its routes, by `operationId`. A route that is not named here ends the start. */
  permissions?: Readonly<Record<string, Permission>>
  /** Its part of the console, below `/console`. Pages reach data through the API alone. */
  pages?: FastifyPluginAsync | FastifyPluginCallback
  menu?: readonly MenuEntry[]
  /** A part of the page of a provider whose configuration is stored, for admins. */
  providerSection?: ProviderSection
  /** What it writes into the audit log, by action. */
  audit?: Readonly<Record<string, Text>>
  /**
   * A kind of verification: with what, besides the password, people show who they are. Its form at the console is given to
   * `offerVerification` by `pages`.
   */
  verification?: FactorStore & { check: (given: Given<Needed>) => Check }
  /** Work beside requests, in processes that run jobs. What it answers is closed when the service stops; undefined: nothing is to do. */
  work?: (given: Given<Needed>) => AsyncDisposable | undefined
  /** For the tests of the walls between companies: rows of a company in each of its tables of companies. */
  isolation?: (queries: Database['owner'], companyId: number) => Promise<void>
}

/** A feature with what it needs at hand. */
export type BoundFeature = Omit<Feature, 'bind' | 'verification'> & {
  provisions: readonly { name: string, create: () => unknown }[]
  /** Undefined where it has no part of the API. */
  routes?: { plugin: Plugin<object>, options: object }
  prepare?: () => Promise<void>
  verification?: Verification
  work?: () => AsyncDisposable | undefined
}

/** A feature as the service handles it: nothing is known of what it needs but names. */
export type Feature = Omit<Definition<Needs>, 'provides' | 'prepare' | 'routes' | 'verification' | 'work'> & {
  /** What users have of its kind of verification. */
  verification?: FactorStore
  /** The names of what it provides. */
  provided: readonly string[]
  bind: (resolve: Resolve) => BoundFeature
}

/** What features add to the console. */
export function consolePartsOf (features: readonly BoundFeature[]): ConsoleParts {
  return {
    menu: features.flatMap(({ menu = [] }) => menu),
    pages: features.flatMap(({ pages }) => pages ?? []),
    providerSections: features.flatMap(({ providerSection }) => providerSection ?? []),
    audit: Object.assign({}, ...features.map(({ audit }) => audit)) as Record<string, Text>
  }
}

/** Defines a feature: `export default defineFeature({ name: 'notes', needs: service('database', 'now'), … })`. */
export function defineFeature<const Needed extends Needs> (definition: Definition<Needed>): Feature {
  const { provides, prepare, routes, verification, work, ...rest } = definition
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
        ...verification === undefined ? {} : { verification: { ...verification, check: once(() => verification.check(given)) } },
        ...work === undefined ? {} : { work: () => work(given) }
      }
    }
  }
}

/** The same answer each time, made at the first one. */
function once<Answer extends object> (make: () => Answer): () => Answer {
  let made: Answer | undefined
  return () => made ??= make()
}
