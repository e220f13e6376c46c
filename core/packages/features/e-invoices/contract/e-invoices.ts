import { AnyJsonObject, Timestamp } from '@dispatch/contract'
import { eInvoiceFormats, eInvoiceProfiles } from '@dispatch/einvoice'
import { type Static, Type } from 'typebox'

const closed = { additionalProperties: false } as const

/** The query of a request with a file. */
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

/** Whom is asked for: the electronic address of a customer (BT-49), or a number of theirs. */
export const RecipientQuery = Type.Object({
  scheme: Type.String({
    pattern: '^[A-Z0-9]{2,4}$',
    examples: ['0225'],
    description: 'The scheme of the id (EAS): 0225 in the French directory, 0002 for a SIREN, 0009 for a SIRET.'
  }),
  id: Type.String({ minLength: 1, maxLength: 200, examples: ['732829320'] })
}, closed)
export type RecipientQuery = Static<typeof RecipientQuery>

const ElectronicAddress = {
  scheme: Type.String({ examples: ['0225'], description: 'For `/customer/electronicAddress/scheme` of the data.' }),
  id: Type.String({ examples: ['732829320'] })
}

/** Where somebody receives e-invoices, as the directories of a company's providers have it. */
export const RecipientsView = Type.Object({
  data: Type.Array(Type.Object({
    directory: Type.String({ description: 'The code of the provider whose directory it is, or `peppol`.', examples: ['flow'] }),
    result: Type.Enum(['found', 'unknown', 'cannot_be_asked'], {
      description:
        '`unknown`: the directory was asked, and knows nobody there. `cannot_be_asked`: it did not answer, or is not about such ids.'
    }),
    recipients: Type.Array(Type.Object({
      ...ElectronicAddress,
      name: Type.Optional(Type.String({ description: 'Whose address it is.' })),
      status: Type.Optional(
        Type.Enum(['active', 'upcoming', 'inactive'], {
          description: 'Whether a platform receives there now, later, or not (any longer); absent where the directory does not say.'
        })
      )
    }), { description: 'At most 100.' }),
    message: Type.Optional(Type.String({ description: 'Why it cannot be asked.' })),
    at: Timestamp
  }), { description: 'One for each directory; none where there is none.' })
}, { title: 'EInvoiceRecipients' })
export type RecipientsView = Static<typeof RecipientsView>
