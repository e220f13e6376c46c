import type { Problem } from '@dispatch/common'
import { actionCodes, amountKinds, factsOf, isStatusCode, reasonedStatuses, roles, statusTypes } from './status-codes.ts'

/** Somebody in a message. `id` has a scheme of ISO 6523: 0002 is the SIREN, 0238 a platform; `address` one of the directory: 0225. */
export type StatusParty = {
  role: string
  id?: { id: string, scheme: string }
  name?: string
  address?: { id: string, scheme: string }
}

/** An amount or a datum of a status. Amounts and rates are decimals, `date` is YYYY-MM-DD; `of` is the datum that it is about: BT-152. */
export type StatusAmount = {
  kind: string
  of?: string
  name?: string
  amount?: string
  currency?: string
  rate?: string
  date?: string
  isChanged?: boolean
}

/** Why, what is to be done, and how much. */
export type StatusDetail = { reasonCode?: string, reason?: string, actionCode?: string, action?: string, amounts?: readonly StatusAmount[] }

/**
 * A status of an invoice in the French life cycle, as platforms tell each other (CDAR, UN/CEFACT D22B; AFNOR XP Z12-012). Times are ISO
 * 8601 without an offset, as the messages have them.
 */
export type InvoiceStatus = {
  /** The unique id of the message (MDT-4). */
  id: string
  /** MDT-2. */
  process: string
  code: string
  name: string
  /** When the message was made, and when the status came to be (MDT-8, MDT-78). */
  issued: string
  at: string
  invoice: { number: string, type: string, date?: string, received?: string, seller?: { id: string, scheme: string } }
  sender: StatusParty
  issuer: StatusParty
  recipients: readonly StatusParty[]
  details: readonly StatusDetail[]
}

/** MDT-3: the message is about an invoice. */
export const statusGuideline = 'urn.cpro.gouv.fr:1p0:CDV:invoice'

const processes: ReadonlySet<string> = new Set(['REGULATED', 'NON_REGULATED', 'B2C', 'B2CINT', 'B2BINT', 'OUTOFSCOPE'])

type StatusRule = { id: string, at: string, message: string, holds: (status: InvoiceStatus) => boolean }

const phaseOf = ({ code }: InvoiceStatus): string => isStatusCode(code) ? factsOf(code).phase : '23'
const collected = ({ details }: InvoiceStatus): StatusAmount[] =>
  details.flatMap(({ amounts = [] }) => amounts.filter(({ kind }) => kind === 'MEN'))

/** The rules of French platforms about messages (BR-FR-CDV-* of 1.4.0.03). The message that is written keeps those that are left out. */
const rules: readonly StatusRule[] = [
  {
    id: 'BR-FR-04',
    at: '/invoice/type',
    message: 'The type of the invoice is one of those of French platforms (MDT-91).',
    holds: ({ invoice }) => statusTypes.has(invoice.type)
  },
  { id: 'BR-FR-CDV-03', at: '/id', message: 'A message has an id (MDT-4).', holds: ({ id }) => id !== '' },
  {
    id: 'BR-FR-CDV-07',
    at: '/issuer/id',
    message: 'Who treats an invoice is named by an id (MDT-38), and a platform is not.',
    holds: (status) => (phaseOf(status) === '23') === (status.issuer.id !== undefined)
  },
  {
    id: 'BR-FR-CDV-08',
    at: '/recipients',
    message: 'Who gets a message, but for platforms and the portal, has an electronic address (MDT-73).',
    holds: ({ recipients }) => recipients.every(({ role, address }) => ['WK', 'DFH'].includes(role) || address !== undefined)
  },
  {
    id: 'BR-FR-CDV-10',
    at: '/invoice/number',
    message: 'The invoice has a number (MDT-87).',
    holds: ({ invoice }) => invoice.number !== ''
  },
  {
    id: 'BR-FR-CDV-11',
    at: '/invoice/date',
    message: 'The invoice has a date of issue (MDG-35).',
    holds: ({ invoice, code }) => code === '501' || invoice.date !== undefined
  },
  {
    id: 'BR-FR-CDV-13',
    at: '/invoice/seller',
    message: 'The seller of the invoice is named by an id (MDT-129).',
    holds: ({ invoice, code }) => code === '501' || invoice.seller !== undefined
  },
  {
    id: 'BR-FR-CDV-14',
    at: '/details',
    message: 'What has been received (212) says how much with each rate of VAT: MEN with amount and rate.',
    holds: (status) =>
      status.code !== '212' ||
      (collected(status).length > 0 && collected(status).every(({ amount, rate }) => amount !== undefined && rate !== undefined))
  },
  {
    id: 'BR-FR-CDV-15',
    at: '/details',
    message: 'The statuses 206, 207, 208, 210 and 213 say why, with the code of a reason (MDT-113).',
    holds: ({ code, details }) => !reasonedStatuses.has(code) || details.some(({ reasonCode }) => reasonCode !== undefined)
  },
  {
    id: 'BR-FR-CDV-CL-01',
    at: '/process',
    message: `The process is one of ${[...processes].join(', ')} (MDT-2).`,
    holds: ({ process }) => processes.has(process)
  },
  {
    id: 'BR-FR-CDV-CL-02',
    at: '/sender/role',
    message: 'A platform (WK) or a party sends the message; of a transmission a platform (MDT-21).',
    holds: (status) => phaseOf(status) === '305' ? status.sender.role === 'WK' : roles.has(status.sender.role)
  },
  {
    id: 'BR-FR-CDV-CL-03',
    at: '/issuer/role',
    message: 'A platform (WK) says what the transmission is, a party what the treatment is (MDT-40).',
    holds: (status) => (status.issuer.role === 'WK') === (phaseOf(status) === '305') && roles.has(status.issuer.role)
  },
  {
    id: 'BR-FR-CDV-CL-04',
    at: '/recipients',
    message: 'Who gets a message has a role such as SE, BY or DFH (MDT-59).',
    holds: ({ recipients }) => recipients.every(({ role }) => roles.has(role))
  },
  {
    id: 'BR-FR-CDV-CL-09',
    at: '/details',
    message: 'A reason has a code that its status takes (MDT-113).',
    holds: ({ code, details }) => {
      const known = isStatusCode(code) ? factsOf(code).reasons : undefined
      return details.every(({ reasonCode }) => reasonCode === undefined || known?.includes(reasonCode) !== false)
    }
  },
  {
    id: 'BR-FR-CDV-CL-10',
    at: '/details',
    message: `What is to be done is one of ${[...actionCodes].join(', ')} (MDT-121).`,
    holds: ({ details }) => details.every(({ actionCode }) => actionCode === undefined || actionCodes.has(actionCode))
  },
  {
    id: 'BR-FR-CDV-CL-11',
    at: '/details',
    message: `An amount is one of ${[...amountKinds].join(', ')} (MDT-207).`,
    holds: ({ details }) => details.every(({ amounts = [] }) => amounts.every(({ kind }) => amountKinds.has(kind)))
  }
]

/** The rules that a status breaks, each with its place in it. */
export function checkStatus (status: InvoiceStatus): Problem[] {
  return rules.flatMap(({ id, at, message, holds }) => holds(status) ? [] : [{ path: at, code: id, message }])
}

/** A status that cannot be written, with the rules that it breaks. */
export class BrokenStatus extends Error {
  override name = 'BrokenStatus'
  readonly problems: readonly Problem[]

  constructor (problems: readonly Problem[]) {
    super(`The status breaks ${problems.map(({ code, path }) => `${code} at ${path}`).join(', ')}.`)
    this.problems = problems
  }
}
