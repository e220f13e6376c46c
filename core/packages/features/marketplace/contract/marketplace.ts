import { Line } from '@dispatch/common'
import { page, PageLimit, ProviderCode } from '@dispatch/contract'
import { adapterFeatures } from '@dispatch/marketplace'
import { serviceNames } from '@dispatch/services'
import { type Static, Type } from 'typebox'

export { adapterFeatures }

const closed = { additionalProperties: false } as const

/** What an operator lets an adapter do. */
export const AdapterConsent = Type.Object({
  hosts: Type.Array(Type.String({ maxLength: 253 }), { maxItems: 200 }),
  services: Type.Array(Type.String({ maxLength: 50 }), { maxItems: 50 })
}, { ...closed, title: 'AdapterConsent', description: 'The hosts and services that it may have; all that it asks for must be listed.' })

export const InstallBody = Type.Object({
  version: Type.Optional(Line(100, { description: 'the latest unless given' })),
  consent: AdapterConsent
}, { ...closed, title: 'AdapterInstallation' })

/** Characters in base64 of the largest package, 8 MiB. */
const longestPackage = 4 * Math.ceil(8 * 1024 * 1024 / 3)

/** A package that an author has packed, as it is, or where it is at a registry of npm. */
export const PackageBody = Type.Object({
  package: Type.Optional(
    Type.String({ contentEncoding: 'base64', minLength: 4, maxLength: longestPackage, pattern: '^[A-Za-z0-9+/]+={0,2}$' })
  ),
  npm: Type.Optional(
    Line(300, { description: 'In place of the package: its name and exact version, as npm:dispatch-provider-acme@1.0.0.' })
  ),
  registry: Type.Optional(Line(500, { description: 'That of everybody unless given.' })),
  publisher: Type.Optional(Line(200, { description: 'Whose it is, where one of its names is somebody\'s already.' }))
}, { ...closed, title: 'AdapterPackage' })

export const UpgradeBody = Type.Object({ version: Line(100), consent: AdapterConsent }, { ...closed, title: 'AdapterUpgrade' })

/** To whom an adapter is offered. */
const Offer = Type.Union([Type.Literal('all'), Type.Array(Type.Integer({ minimum: 1, maximum: 2_147_483_647 }), { maxItems: 10_000 })], {
  description: 'All companies, or those with these ids.'
})

export const OfferBody = Type.Object({ companies: Offer }, { ...closed, title: 'AdapterOffer', examples: [{ companies: [7, 12] }] })

/** Needed for a change that would stop dispatches of companies. */
export const ForceQuery = Type.Object({
  force: Type.Optional(Type.Boolean({ description: 'true: also where companies could not dispatch through it any more.' }))
}, closed)

/** Only for a rollback. */
export const RollbackQuery = Type.Object({
  ...ForceQuery.properties,
  version: Type.Optional(Line(100, { description: 'An older version, in place of the one before.' }))
}, closed)

const changeNames = ['upgrade', 'rollback', 'disable', 'offer', 'revocation'] as const

/** Which change is weighed. */
export const EffectsQuery = Type.Object({
  change: Type.Enum([...changeNames], { description: 'revocation: as if its catalog revoked the version that runs.' }),
  version: Type.Optional(Line(100, { description: 'Of an upgrade, and of a rollback to another version than the one before.' })),
  companies: Type.Optional(
    Type.String({
      maxLength: 100_000,
      pattern: '^([1-9][0-9]{0,9}(,[1-9][0-9]{0,9})*)?$',
      description: 'To whom it would be offered: ids with commas.',
      examples: ['7,12']
    })
  )
}, closed)

/** A change that is weighed. */
export type RequestedChange =
  | { change: 'upgrade' | 'rollback', version?: string | undefined }
  | { change: 'disable' | 'revocation' }
  | { change: 'offer', companies: readonly number[] | null }

/** What a change does to those who have settings for an adapter. */
export const AdapterEffect = Type.Object({
  companyId: Type.Integer(),
  company: Type.String({ description: 'Its name.' }),
  userId: Type.Optional(Type.Integer({ description: 'Whose settings they are; those of the company unless given.' })),
  how: Type.Enum(['goes_on', 'migrated', 'restored', 'kept', 'stopped'], {
    description: 'goes_on: with the same settings. migrated: with those that the newer version makes. restored: with those that were ' +
      'saved for the version. kept: the older version goes on with them. stopped: their dispatches are refused.'
  }),
  version: Type.Optional(Type.String({ description: 'The version that serves them then.' }))
}, { title: 'AdapterEffect' })
export type AdapterEffect = Static<typeof AdapterEffect>

/** What a change does, in whole. */
export const AdapterEffects = Type.Object({
  counts: Type.Record(Type.String(), Type.Integer({ minimum: 1 }), { description: 'How many settings, by what is done to them.' }),
  refused: Type.Boolean({ description: 'The change is refused, unless it is forced: dispatches would fail.' }),
  effects: Type.Array(AdapterEffect, { maxItems: 1_000, description: 'Those that stop first; a thousand at most.' })
}, {
  title: 'AdapterEffects',
  examples: [{ counts: { goes_on: 1 }, refused: false, effects: [{ companyId: 7, company: 'Demo', how: 'goes_on', version: '1.1.0' }] }]
})
export type AdapterEffects = Static<typeof AdapterEffects>

