import { Timestamp } from '@dispatch/contract'
import { type Static, Type } from 'typebox'
import { AssetName, previewFormats } from './templates.ts'

const closed = { additionalProperties: false } as const

const Colour = (description: string, example: string) =>
  Type.String({ pattern: '^#[0-9a-fA-F]{6}$', description: `${description}, as #rrggbb`, examples: [example] })

/** The fonts that come with the service. */
export const brandFonts = ['sans', 'serif', 'mono'] as const

const look = {
  logo: Type.Optional(AssetName),
  accent: Type.Optional(Colour('Of headings, lines and buttons', '#7a1f3d')),
  text: Type.Optional(Colour('Of the text', '#1f2933')),
  muted: Type.Optional(Colour('Of what stands beside the text', '#66727f')),
  font: Type.Optional(Type.Enum([...brandFonts], { description: 'One that comes with the service: DejaVu Sans, Serif or Sans Mono.' }))
}

const example = { logo: 'logo', accent: '#7a1f3d', font: 'serif' } as const

/** How the documents of a company look. `logo`: the name of one of its pictures. What is left out is the template's own. */
export const BrandBody = Type.Object(look, { ...closed, title: 'NewBrand', examples: [example] })
export type BrandBody = Static<typeof BrandBody>

export const BrandView = Type.Object({
  ...look,
  updatedAt: Type.Union([Timestamp, Type.Null()], { description: 'null: nobody has set it.' })
}, { title: 'Brand', examples: [{ ...example, updatedAt: '2026-03-14T09:00:00.000Z' }] })
export type BrandView = Static<typeof BrandView>

/** A document in a brand that is not stored. */
export const BrandPreviewBody = Type.Object({
  brand: Type.Object(look, closed),
  templateId: Type.Optional(Type.Integer({ minimum: 1, description: 'A template that you may use; by default the letter, 30.' })),
  format: Type.Optional(Type.Enum(previewFormats, { description: 'By default the format that a dispatch would produce.' }))
}, { ...closed, title: 'BrandPreview', examples: [{ brand: example, templateId: 1 }] })
export type BrandPreviewBody = Static<typeof BrandPreviewBody>
