import { dayOf, isCurrency, isDecimal, placeLine, withoutNoise } from '@dispatch/common'
import { type Context, Liquid } from 'liquidjs'
import type { Decimal, PageField } from '../model/document.ts'
import { renderError } from '../model/errors.ts'
import { formatCountry, formatDate, formatMoney, formatNumber, formatPercent, isDateStyle } from './format.ts'
import { escapeMarkup, pageMark } from './markup.ts'
import { countedOperators, countFilters, countTags } from './work.ts'

/** Tags that neither read files nor define templates. */
const allowedTags = new Set(['if', 'unless', 'case', 'for', 'break', 'continue', 'assign', 'comment', '#'])

/** The values of `page` and `pages` in a header or footer: the numbers are known only after the layout. */
export const pageFields = { page: Object.freeze({ field: 'page' }), pages: Object.freeze({ field: 'pages' }) } as const satisfies Record<
  PageField,
  object
>

/** Names that no expression can write. Under them, the filters find the document's locale and currency. */
export const settingNames = { locale: ' locale', currency: ' currency' } as const

/** The only Liquid engine: it evaluates the expressions of templates, with its work counted, without files and prototypes. */
export const engine = makeEngine()

function makeEngine (): Liquid {
  const liquid = new Liquid({
    strictVariables: true,
    strictFilters: true,
    ownPropertyOnly: true,
    lenientIf: true,
    parseLimit: 1e5,
    dynamicPartials: false,
    operators: countedOperators,
    outputEscape: escapeCounted
  })
  for (const name of Object.keys(liquid.tags)) if (!allowedTags.has(name)) Reflect.deleteProperty(liquid.tags, name)
  liquid.registerFilter('money', function (value: unknown, currency?: unknown, digits?: unknown) {
    return money(value, { currency: currency ?? setting(this.context, 'currency'), digits, locale: setting(this.context, 'locale') })
  })
  liquid.registerFilter('number', function (value: unknown, digits?: unknown) {
    return formatNumber(decimal(value), setting(this.context, 'locale'), count(digits))
  })
  liquid.registerFilter('percent', function (value: unknown, digits?: unknown) {
    return formatPercent(decimal(value), setting(this.context, 'locale'), count(digits))
  })
  liquid.registerFilter('date', function (value: unknown, style?: unknown) {
    return date(value, style ?? 'medium', setting(this.context, 'locale'))
  })
  liquid.registerFilter('country', function (value: unknown) {
    return formatCountry(liquidText(value, nowhere), setting(this.context, 'locale'))
  })
  liquid.registerFilter('place', (city: unknown, ...rest: unknown[]) => place(city, rest))
  countTags(liquid)
  countFilters(liquid)
  return liquid
}

function escapeCounted (this: { context: Context }, value: unknown): string {
  const text = escapeOutput(value)
  this.context.memoryLimit.use(text.length)
  return text
}

/** The place of a value that only the caller knows. */
const nowhere = (): string => ''

/** The markup that shows exactly this value. */
export function escapeOutput (value: unknown): string {
  if (value === pageFields.page) return pageMark('page')
  if (value === pageFields.pages) return pageMark('pages')
  return escapeMarkup(liquidText(value, nowhere))
}

/** The text that prose shows for the value at `at`. Throws a RenderError for an object or a list, which have no text. */
export function liquidText (value: unknown, at: () => string): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (value === undefined || value === null) return ''
  throw renderError(at(), 'not_text', `Expected a text or a number to show, got ${Array.isArray(value) ? 'a list' : 'an object'}.`)
}

function setting (context: Context, name: keyof typeof settingNames): string {
  return String((context.globals as Record<string, unknown>)[settingNames[name]])
}

function money (value: unknown, { currency, digits, locale }: { currency: unknown, digits: unknown, locale: string }): string {
  if (typeof currency !== 'string' || !isCurrency(currency)) {
    throw renderError('', 'unknown_currency', 'Expected an ISO 4217 currency code, such as EUR.')
  }
  return formatMoney(decimal(value), currency, locale, count(digits))
}

function decimal (value: unknown): Decimal {
  if (isDecimal(value)) return withoutNoise(value)
  throw renderError('', 'not_a_number', 'Expected a number or a decimal text, such as "12.50".')
}

function count (digits: unknown): number | undefined {
  if (digits === undefined || (typeof digits === 'number' && Number.isInteger(digits) && digits >= 0 && digits <= 12)) return digits
  throw renderError('', 'bad_filter', 'The number of decimals must be a whole number from 0 to 12.')
}

/** The last line of an address; the arguments are its other parts. */
function place (city: unknown, rest: readonly unknown[]): string {
  const [postalCode = '', country = '', state = ''] = rest.map((part) => liquidText(part, nowhere))
  return placeLine({ city: liquidText(city, nowhere), postalCode, country, state })
}

function date (value: unknown, style: unknown, locale: string): string {
  const day = dayOf(value)
  if (day === undefined) throw renderError('', 'not_a_date', 'Expected a date (YYYY-MM-DD) or a time (RFC 3339).')
  if (!isDateStyle(style)) throw renderError('', 'bad_filter', 'The style of a date must be short, medium, long or full.')
  return formatDate(day, locale, style)
}