export const adapterStates = ['available', 'installed', 'updatable', 'incompatible', 'revoked'] as const

/** Which adapters are wanted. */
export const MarketplaceQuery = Type.Object({
  q: Type.Optional(Type.String({ maxLength: 100, description: 'Words of its code, name or publisher.' })),
  service: Type.Optional(Type.Enum([...serviceNames])),
  documentType: Type.Optional(Type.String({ maxLength: 50 })),
  country: Type.Optional(Type.String({ pattern: '^[A-Z]{2}$' })),
  feature: Type.Optional(Type.Enum([...adapterFeatures], { description: 'What it must have.' })),
  language: Type.Optional(Type.String({ pattern: '^[a-z]{2}$', description: 'In which its form can be read.', examples: ['fr'] })),
  state: Type.Optional(Type.Enum([...adapterStates])),
  limit: PageLimit,
  cursor: Type.Optional(Type.String({ maxLength: 50, description: 'the nextCursor of the page before' }))
}, closed)
export type MarketplaceQuery = Static<typeof MarketplaceQuery>

const adapter = {
  code: ProviderCode,
  name: Type.String(),
  state: Type.Enum([...adapterStates], {
    description: 'updatable: a newer version is here. incompatible: the version needs another core.'
  }),
  version: Type.String({ description: 'The installed one, else the latest.' }),
  latest: Type.String(),
  publisher: Type.Optional(Type.String()),
  tier: Type.Enum(['core', 'verified', 'community', 'private'], {
    description: 'How far the keeper of its catalog knows the publisher; private where no catalog vouches for the package.'
  }),
  services: Type.Record(Type.String(), Type.Object({
    documentTypes: Type.Optional(Type.Array(Type.String())),
    countries: Type.Optional(Type.Array(Type.String(), { description: 'all unless given' }))
  })),
  features: Type.Array(Type.Enum([...adapterFeatures]), {
    description:
      'What it can beside dispatching: webhooks of its vendor, its verbs, a test environment (sandbox), keys by which nothing is ' +
      'sent twice (idempotency). Empty where an older catalog does not tell.'
  }),
  languages: Type.Array(Type.String(), {
    description: 'Those in which the form of its settings can be read (ISO 639-1). Empty where an older catalog does not tell.'
  }),
  hosts: Type.Array(Type.String()),
  reason: Type.Optional(Type.String({ description: 'Why the version was withdrawn.' })),
  enabled: Type.Optional(Type.Boolean()),
  previous: Type.Optional(Type.String({ description: 'The version that a rollback goes to.' })),
  offer: Type.Optional(Offer),
  usedBy: Type.Optional(Type.Integer({ minimum: 0, description: 'Companies with a configuration of it, for operators.' }))
}

/** An adapter in a list. */
export const AdapterView = Type.Object(adapter, { title: 'Adapter' })
export type AdapterView = Static<typeof AdapterView>

/** A version of an adapter, here or in a catalog. */
const AdapterVersion = Type.Object({
  version: Type.String(),
  integrity: Type.String(),
  size: Type.Integer({ description: 'Bytes of its package.' }),
  at: Type.String({ description: 'When it was taken in, else when it was released.' }),
  sdk: Type.String({ description: 'The versions of @dispatch/core that it works with.' }),
  licence: Type.String(),
  services: adapter.services,
  hosts: Type.Array(Type.String(), { description: 'What it asks to reach: an installation or an upgrade must consent to them.' }),
  wildcards: Type.Array(Type.String(), {
    description: 'How wide each of the hosts is that begins with "*.", or has a setting in braces, in a sentence.'
  }),
  conformance: Type.Object({
    status: Type.Enum(['passed', 'said_by_author', 'not_run'], {
      description: 'passed: the keeper of a catalog ran the kit on these bytes. said_by_author: only the package says it of itself.'
    }),
    kit: Type.Optional(Type.String({ description: 'The version of the conformance kit.' })),
    passed: Type.Optional(Type.Integer()),
    skipped: Type.Optional(Type.Integer()),
    at: Type.Optional(Type.String({ description: 'When the keeper of a catalog ran it.' })),
    by: Type.Optional(Type.String({ description: 'Who ran it, as the signature of the catalog says.' }))
  }, { description: 'What the conformance kit said, and who vouches for that.' }),
  registry: Type.Optional(Type.Object({
    address: Type.String(),
    name: Type.String(),
    signature: Type.Optional(Type.Enum(['verified', 'unchecked'], {
      description: 'verified: by a key of the registry. unchecked: the registry offers no such key.'
    })),
    provenance: Type.Optional(
      Type.Object({
        repository: Type.Optional(Type.String()),
        commit: Type.Optional(Type.String()),
        workflow: Type.Optional(Type.String())
      }, {
        description: 'From where the registry says that it was built.'
      })
    )
  }, { description: 'The registry of npm that it came from, and what that says of it.' })),
  replayed: Type.Optional(Type.Integer({
    minimum: 0,
    description: 'Fixtures in the package that were replayed when it was taken in; all went as they say.'
  })),
  changelog: Type.Optional(Type.String({ description: 'Of a version that is here, and of the latest one.' })),
  here: Type.Boolean({ description: 'It was taken in; others are in a catalog.' }),
  withdrawn: Type.Optional(Type.Object({ state: Type.Enum(['revoked', 'yanked']), reason: Type.String() }))
})

