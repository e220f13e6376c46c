import { type JsonObject, Line } from '@dispatch/common'
import { AnyJsonObject, ProblemSchema, Timestamp } from '@dispatch/contract'
import { type ApiFormat, apiFormats, type FormatFacts, formatFacts } from '@dispatch/documents'
import { eInvoiceFormats, eInvoiceProfiles } from '@dispatch/einvoice'
import { InvoicingFields, templateServices } from '@dispatch/services'
import { type Static, type TSchema, Type } from 'typebox'

const closed = { additionalProperties: false } as const
const nullable = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()])

/** The most characters of each part of a template: its YAML, and the JSON of its schema and of its sample. */
export const templateTextLimit = 200_000

const templateStatuses = ['published', 'draft'] as const
/** `published`: dispatches use this version. `draft`: it was never published. `retired`: another version has replaced it. */
const versionStatuses = ['published', 'draft', 'retired'] as const
export type VersionStatus = typeof versionStatuses[number]

/** The formats of a preview; `TEXT` is the text of a message. */
export const previewFormats = Object.keys(apiFormats) as readonly ApiFormat[]
export type PreviewFormat = ApiFormat

const shownIn = (format: PreviewFormat): FormatFacts['shown'] => formatFacts[apiFormats[format]].shown

/** Those that no browser shows, but saves; and those that every browser shows. */
export const savedFormats = previewFormats.filter((format) => shownIn(format) === 'never')
export const shownFormats = previewFormats.filter((format) => shownIn(format) === 'always')

export const TemplateQuery = Type.Object({
  service: Type.Optional(Type.String({ maxLength: 50 })),
  documentType: Type.Optional(Type.String({ maxLength: 50 })),
  name: Type.Optional(Type.String({ maxLength: 100, description: 'Exactly.' })),
  q: Type.Optional(Type.String({ maxLength: 100, description: 'Words of its name.' })),
  status: Type.Optional(Type.Enum(templateStatuses)),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 25 })),
  cursor: Type.Optional(Type.String({ pattern: '^[0-9]{1,18}$', description: 'the nextCursor of the page before' }))
}, closed)
export type TemplateQuery = Static<typeof TemplateQuery>

const VersionNumber = Type.Integer({ minimum: 1, maximum: 2_147_483_647 })

export const VersionQuery = Type.Object({ version: Type.Optional(VersionNumber) }, closed)
export type VersionQuery = Static<typeof VersionQuery>

const text = {
  name: Type.Optional(Line(100, { description: 'The name, if the source does not give it.' })),
  service: Type.Optional(
    Type.Enum(templateServices, {
      description: 'The service of the template, if the source does not give it.'
    })
  ),
  documentType: Type.Optional(Type.Enum(['INVOICE', 'E_INVOICE', 'QUOTE', 'CREDIT'])),
  source: Type.String({ minLength: 1, maxLength: templateTextLimit, description: 'The text of template.yaml.' }),
  schema: Type.Unsafe<JsonObject>({ ...AnyJsonObject, description: 'The JSON Schema (2020-12) of the data.' }),
  sample: Type.Unsafe<JsonObject>({ ...AnyJsonObject, description: 'Sample data that fit the schema.' })
}

/** An example to copy: a small template that shows each part. */
const example = {
  source: 'name: Receipt\nservice: file\nlocale: en-GB\nbody:\n  - heading: Receipt {{ number }}\n  - table:\n      each: lines\n      ' +
    'as: line\n      columns:\n        - { header: Description, value: line.description, width: 3 }\n        - { header: Amount, ' +
    'value: line.total, type: money }\n',
  schema: {
    type: 'object',
    additionalProperties: false,
    required: ['number', 'lines'],
    properties: {
      number: { type: 'string' },
      lines: {
        type: 'array',
        items: {
          type: 'object',
          additionalProperties: false,
          required: ['description', 'total'],
          properties: { description: { type: 'string' }, total: { type: 'number' } }
        }
      }
    }
  },
  sample: { number: 'R-17', lines: [{ description: 'Tea', total: 6.25 }] }
}

/** The body of a new template. */
export const TemplateBody = Type.Object(text, { ...closed, title: 'NewTemplate', examples: [example] })
export type TemplateBody = Static<typeof TemplateBody>

/** The body of the next version of a template. */
export const NextVersionBody = Type.Object({
  baseVersion: Type.Integer({
    minimum: 1,
    maximum: 2_147_483_647,
    description: 'The newest version ("latestVersion"), on which the change is based.'
  }),
  ...text
}, { ...closed, title: 'NewTemplateVersion', examples: [{ baseVersion: 1, ...example }] })
export type NextVersionBody = Static<typeof NextVersionBody>

