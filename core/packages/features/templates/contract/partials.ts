import { Timestamp } from '@dispatch/contract'
import { type Static, Type } from 'typebox'
import { AssetName, AssetUseView, PartialKind, PartialText } from './templates.ts'

const closed = { additionalProperties: false } as const

const example = { kind: 'partial', source: 'blocks:\n  - rule: {}\n  - paragraph: { text: Payable within 14 days., size: 7 }\n' } as const

/** What is stored of a partial. */
export const PartialBody = Type.Object({
  kind: PartialKind,
  source: PartialText,
  baseVersion: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'The version on which the change is based; left out for a new one.' })
  )
}, { ...closed, title: 'NewPartial', examples: [example] })
export type PartialBody = Static<typeof PartialBody>

export const PartialView = Type.Object({
  name: Type.String(),
  kind: PartialKind,
  version: Type.Integer(),
  updatedAt: Timestamp,
  userId: Type.Union([Type.Integer({ description: 'Who wrote it.' }), Type.Null()])
}, { title: 'Partial' })
export type PartialView = Static<typeof PartialView>

export const PartialDetail = Type.Interface([PartialView], { source: Type.String({ description: 'Its YAML.' }) }, {
  title: 'PartialWithSource'
})
export type PartialDetail = Static<typeof PartialDetail>

/** A partial that was stored, with the new drafts of the templates that include it. */
export const PartialAnswer = Type.Interface([PartialDetail], {
  templates: Type.Array(AssetUseView, { description: 'The new drafts of the templates that include it: each is to be published.' })
}, { title: 'StoredPartial' })
export type PartialAnswer = Static<typeof PartialAnswer>

export const PartialsQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 25 })),
  cursor: Type.Optional(Type.String({ maxLength: 50, description: 'the nextCursor of the page before' }))
}, closed)

export const PartialName = AssetName
