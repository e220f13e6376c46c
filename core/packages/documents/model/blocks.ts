import { type Static, Type } from 'typebox'

/** Text with `{{ expressions }}`, Liquid tags and inline markup (`**bold**`, `*italic*`, `[text](url)`, line breaks). */
export const Prose = Type.String({ maxLength: 20_000 })

/** The text between `{{` and `}}`: a path into the data, or a Liquid expression with filters. */
export const Expression = Type.String({ minLength: 1, maxLength: 500 })

/** A name of the style (`text`, `accent`, `muted`) or `#rrggbb`. */
const Color = Type.String({ pattern: '^(text|accent|muted|#[0-9a-fA-F]{6})$', description: 'text, accent, muted or #rrggbb' })

/** `#rrggbb`. */
export const Hex = Type.String({ pattern: '^#[0-9a-fA-F]{6}$', description: '#rrggbb' })

/** `start` is the side where a line of the language begins: left, or right in Arabic and Hebrew. `end` is the other side. */
export const Align = Type.Enum(['start', 'center', 'end', 'left', 'right'])
export type Align = Static<typeof Align>

/** Millimetres on the page. */
const Distance = Type.Number({ minimum: 0, maximum: 1000 })
/** A font size in points (1/72 inch). */
export const TypeSize = Type.Number({ minimum: 4, maximum: 96 })
/** A share of the width, in proportion to the shares of the others. */
const Share = Type.Number({ exclusiveMinimum: 0, maximum: 1000 })

const closed = { additionalProperties: false } as const

const TextStyle = {
  align: Type.Optional(Align),
  color: Type.Optional(Color),
  size: Type.Optional(TypeSize)
}

export const ValueType = Type.Enum(['text', 'money', 'number', 'percent', 'date'])
export type ValueType = Static<typeof ValueType>

/** The content of a cell: `text` (prose), or `value` (an expression) of a `type`; `digits` limits the decimals of a number. */
const Content = {
  text: Type.Optional(Prose),
  value: Type.Optional(Expression),
  type: Type.Optional(ValueType),
  digits: Type.Optional(Type.Integer({ minimum: 0, maximum: 12 }))
}
export const CellSource = Type.Object(Content)
export type CellSource = Static<typeof CellSource>

const If = Type.Optional(Expression)

const Heading = Type.Object({ text: Prose, level: Type.Optional(Type.Integer({ minimum: 1, maximum: 3 })), ...TextStyle }, closed)

const Paragraph = Type.Object({ text: Prose, ...TextStyle }, closed)

const Entry = Type.Object({ label: Prose, if: If, ...Content }, closed)
export const KeyValues = Type.Object({
  entries: Type.Array(Entry, { minItems: 1, maxItems: 100 }),
  labels: Type.Optional(Share),
  values: Type.Optional(Share)
}, closed)
export type KeyValues = Static<typeof KeyValues>

const Column = Type.Object({ header: Prose, width: Type.Optional(Share), align: Type.Optional(Align), if: If, ...Content }, closed)
export type Column = Static<typeof Column>

/** The name of a loop's variable, or of a text. */
export const Name = Type.String({
  pattern: '^[a-z][A-Za-z0-9]{0,40}$',
  description: 'a name of letters and digits, beginning with a lowercase letter'
})

/** The name of a partial or a layout of the company. */
export const PartialName = Type.String({
  pattern: '^[a-z][a-z0-9-]{0,40}$',
  description: 'a name of lowercase letters, digits and dashes, beginning with a letter'
})

/** A total; with `each` and `as`, one for each item of a list. */
const Total = Type.Object({
  label: Prose,
  strong: Type.Optional(Type.Boolean()),
  if: If,
  each: Type.Optional(Expression),
  as: Type.Optional(Name),
  ...Content
}, closed)
export type Total = Static<typeof Total>

/** Groups of rows: one for each item of a list, with a heading over the rows and totals under them. */
const Groups = Type.Object({ each: Expression, as: Name, heading: Prose, totals: Type.Optional(Type.Array(Total, { maxItems: 30 })) },
  closed)

