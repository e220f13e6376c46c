import { type Static, type TSchema, type TUnsafe, Type } from 'typebox'
import { Block, Hex, Name, PartialName, Prose, TypeSize } from './blocks.ts'
import type { Brand } from './brand.ts'
import { paperSizes } from './paper.ts'

const closed = { additionalProperties: false } as const

/** Millimetres from the edge of the paper. */
const Margin = Type.Number({ minimum: 0, maximum: 100 })

export const Page = Type.Object({
  size: Type.Optional(Type.Enum([...paperSizes, 'auto'], { description: 'auto: the paper that a letter is printed on, else A4' })),
  orientation: Type.Optional(Type.Enum(['portrait', 'landscape'])),
  margins: Type.Optional(
    Type.Object({ top: Type.Optional(Margin), right: Type.Optional(Margin), bottom: Type.Optional(Margin), left: Type.Optional(Margin) },
      closed)
  )
}, closed)

export const Style = Type.Object({
  font: Type.Optional(Type.Enum(['sans', 'serif', 'mono'])),
  size: Type.Optional(TypeSize),
  lineHeight: Type.Optional(Type.Number({ minimum: 1, maximum: 3, description: 'a multiple of the font size' })),
  text: Type.Optional(Hex),
  accent: Type.Optional(Hex),
  muted: Type.Optional(Hex)
}, closed)

/** The words of a template by language (BCP 47) and name. Expressions read them as `{{ t.name }}` in the language of the document. */
export const Texts = Type.Record(Type.String({ pattern: '^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$' }), Type.Record(Name, Prose))

/** Pictures by name: files of the folder, data URIs, or `asset:<name>`. */
export const Assets = Type.Record(Type.String({ pattern: '^[a-z][A-Za-z0-9-]{0,40}$' }), Type.String({ minLength: 1 }))

/**
 * The version of the language of templates. It rises when the model or the expressions gain something that an older release cannot read;
 * such a release then goes on with the version of a template before.
 */
export const templateLanguage = 4

/**
 * The model of template.yaml for every output format. Distances on the page are in millimetres, font sizes and widths of rules in points,
 * widths of columns in shares.
 */
const TemplateModel = Type.Object({
  id: Type.Optional(Type.Integer({ minimum: 1, maximum: 999, description: 'the fixed number of a shared template, 1 to 999' })),
  name: Type.String({ minLength: 1, maxLength: 100 }),
  description: Type.Optional(Type.String({ maxLength: 500 })),
  service: Type.String(),
  alsoFor: Type.Optional(
    Type.Array(Type.String(), { minItems: 1, uniqueItems: true, description: 'the other services that it is made for, besides `service`' })
  ),
  documentType: Type.Optional(Type.Enum(['INVOICE', 'E_INVOICE', 'QUOTE', 'CREDIT'])),
  vocabulary: Type.Optional(Type.Literal('invoice')),
  locale: Type.String({
    minLength: 2,
    maxLength: 200,
    description: 'a BCP 47 language tag, such as en-GB, or text with an expression that gives one'
  }),
  texts: Type.Optional(Texts),
  currency: Type.Optional(Prose),
  archival: Type.Optional(Type.Boolean({ description: 'true: its PDF is PDF/A-3b, for archives' })),
  title: Type.Optional(Prose),
  author: Type.Optional(Prose),
  subject: Type.Optional(Prose),
  preheader: Type.Optional(Prose),
  watermark: Type.Optional(Prose),
  page: Type.Optional(Page),
  style: Type.Optional(Style),
  brand: Type.Optional(
    Type.Unsafe<true | Brand>(Type.Literal(true, { description: 'true: it follows the brand of the company that sends it' }))
  ),
  assets: Type.Optional(Assets),
  layout: Type.Optional(PartialName),
  header: Type.Optional(Type.Array(Block, { maxItems: 100 })),
  firstHeader: Type.Optional(Type.Array(Block, { maxItems: 100 })),
  footer: Type.Optional(Type.Array(Block, { maxItems: 100 })),
  body: Type.Array(Block, { minItems: 1, maxItems: 1000 })
}, closed)

/** A partial in a version of a template, as it was when the version was saved. A part of a layout is called `name/part`. */
export type IncludedPartial = { version: number, blocks: readonly Block[] }

/** `partials`: what the template includes, and its layout; no author writes it. */
export type TemplateSource = Static<typeof TemplateModel> & { partials?: Readonly<Record<string, IncludedPartial>> }

/** The model of templates for these services. */
export function templateModel (services: readonly string[]): TUnsafe<TemplateSource> {
  const key = services.join(' ')
  const model = models.get(key) ?? modelFor(Type.Enum([...services]))
  models.set(key, model)
  return model
}

/** What checks and explains keeps what it has compiled of a model. */
const models = new Map<string, TUnsafe<TemplateSource>>()

function modelFor (service: TSchema): TUnsafe<TemplateSource> {
  const { properties } = TemplateModel
  return Type.Unsafe<TemplateSource>({
    ...TemplateModel,
    properties: { ...properties, service, alsoFor: { ...properties.alsoFor, items: service } }
  })
}