export const PublishBody = Type.Object({ version: VersionNumber }, { ...closed, title: 'Publication' })
export type PublishBody = Static<typeof PublishBody>

const preview = {
  data: Type.Optional(Type.Unsafe<JsonObject>({ ...AnyJsonObject, description: 'The data; by default the sample.' })),
  format: Type.Optional(Type.Enum(previewFormats, { description: 'By default the format that a dispatch would produce.' }))
}

export const PreviewBody = Type.Object({ version: Type.Optional(VersionNumber), ...preview }, { ...closed, title: 'Preview' })
export type PreviewBody = Static<typeof PreviewBody>

/** The name of a company's picture. */
export const AssetName = Type.String({
  pattern: '^[a-z][a-z0-9-]{0,40}$',
  description: 'lowercase letters, digits and dashes, beginning with a letter',
  examples: ['logo']
})

/** The most characters of the YAML of a partial. */
export const partialTextLimit = 50_000

export const PartialKind = Type.Enum(['partial', 'layout'], {
  description: 'partial: blocks that templates include (`- partial: terms`). layout: the page of templates (`layout: letterhead`).'
})

/** The YAML of a partial. */
export const PartialText = Type.String({
  minLength: 1,
  maxLength: partialTextLimit,
  description: 'The YAML of its blocks, or of the page.'
})

/** The body of a preview of a template that is not stored. */
export const PreviewTextBody = Type.Object({
  ...text,
  ...preview,
  partial: Type.Optional(Type.Object({ name: AssetName, kind: PartialKind, source: PartialText }, {
    ...closed,
    title: 'PreviewedPartial',
    description: 'A partial or layout that the template includes as it would be stored; since version 1.1.0.'
  }))
}, { ...closed, title: 'PreviewOfText', examples: [example] })
export type PreviewTextBody = Static<typeof PreviewTextBody>

const { dueDate, paymentTerms, from } = InvoicingFields.properties

/** What a request says beside its data, and its e-invoice says too. */
const InvoicingTerms = Type.Object({ dueDate, paymentTerms, from }, { ...closed, title: 'InvoicingTerms' })
export type InvoicingTerms = Static<typeof InvoicingTerms>

/** What is asked of the profiles of e-invoices. */
export const ProfilesBody = Type.Object({
  version: Type.Optional(VersionNumber),
  data: preview.data,
  terms: Type.Optional(InvoicingTerms),
  profile: Type.Optional(Type.Enum([...eInvoiceProfiles], { description: 'This one alone.' })),
  format: Type.Optional(Type.Enum([...eInvoiceFormats], { description: 'This one alone.' }))
}, {
  ...closed,
  title: 'ProfilesPreview',
  examples: [{ profile: 'XRECHNUNG', format: eInvoiceFormats[1], terms: { paymentTerms: 'Net 30' } }]
})
export type ProfilesBody = Static<typeof ProfilesBody>

const RuleSeverity = Type.Enum(['error', 'warning'], { description: 'error: a violation prevents the e-invoice.' })

/** Data in one profile and format of e-invoices. */
export const ProfileView = Type.Object({
  profile: Type.Enum([...eInvoiceProfiles]),
  format: Type.Enum([...eInvoiceFormats]),
  fits: Type.Boolean({ description: 'Whether nothing prevents the e-invoice.' }),
  xml: nullable(Type.String({
    description: 'The e-invoice; of FACTUR_X what is inside the PDF. null where it does not fit, and where all together have more than ' +
      '4 MiB: ask for one profile and format.'
  })),
  broken: Type.Array(
    Type.Object({
      path: Type.String({
        description: 'JSON pointer into the body: below `/data`, or `/sample` without data.',
        examples: ['/data/total']
      }),
      code: Type.String({ description: 'The id of the rule, or a word.', examples: ['BR-CO-15'] }),
      message: Type.String(),
      severity: RuleSeverity
    }),
    { description: 'The rules that the data break, the first 1,000.' }
  ),
  passed: Type.Array(Type.Object({ code: Type.String(), severity: RuleSeverity }), {
    description: 'The rules that they were held against and do not break, each once.'
  })
}, { title: 'EInvoiceProfile' })
export type ProfileView = Static<typeof ProfileView>

