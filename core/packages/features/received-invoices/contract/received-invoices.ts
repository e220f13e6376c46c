import { Uuid } from '@dispatch/common'
import { Timestamp, UuidPageQuery } from '@dispatch/contract'
import { buyerCodes, eInvoiceFormats, eInvoiceProfiles, reasonsOf, statusCodes } from '@dispatch/einvoice'
import { type Static, Type } from 'typebox'

const closed = { additionalProperties: false } as const

/** What is known of a received e-invoice. */
export const receivedStates = ['fetching', 'readable', 'unreadable'] as const
export type ReceivedState = typeof receivedStates[number]

/** What is known of a status that a company has said. */
export const answerStates = ['asked', 'said', 'refused', 'uncertain'] as const
export type AnswerState = typeof answerStates[number]

const Code = Type.Enum([...buyerCodes], {
  description: `${buyerCodes.map((code) => `${code}: ${statusCodes[code].name}`).join('. ')} (AFNOR XP Z12-012).`
})

const reasons = buyerCodes.map((code) => ({ code, reasons: reasonsOf(code) })).filter(({ reasons }) => reasons.length > 0)

const Amount = Type.String({ pattern: '^[0-9]{1,12}([.][0-9]{1,2})?$', maxLength: 15, examples: ['24.00'] })

/** The codes of reasons that any of the statuses takes. */
export const reasonCodes = [...new Set(reasons.flatMap(({ reasons }) => reasons))]

/** The answer of the buyer of an invoice. */
export const AnswerBody = Type.Object({
  code: Code,
  at: Type.Optional(
    Type.String({
      pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d([.]\\d{1,9})?(Z|[+-]\\d\\d:\\d\\d)$',
      description: 'When it came to be: RFC 3339. Now unless given.',
      examples: ['2026-10-02T10:00:00Z']
    })
  ),
  reasonCode: Type.Optional(
    Type.Enum(reasonCodes, {
      description: `Why, of a status that needs it. ${reasons.map(({ code, reasons }) => `${code}: ${reasons.join(', ')}`).join('. ')}.`
    })
  ),
  reason: Type.Optional(Type.String({ minLength: 1, maxLength: 500, description: 'In words, for the seller.', examples: ['Sent twice.'] })),
  amount: Type.Optional({ ...Amount, description: 'Of 211: what was paid, in the currency of the invoice.' })
}, { ...closed, title: 'NewReceivedInvoiceStatus', examples: [{ code: '210', reasonCode: 'DOUBLON', reason: 'Sent twice.' }] })
export type AnswerBody = Static<typeof AnswerBody>

export const AnswerView = Type.Object({
  statusId: Uuid,
  code: Type.String({ examples: ['205'] }),
  name: Type.String({ examples: ['Approuvée'] }),
  at: Type.String({ format: 'date-time', description: 'When it came to be.' }),
  reasonCode: Type.Optional(Type.String()),
  reason: Type.Optional(Type.String()),
  amount: Type.Optional(Amount),
  state: Type.Enum([...answerStates], {
    description: 'said: the platform has it. refused: it does not take it. uncertain: it may have it; it is asked again by itself.'
  }),
  message: Type.Optional(Type.String({ description: 'Why, where it is not said.' })),
  userId: Type.Integer({ description: 'Who has said it.' }),
  askedAt: Timestamp
}, { title: 'ReceivedInvoiceStatus' })
export type AnswerView = Static<typeof AnswerView>

const Text = Type.String()

