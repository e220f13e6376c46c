import type { Json } from '@dispatch/common'
import { isDeliveryService } from '@dispatch/contract'
import { type ProvidedName, services } from '@dispatch/services'
import { type Html, html } from '../html.ts'
import type { Support } from './support.ts'

/** A column of the table of a service: what stands in it for a provider. */
export type SupportColumn = { title: string, cell: (support: Support) => string | Html }

/** The columns of a service: the words in which its providers declare what they can do, and what holds for all. */
export function columnsOf (name: ProvidedName): SupportColumn[] {
  return [
    ...Object.entries(services[name].capabilities.properties).map(([field, schema]) => ({
      title: words(field),
      cell: capability(field, schema)
    })),
    {
      title: 'limits',
      cell: ({ limits }) =>
        limits.length === 0
          ? unlimited
          : html`<ul>${limits.map(({ words, because }) => html`<li>${words}${because === undefined ? '' : `. ${because}`}</li>`)}</ul>`
    },
    { title: 'idempotency', cell: ({ idempotency }) => kept(idempotency) },
    ...isDeliveryService(name) ? [tracking] : [],
    ...isDeliveryService(name) ? [webhook] : [],
    { title: 'verbs', cell: ({ verbs }) => list(verbs) }
  ]
}

const unlimited = '—'

const tracking: SupportColumn = { title: 'delivery tracking', cell: ({ statuses = [] }) => list(statuses) }
const webhook: SupportColumn = { title: 'webhook', cell: ({ webhook }) => webhook === undefined ? 'no' : list(webhook) }

/** `documentTypes` as `document types`. */
function words (field: string): string {
  return field.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
}

type Declared = { type?: unknown, default?: Json, anyOf?: readonly Declared[] }

/** What is not declared counts as the schema says: its default, a yes or no as no, anything else as no limit. */
function capability (field: string, schema: Declared): SupportColumn['cell'] {
  const otherwise = schema.default ?? (isYesOrNo(schema) ? false : undefined)
  return ({ capabilities }) => shown(Object.entries<Json>(capabilities).find(([name]) => name === field)?.[1] ?? otherwise)
}

function isYesOrNo ({ type, anyOf = [] }: Declared): boolean {
  return type === 'boolean' || anyOf.some(isYesOrNo)
}

function shown (value: Json | undefined): string | Html {
  if (value === undefined) return unlimited
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value)) return list(value.map(String))
  return typeof value === 'number' ? value.toLocaleString('en') : typeof value === 'string' ? value : JSON.stringify(value)
}

/** So many stand in a cell without being asked for. */
const maxShown = 12

function list (values: readonly string[]): string | Html {
  if (values.length === 0) return 'no'
  const text = values.join(', ')
  return values.length <= maxShown ? text : html`<details><summary>${String(values.length)}</summary>${text}</details>`
}

/** How the provider keeps a request from being dispatched twice. */
function kept (idempotency: Support['idempotency']): string {
  if (idempotency.kind === 'key') return `key for ${duration(idempotency.ttl)}`
  return idempotency.kind === 'lookup' ? 'look-up' : 'no'
}

const units = [[86_400, 'day'], [3600, 'hour'], [60, 'minute'], [1, 'second']] as const

/** Seconds, in the largest unit of which they are a whole number. */
function duration (seconds: number): string {
  const [size, unit] = units.find(([size]) => seconds % size === 0) ?? units[3]
  return new Intl.NumberFormat('en', { style: 'unit', unit, unitDisplay: 'long' }).format(seconds / size)
}