export const ProfilesView = Type.Object({ data: Type.Array(ProfileView) }, { title: 'EInvoiceProfiles' })
export type ProfilesView = Static<typeof ProfilesView>

export const TemplateView = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  version: Type.Integer(),
  status: Type.Enum(versionStatuses, { description: 'The status of this version. Dispatches use the published one.' }),
  latestVersion: Type.Integer({ description: 'The newest version, which may be a draft.' }),
  service: Type.String(),
  alsoFor: Type.Optional(Type.Array(Type.String(), { description: 'The other services that it is made for.' })),
  documentType: Type.Optional(Type.String()),
  formats: Type.Array(Type.String()),
  locale: Type.String({ description: 'A language tag (BCP 47); if the data choose, the one that they get without a choice.' }),
  languages: Type.Array(Type.String(), { description: 'The languages that the data may choose.' }),
  schema: AnyJsonObject,
  sample: AnyJsonObject,
  updatedAt: Timestamp,
  companyId: nullable(Type.Integer({ description: 'null: shared by all companies.' }))
}, { title: 'Template' })
export type TemplateView = Static<typeof TemplateView>

/** A template with the text of its YAML. */
export const TemplateDetail = Type.Interface([TemplateView], { source: Type.String({ description: 'The text of template.yaml.' }) }, {
  title: 'TemplateWithSource'
})
export type TemplateDetail = Static<typeof TemplateDetail>

/** A stored template, with warnings about it. */
export const TemplateAnswer = Type.Interface([TemplateDetail], { warnings: Type.Array(ProblemSchema) }, { title: 'StoredTemplate' })
export type TemplateAnswer = Static<typeof TemplateAnswer>

export const VersionView = Type.Object({
  version: Type.Integer(),
  status: Type.Enum(versionStatuses),
  createdAt: Timestamp,
  publishedAt: nullable(Type.String({ format: 'date-time', description: 'When it was published for the first time.' })),
  userId: nullable(Type.Integer({ description: 'Who wrote it.' }))
}, { title: 'TemplateVersion' })
export type VersionView = Static<typeof VersionView>

/** What a version would do to the dispatches that have used the template. */
export const VersionCheck = Type.Object({
  version: Type.Integer(),
  since: Timestamp,
  checked: Type.Integer({ description: 'How many dispatches were looked at, the newest first: at most 500.' }),
  complete: Type.Boolean({ description: 'Whether these are all since then whose data are kept.' }),
  refused: Type.Integer({ description: 'How many of them the version would refuse.' }),
  examples: Type.Array(Type.Object({ dispatchId: Type.String(), problem: ProblemSchema }), { description: 'At most 5 of these.' })
}, { title: 'TemplateVersionCheck' })
export type VersionCheck = Static<typeof VersionCheck>

/** A picture of one grey pixel. */
const point = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNoAAAAggCBd81ytgAAAABJRU5ErkJggg=='

export const AssetBody = Type.Object({
  name: AssetName,
  image: Type.String({ maxLength: 3_000_000, description: 'A PNG or JPEG image as a data URI: data:image/png;base64,…' })
}, { ...closed, title: 'NewAsset', examples: [{ name: 'logo', image: point }] })
export type AssetBody = Static<typeof AssetBody>

export const AssetImageBody = Type.Object({ image: AssetBody.properties.image }, {
  ...closed,
  title: 'AssetImage',
  examples: [{ image: point }]
})
export type AssetImageBody = Static<typeof AssetImageBody>

/** A template whose text names a picture. */
export const AssetUseView = Type.Object({
  templateId: Type.Integer(),
  name: Type.String(),
  version: Type.Integer({ description: 'The published or the newest one.' }),
  published: Type.Boolean({ description: 'Whether dispatches use this version.' })
}, { title: 'AssetUse' })
export type AssetUseView = Static<typeof AssetUseView>

export const AssetQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 25 })),
  cursor: Type.Optional(Type.String({ maxLength: 50, description: 'the nextCursor of the page before' }))
}, closed)
export type AssetQuery = Static<typeof AssetQuery>

/** A picture of the company. Its templates refer to it by `asset:<name>`. */
export const AssetView = Type.Object({
  name: Type.String(),
  type: Type.String({ description: 'image/png or image/jpeg.' }),
  width: Type.Integer({ description: 'Pixels.' }),
  height: Type.Integer(),
  size: Type.Integer({ description: 'Bytes, as it is kept.' }),
  sha256: Type.String(),
  createdAt: Timestamp
}, { title: 'Asset' })
export type AssetView = Static<typeof AssetView>