/** An e-invoice that has come to a company. What the file says stands only where it could be read. */
export const ReceivedInvoiceView = Type.Object({
  id: Uuid,
  provider: Type.String({ description: 'The code of the provider by which it came.', examples: ['flow'] }),
  remoteId: Type.String({ description: 'The id of its file there.' }),
  sandbox: Type.Boolean({ description: 'It came through a test environment.' }),
  state: Type.Enum([...receivedStates], {
    description: 'fetching: the provider has listed it, and its file is still to come. unreadable: `problem` says why.'
  }),
  problem: Type.Union([Type.Object({ code: Text, message: Text }), Type.Null()]),
  file: Type.Union([
    Type.Object({ filename: Text, contentType: Text, size: Type.Integer(), sha256: Text }),
    Type.Null()
  ], { description: 'null: there is none, or it cannot be had.' }),
  invoice: Type.Union([
    Type.Object({
      format: Type.Enum([...eInvoiceFormats]),
      profile: Type.Enum([...eInvoiceProfiles]),
      number: Type.Optional(Text),
      type: Type.Optional(Text),
      date: Type.Optional(Text),
      dueDate: Type.Optional(Text),
      currency: Type.Optional(Text),
      total: Text,
      amountDue: Text,
      seller: Type.Optional(Text),
      sellerId: Type.Optional(Type.String({ description: 'The SIREN of the seller, or its VAT number.' })),
      customer: Type.Optional(Text),
      brokenRules: Type.Integer({ minimum: 0, description: 'How many rules of its profile it breaks.' })
    }),
    Type.Null()
  ], { description: 'What it says; the whole of it is in its file.' }),
  status: Type.Union([Type.String(), Type.Null()], { description: 'The code that the company has said last.', examples: ['205'] }),
  receivedAt: { ...Timestamp, description: 'When it came to the provider, or else to this service.' },
  keptUntil: { ...Timestamp, description: 'Then it is deleted here.' }
}, { title: 'ReceivedInvoice' })
export type ReceivedInvoiceView = Static<typeof ReceivedInvoiceView>

/** The same with all that was said of it, the oldest first, and what may be said now. */
export const ReceivedInvoiceDetails = Type.Object({
  ...ReceivedInvoiceView.properties,
  statuses: Type.Array(AnswerView),
  sayable: Type.Array(Type.String(), { description: 'The codes that may be said now.' })
}, { title: 'ReceivedInvoiceDetails' })
export type ReceivedInvoiceDetails = Static<typeof ReceivedInvoiceDetails>

export const ReceivedQuery = Type.Object({
  ...UuidPageQuery.properties,
  state: Type.Optional(Type.Enum([...receivedStates])),
  status: Type.Optional(Type.Enum(['none', ...buyerCodes], { description: 'What was said last; none: nothing.' })),
  number: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: 'The number of the invoice.' }))
}, closed)
export type ReceivedQuery = Static<typeof ReceivedQuery>

export const FileQuery = Type.Object({
  format: Type.Optional(
    Type.Enum(['original', 'json', 'html', 'pdf'], {
      default: 'original',
      description: 'original: the file itself. json: what it says, as `POST /api/v1/e-invoices/read` answers. html, pdf: a page for people.'
    })
  ),
  language: Type.Optional(
    Type.String({
      maxLength: 20,
      pattern: '^[a-z]{2}(-[A-Za-z]{4})?(-([A-Za-z]{2}|[0-9]{3}))?$',
      examples: ['fr', 'en-US'],
      description: 'The language of the page.'
    })
  )
}, closed)
export type FileQuery = Static<typeof FileQuery>

/** A provider by which e-invoices can come. */
export const ReceptionView = Type.Object({
  provider: Type.String({ examples: ['flow'] }),
  name: Type.String({ examples: ['AFNOR Flow Service'] }),
  sandbox: Type.Boolean(),
  says: Type.Boolean({ description: 'Whether statuses can be said of what comes by it.' }),
  receives: Type.Boolean({ description: 'Whether it is asked for e-invoices.' }),
  since: Type.Union([Timestamp, Type.Null()], { description: 'Since when what has come is taken in.' }),
  lookedAt: Type.Union([Timestamp, Type.Null()], { description: 'When it was last asked.' }),
  problem: Type.Union([Type.String(), Type.Null()], { description: 'Why it could not be asked, or could not answer.' })
}, { title: 'Reception' })
export type ReceptionView = Static<typeof ReceptionView>

export const ReceptionBody = Type.Object({
  receives: Type.Boolean(),
  since: Type.Optional(
    Type.String({
      pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d([.]\\d{1,9})?(Z|[+-]\\d\\d:\\d\\d)$',
      description: 'Since when what has come is taken in: RFC 3339. Without it where it went on last, or else from now on.',
      examples: ['2026-09-01T00:00:00Z']
    })
  )
}, { ...closed, title: 'NewReception', examples: [{ receives: true, since: '2026-09-01T00:00:00Z' }] })
export type ReceptionBody = Static<typeof ReceptionBody>
