import { type Static, type TSchema, Type } from 'typebox'
import { Block, Prose } from './blocks.ts'
import { Assets, Page, Style, Texts } from './model.ts'

const closed = { additionalProperties: false } as const
const Blocks = Type.Array(Block, { maxItems: 1000 })

/** Words and pictures that its blocks use. Those of the template that includes it go before them. */
const own = { texts: Type.Optional(Texts), assets: Type.Optional(Assets) }

/** Blocks that templates include by name: `- partial: terms`. */
const PartialModel = Type.Object({ ...own, blocks: Type.Array(Block, { minItems: 1, maxItems: 1000 }) }, closed)
export type PartialSource = Static<typeof PartialModel>

/** The page of the templates that name it (`layout: letterhead`). What a template says itself goes before it. */
const LayoutModel = Type.Object({
  ...own,
  page: Type.Optional(Page),
  style: Type.Optional(Style),
  watermark: Type.Optional(Prose),
  header: Type.Optional(Blocks),
  firstHeader: Type.Optional(Blocks),
  footer: Type.Optional(Blocks),
  before: Type.Optional(Blocks),
  after: Type.Optional(Blocks)
}, closed)
export type LayoutSource = Static<typeof LayoutModel>

export const partialModels = { partial: PartialModel, layout: LayoutModel } as const satisfies Record<string, TSchema>
export type PartialKind = keyof typeof partialModels

/** A partial of a company as it is kept: what `source` is depends on the kind. */
export type KeptPartial =
  & { version: number }
  & ({ kind: 'partial', source: PartialSource } | { kind: 'layout', source: LayoutSource })
export type KeptPartials = Readonly<Record<string, KeptPartial>>

/** The parts of a layout that are blocks. */
export const layoutParts = ['header', 'firstHeader', 'footer', 'before', 'after'] as const