export const Table = Type.Object({
  each: Expression,
  as: Name,
  groups: Type.Optional(Groups),
  columns: Type.Array(Column, { minItems: 1, maxItems: 30 }),
  totals: Type.Optional(Type.Array(Total, { maxItems: 30 }))
}, closed)
export type Table = Static<typeof Table>

/**
 * An asset of the template, or an expression that gives a data URI. The size is in millimetres; the other side follows. `alt` describes the
 * picture in words.
 */
export const Image = Type.Object({
  asset: Type.Optional(Type.String()),
  value: Type.Optional(Expression),
  alt: Type.Optional(Prose),
  width: Type.Optional(Distance),
  height: Type.Optional(Distance),
  align: Type.Optional(Align)
}, closed)
export type Image = Static<typeof Image>

/**
 * A machine-readable code: an expression under the name of its symbology, or the payment of the invoice (`epc`, a QR code of the European
 * Payments Council). The size is in millimetres; `alt` describes it in words, `caption` is the text under it.
 */
export const Code = Type.Object({
  qr: Type.Optional(Expression),
  code128: Type.Optional(Expression),
  ean13: Type.Optional(Expression),
  epc: Type.Optional(Type.Literal(true)),
  alt: Type.Optional(Prose),
  caption: Type.Optional(Prose),
  width: Type.Optional(Distance),
  height: Type.Optional(Distance),
  align: Type.Optional(Align)
}, closed)
export type Code = Static<typeof Code>

/** The windows of envelopes that an address may be placed for. */
export const AddressWindow = Type.Enum(['din-5008-a', 'din-5008-b', 'fr'])
export type AddressWindow = Static<typeof AddressWindow>

const Rule = Type.Object({ color: Type.Optional(Color), thickness: Type.Optional(Type.Number({ minimum: 0.1, maximum: 20 })) }, closed)

/** A button with a link. `url` is an expression that gives a web, mail or telephone URL. */
export const Button = Type.Object({ text: Prose, url: Expression }, closed)
export type Button = Static<typeof Button>

/** The place for a signature. `signer` is the number in the list of signers, from 1; the size of the empty space is in millimetres. */
export const Signature = Type.Object({
  signer: Type.Integer({ minimum: 1, maximum: 50 }),
  label: Type.Optional(Prose),
  width: Type.Optional(Distance),
  height: Type.Optional(Distance)
}, closed)
export type Signature = Static<typeof Signature>

const Blocks = Type.Array(Type.Ref('Block'), { maxItems: 1000 })

/**
 * The recipient of a letter, in the window of an envelope, with the sender in small type above. `beside` is the content on the other side
 * of the page.
 */
const Address = Type.Object({ window: AddressWindow, text: Prose, sender: Type.Optional(Prose), beside: Type.Optional(Blocks) }, closed)

/** One block of a template: an object with one key that names its kind, besides `then`, `else`, `as` and `do`. */
export const Block = Type.Cyclic({
  Block: Type.Union([
    Type.Object({ heading: Type.Union([Prose, Heading]) }, closed),
    Type.Object({ paragraph: Type.Union([Prose, Paragraph]) }, closed),
    Type.Object({
      columns: Type.Object({
        gap: Type.Optional(Distance),
        height: Type.Optional(Distance),
        items: Type.Array(Type.Object({ width: Type.Optional(Share), do: Blocks }, closed), { minItems: 1, maxItems: 12 })
      }, closed)
    }, closed),
    Type.Object({ keyValues: KeyValues }, closed),
    Type.Object({ table: Table }, closed),
    Type.Object({ image: Image }, closed),
    Type.Object({ code: Code }, closed),
    Type.Object({ group: Blocks }, closed),
    Type.Object({ address: Address }, closed),
    Type.Object({ button: Button }, closed),
    Type.Object({ signature: Signature }, closed),
    Type.Object({ spacer: Distance }, closed),
    Type.Object({ pageBreak: Type.Literal(true) }, closed),
    Type.Object({ rule: Rule }, closed),
    Type.Object({ partial: PartialName }, closed),
    Type.Object({ if: Expression, then: Blocks, else: Type.Optional(Blocks) }, closed),
    Type.Object({ each: Expression, as: Name, pageBreak: Type.Optional(Type.Boolean()), do: Blocks }, closed)
  ])
}, 'Block')
export type Block = Static<typeof Block>
