import { AnyJsonObject } from '@dispatch/core'
import { eInvoiceFormats, eInvoiceProfiles } from '@dispatch/einvoice'
import { type Static, Type } from 'typebox'

const closed = { additionalProperties: false } as const

/** What is asked of a file. */
export const ReadQuery = Type.Object({
  format: Type.Optional(
    Type.Enum(['json', 'html', 'pdf'], {
      default: 'json',
      description: 'html, pdf: a page for people. It leaves out what is for machines.'
    })
  ),
  language: Type.Optional(
    Type.String({
      maxLength: 20,
      pattern: '^[a-z]{2}(-[A-Za-z]{4})?(-([A-Za-z]{2}|[0-9]{3}))?$',
      examples: ['fr', 'en-US'],
      description: 'The language of the page, and a country where it matters: one of those of the shared template of e-invoices.'
    })
  )
}, closed)
export type ReadQuery = Static<typeof ReadQuery>

/** The form of a file, as it is documented. */
export const ReadForm = Type.Object({ file: Type.String({ format: 'binary' }) }, { title: 'EInvoiceForm' })

const Amount = Type.String({ examples: ['1190.00'] })
const place = {
  element: Type.String({
    description: 'The path of the element in the XML, or of the one in which it would stand.',
    examples: ['/Invoice/cbc:ID']
  }),
  line: Type.Integer({ minimum: 1 }),
  column: Type.Integer({ minimum: 1 })
}

const PlacedProblem = Type.Object({
  path: Type.String({ description: 'JSON pointer into `data`; empty where there is no place for it.' }),
  code: Type.String({ description: 'The id of the rule, or a word.', examples: ['BR-CO-15'] }),
  message: Type.String(),
  ...place
}, { title: 'EInvoiceProblem' })

/** An e-invoice that was read from a file. */
export const EInvoiceView = Type.Object({
  format: Type.Enum([...eInvoiceFormats], { description: 'FACTUR_X: XML in a PDF.' }),
  profile: Type.Enum([...eInvoiceProfiles], { description: 'The one that BT-24 names; the nearest where it is none of these.' }),
  specification: Type.Optional(Type.String({ description: 'BT-24, as the file has it.' })),
  embedded: Type.Optional(Type.String({ description: 'The name of the XML in the PDF.', examples: ['factur-x.xml'] })),
  data: Type.Unsafe<Static<typeof AnyJsonObject>>({
    ...AnyJsonObject,
    description: 'The invoice in the words of `dispatch:invoice`: data for the template of e-invoices.'
  }),
  totals: Type.Object({
    subtotal: Amount,
    allowances: Amount,
    charges: Amount,
    taxBase: Amount,
    taxAmount: Amount,
    total: Amount,
    amountDue: Amount,
    taxes: Type.Array(
      Type.Object({ category: Type.String(), rate: Type.Optional(Type.String()), base: Amount, amount: Amount })
    )
  }, { description: 'The sums, computed from the lines; what the file says otherwise is a warning.' }),
  problems: Type.Array(PlacedProblem, { description: 'The rules that the file breaks in its profile, the first 1,000.' }),
  warnings: Type.Array(PlacedProblem),
  lost: Type.Array(Type.Object({ value: Type.String(), ...place }), {
    description: 'Texts and attributes that stand in the file and not in `data`, the first 1,000.'
  }),
  lostCount: Type.Integer({ minimum: 0, description: 'How many there are.' })
}, { title: 'EInvoiceReading' })
export type EInvoiceView = Static<typeof EInvoiceView>
