import { Line, Uuid } from '@dispatch/common'
import { Timestamp } from '@dispatch/contract'
import { type ServiceName, serviceNames, services, type SuppressionReason, suppressionReasons } from '@dispatch/services'
import { type Static, Type } from 'typebox'

/** The services whose recipients can be known again. */
export const channels: readonly ServiceName[] = serviceNames.filter((name) => services[name].recipients !== undefined)

const Channel = Type.Unsafe<ServiceName>(Type.Enum([...channels], { description: 'The service that reaches the address.' }))

export const reasons = suppressionReasons

export const Reason = Type.Unsafe<SuppressionReason>(Type.Enum([...suppressionReasons], {
  description: '`hard_bounce`: mail to it came back. `returned`: a letter to it came back. `complaint`: it was reported as spam. ' +
    '`unsubscribed`: its owner unsubscribed. `stopped`: its owner answered STOP. `manual`: the company does not want it.'
}))

const Note = Line(300, { description: 'Why, in words of your own.', examples: ['Asked for it by phone'] })

/** The most suppressions of one import. */
export const maxImported = 100_000

/** Characters of an address: a postal one has a name, a company, a street, a city and a state. */
const longestAddress = 700

export const SuppressionBody = Type.Object({
  channel: Channel,
  address: Line(longestAddress, {
    description:
      'An e-mail address, a phone number in E.164, or a postal address with commas: name, company if any, street, postal code with ' +
      'city and state if any, country.',
    examples: ['ada@example.com', 'Ada Lovelace, 12 rue de la Paix, 75002 Paris, FR']
  }),
  reason: Type.Optional(Reason),
  note: Type.Optional(Note)
}, { title: 'NewSuppression', additionalProperties: false })
export type SuppressionBody = Static<typeof SuppressionBody>

export const ImportBody = Type.Object({
  suppressions: Type.Array(SuppressionBody, { minItems: 1, maxItems: maxImported })
}, {
  title: 'SuppressionImport',
  additionalProperties: false,
  examples: [{ suppressions: [{ channel: channels[0] ?? '', address: 'ada@example.com', reason: 'unsubscribed' }] }]
})
export type ImportBody = Static<typeof ImportBody>

/** What is said of each row of an import in CSV that does not say it itself. */
export const ImportQuery = Type.Object({ channel: Type.Optional(Channel), reason: Type.Optional(Reason) }, { additionalProperties: false })
export type ImportQuery = Static<typeof ImportQuery>

export const ImportView = Type.Object({
  added: Type.Integer({ description: 'How many are new.' }),
  known: Type.Integer({ description: 'How many stood there already, and are as they were; among them those that the import names twice.' })
}, { title: 'SuppressionImportResult', examples: [{ added: 812, known: 3 }] })
export type ImportView = Static<typeof ImportView>

export const SuppressionView = Type.Object({
  id: Uuid,
  channel: Channel,
  address: Type.String({
    description: 'In the one writing in which addresses are compared; of somebody who was erased a hash: `erased:` and hexadecimal digits.',
    examples: ['ada@example.com']
  }),
  reason: Reason,
  note: Type.Union([Type.String(), Type.Null()]),
  since: Timestamp,
  userId: Type.Union([Type.Integer(), Type.Null()], { description: 'Who wrote it; null where its owner or a vendor did.' }),
  dispatchId: Type.Union([Uuid, Type.Null()], { description: 'The dispatch of which it came, where a vendor told of it.' })
}, {
  title: 'Suppression'
})
export type SuppressionView = Static<typeof SuppressionView>

export const SuppressionFilter = {
  channel: Type.Optional(Channel),
  reason: Type.Optional(Reason),
  search: Type.Optional(Type.String({ minLength: 1, maxLength: longestAddress, description: 'A part of the address.' }))
}
export type SuppressionFilter = { channel?: ServiceName, reason?: SuppressionReason, search?: string }

export const ExportQuery = Type.Object({
  ...SuppressionFilter,
  format: Type.Optional(Type.Enum(['ndjson', 'csv'], { default: 'ndjson' }))
}, { additionalProperties: false })

export const RemovalQuery = Type.Object({
  why: Line(300, { description: 'Why it may get something again: it stands in the audit log.', examples: ['She subscribed again'] })
}, { additionalProperties: false })

export const TransactionalBody = Type.Object({
  reasons: Type.Array(Reason, { uniqueItems: true, description: 'For which reasons it is sent all the same; none: it is not.' })
}, { title: 'TransactionalReasons', additionalProperties: false, examples: [{ reasons: ['unsubscribed', 'manual'] }] })
export type TransactionalBody = Static<typeof TransactionalBody>

export const TransactionalView = Type.Object({
  templateId: Type.Integer(),
  reasons: Type.Array(Reason)
}, { title: 'TransactionalTemplate' })
export type TransactionalView = Static<typeof TransactionalView>
