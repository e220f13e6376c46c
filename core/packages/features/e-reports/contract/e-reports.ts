import { Line, Uuid } from '@dispatch/common'
import { ProblemSchema, ProviderCode, Timestamp } from '@dispatch/contract'
import { reportKinds, salesCategories, type VatRegime, vatRegimes } from '@dispatch/einvoice'
import { type Static, Type } from 'typebox'

const closed = { additionalProperties: false } as const
const Day = Type.String({ examples: ['2026-10-14'], description: 'YYYY-MM-DD' })
const Amount = Type.String({ examples: ['120.00'], description: 'A decimal.' })
const Rate = Type.String({ examples: ['20'], description: 'In percent.' })
const Kind = Type.Enum([...reportKinds], {
  description: '`transactions`: invoices to businesses abroad, and sales to consumers. `payments`: what came in for services.'
})

/** What a company reports as. */
export const EReportSettings = Type.Object({
  siren: Type.String({ pattern: '^[0-9]{9}$', description: 'Of the company that reports.', examples: ['732829320'] }),
  name: Line(100, { description: 'Its name.', examples: ['Acme Tea'] }),
  platform: Type.Object({
    id: Type.String({ pattern: '^[A-Za-z0-9]{4}$', description: 'The number of its platform at the tax authority.', examples: ['0042'] }),
    name: Line(100, { examples: ['The platform'] })
  }, closed),
  regime: Type.Unsafe<VatRegime>(Type.Enum(Object.keys(vatRegimes), {
    description: Object.entries(vatRegimes).map(([name, meaning]) => `\`${name}\`: ${meaning}.`).join(' ')
  })),
  providerName: ProviderCode,
  usualNature: Type.Optional(
    Type.Enum(['GOODS', 'SERVICES'], { description: 'What an invoice is about that does not say it (`operationNature`).' })
  )
}, {
  ...closed,
  title: 'EReportSettings',
  examples: [{
    siren: '732829320',
    name: 'Acme Tea',
    platform: { id: '0042', name: 'The platform' },
    regime: 'NORMAL_MONTHLY',
    providerName: 'flow',
    usualNature: 'GOODS'
  }]
})
export type EReportSettings = Static<typeof EReportSettings>

export const NewEReport = Type.Object({
  kind: Kind,
  day: Type.String({ format: 'day', description: 'Any day of the period that is reported.', examples: ['2026-10-14'] })
}, { ...closed, title: 'NewEReport', examples: [{ kind: 'transactions', day: '2026-10-14' }] })
export type NewEReport = Static<typeof NewEReport>

/** The states of a report. */
export const reportStates = ['draft', 'sending', 'sent', 'accepted', 'refused', 'failed', 'uncertain', 'cancelled'] as const
export type ReportState = typeof reportStates[number]

const facts = {
  id: Uuid,
  kind: Kind,
  type: Type.Enum(['IN', 'RE'], {
    description: '`IN`: the first report of the period. `RE`: a correction, which takes the place of all before it.'
  }),
  period: Type.Object({
    start: Day,
    end: Day,
    due: Type.String({ description: 'The last day on which it may be sent, as it was when it was made.', examples: ['2026-10-30'] })
  }),
  state: Type.Enum([...reportStates], {
    description:
      '`draft`: nothing is sent. `sent`: the platform has it. `accepted`: it has checked it. `refused`: it does not take it. The ' +
      'others are those of the dispatch.'
  }),
  count: Type.Integer({ minimum: 0, description: 'How many invoices are in it, or how many with payments.' }),
  needed: Type.Integer({ minimum: 0, description: 'How many invoices are not in it that should be: `left` says why.' }),
  createdAt: Timestamp,
  dispatchId: Type.Union([Uuid, Type.Null()], { description: 'With what it was sent.' })
}

/** A report in a list. */
export const EReportSummary = Type.Object(facts, { title: 'EReportSummary' })
export type EReportSummary = Static<typeof EReportSummary>

const LeftOut = Type.Object({
  dispatchId: Uuid,
  number: Type.Optional(Type.String()),
  reason: Type.String({ examples: ['nature_unknown'] }),
  needed: Type.Boolean({
    description: 'true: it has to be reported, and somebody must mend it. false: it is told otherwise, or not at all.'
  }),
  message: Type.String({ examples: ['It does not say whether it is about goods or services (operationNature).'] }),
  problems: Type.Optional(Type.Array(ProblemSchema, { description: 'The rules of the tax authority that it breaks.' }))
})

export const EReportView = Type.Object({
  ...facts,
  invoices: Type.Array(
    Type.Object({
      number: Type.String(),
      date: Day,
      customer: Type.Optional(Type.String({ description: 'The id of the customer, in a report of transactions.' })),
      paid: Type.Optional(Day),
      base: Type.Optional(Amount),
      tax: Type.Optional(Amount),
      parts: Type.Optional(Type.Array(Type.Object({ rate: Rate, amount: Amount })))
    }),
    { description: 'Each invoice to a business abroad, or each payment of one.' }
  ),
  days: Type.Array(
    Type.Object({
      date: Day,
      category: Type.Optional(
        Type.Enum(Object.keys(salesCategories), {
          description: Object.entries(salesCategories).map(([code, meaning]) => `${code}: ${meaning}.`).join(' ')
        })
      ),
      base: Type.Optional(Amount),
      tax: Type.Optional(Amount),
      count: Type.Optional(Type.Integer()),
      parts: Type.Array(Type.Object({ rate: Rate, amount: Amount, base: Type.Optional(Amount) }))
    }),
    { description: 'What was sold to consumers, or came in from them, by day.' }
  ),
  left: Type.Array(LeftOut, { description: 'What is not in it, and why; what must be mended first, 1,000 at most.' }),
  leftCounts: Type.Record(Type.String(), Type.Integer(), {
    description: 'How many invoices are not in it, by reason.',
    examples: [{ domestic: 12 }]
  }),
  assumed: Type.Array(Uuid, {
    description: 'Invoices to customers abroad who are taken for consumers, because nothing says that they are businesses; 1,000 at most.'
  }),
  problems: Type.Array(ProblemSchema, { description: 'The rules that the report itself breaks: it cannot be sent.' })
}, { title: 'EReport' })
export type EReportView = Static<typeof EReportView>