/** How an installed adapter does. */
const AdapterHealth = Type.Object({
  state: Type.Enum(['ok', 'degraded', 'stopped'], {
    description: 'degraded: not every process of the service runs it, or it does not accept settings that companies have.'
  }),
  reason: Type.Optional(Type.String({ description: 'Why it does not run everywhere.' })),
  risk: Type.Optional(
    Type.String({ description: 'What it could do to this service: walls are missing here, and DISPATCH_SANDBOX_REQUIRED is off.' })
  ),
  lastDay: Type.Array(
    Type.Object({
      version: Type.String(),
      calls: Type.Integer({ minimum: 1, description: 'How often a dispatch was given to it; each try counts.' }),
      accepted: Type.Integer({ minimum: 0 }),
      failures: Type.Record(Type.String(), Type.Integer({ minimum: 1 }), {
        description: 'How often a call ended otherwise, by the word of its error.'
      }),
      latency: Type.Optional(
        Type.Object({ p50: Type.Integer(), p95: Type.Integer() }, {
          description: 'Milliseconds within which half of the calls have ended, and 95 in 100.'
        })
      )
    }),
    {
      description: 'What became of the dispatches of the last 24 hours, by version: the newest 20,000 that went through it at most.'
    }
  ),
  crashes: Type.Integer({ minimum: 0, description: 'Ends of its processes that nobody asked for, since the version was taken in.' }),
  lastCrash: Type.Optional(Type.Object({ at: Type.String(), reason: Type.String() }))
})

/** An adapter with its versions and its form. */
export const AdapterDetail = Type.Object({
  ...adapter,
  licence: Type.String(),
  settings: Type.Optional(
    Type.Unsafe<object>({ type: 'object', additionalProperties: true, description: 'The JSON Schema of its settings.' })
  ),
  manifest: Type.Optional(
    Type.Unsafe<object>({
      type: 'object',
      additionalProperties: true,
      description: 'The manifest.json of its package, as its author has written it.'
    })
  ),
  health: Type.Optional(AdapterHealth),
  users: Type.Optional(
    Type.Array(Type.Object({ companyId: Type.Integer(), company: Type.String() }), {
      maxItems: 100,
      description: 'Companies with a configuration of it, for operators; a hundred at most.'
    })
  ),
  problem: Type.Optional(
    Type.Object({ code: Type.String(), message: Type.String() }, { description: 'Why the package of a catalog could not be looked into.' })
  ),
  versions: Type.Array(AdapterVersion)
}, { title: 'AdapterDetail' })
export type AdapterDetail = Static<typeof AdapterDetail>

/** Which adapters are compared. */
export const ComparisonQuery = Type.Object({
  codes: Type.String({
    maxLength: 130,
    pattern: '^[a-z][a-z0-9-]{1,40}(,[a-z][a-z0-9-]{1,40}){1,2}$',
    description: 'Two or three codes with commas.',
    examples: ['resend,brevo']
  })
}, closed)

/** Adapters side by side. */
export const AdapterComparison = Type.Object({ data: Type.Array(AdapterDetail, { maxItems: 3 }) }, { title: 'AdapterComparison' })
export type AdapterComparison = Static<typeof AdapterComparison>

/** A page of adapters. */
export const AdapterPage = Type.Object({
  ...page(AdapterView).properties,
  building: Type.Optional(Type.Array(
    Type.Object({
      done: Type.Integer({ minimum: 0, description: 'How many adapters are in it.' }),
      of: Type.Integer({ minimum: 0, description: 'How many there will be.' })
    }),
    { description: 'Of each catalog that is being built on this machine, such as the demo catalog: how far that is. For operators.' }
  ))
}, { title: 'AdapterViewPage' })
export type AdapterPage = Static<typeof AdapterPage>

/** What came of reading a catalog again. */
export const CatalogView = Type.Object({
  address: Type.String(),
  serial: Type.Optional(Type.Integer()),
  expires: Type.Optional(Type.String()),
  adapters: Type.Optional(Type.Integer()),
  notice: Type.Optional(Type.String({ description: 'That it expires soon, or has expired.' })),
  revoked: Type.Optional(Type.Array(Type.Object({
    code: Type.String(),
    version: Type.String(),
    companies: Type.Array(Type.Integer(), { description: 'Those that dispatch through it, a hundred at most.' }),
    message: Type.String()
  }), { description: 'What it has revoked just now.' })),
  problem: Type.Optional(Type.Object({ code: Type.String(), message: Type.String() }, { description: 'Why the one before goes on.' }))
}, { title: 'AdapterCatalog' })
export type CatalogView = Static<typeof CatalogView>
