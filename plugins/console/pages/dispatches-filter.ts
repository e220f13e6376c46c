import { type Html, html } from '../../html.ts'
import { choiceField, textField } from '../form/fields.ts'
import { type Query, readFilter, textOf } from '../form/filter.ts'
import { optionsFor, type Words } from '../language/language.ts'
import { deliveryMarks, deliveryStatuses, type ProviderView, searchedStepStatuses, usualStepErrors, withQuery } from '../session/api.ts'
import { serviceNames } from '../session/services.ts'
import type { Visit } from '../session/visit.ts'
import { folded } from './layout.ts'
import { choicesOf, type People, readPeople } from './people.ts'
import { providerOptions, readProviders } from './provider-names.ts'

/** What is filtered by, as the API calls it; a pair of metadata has two fields. All of it stands in the address of the page. */
const [first, more, metadata] = [['search', 'status', 'service', 'from', 'to'], ['providerName', 'stepStatus', 'error', 'deliveryStatus',
  'deliveryMark', 'userId', 'invoiceNumber', 'recipient', 'deferred', 'scheduled'], ['metadataName', 'metadataValue']] as const
const fields = [...first, ...more, ...metadata, 'cursor'] as const

export type Filter = Readonly<Record<typeof fields[number], string>>

const statuses = ['queued', 'running', 'succeeded', 'failed', 'partial', 'uncertain', 'cancelled']
const deferred = ['waiting', 'running', 'done', 'failed', 'skipped']

/** The filter in the address of a page. */
export function filterOf (query: Query): Filter {
  // Addresses that were kept from when ids had a field of their own.
  const { search, ...filter } = readFilter(query, fields)
  return { ...filter, search: search === '' ? textOf(query['id']) : search }
}

/** The same filter for the API, of what is real or of tests. */
export function apiFilterOf (
  { mode }: Pick<Visit, 'mode'>,
  { metadataName, metadataValue, ...filter }: Filter
): Readonly<Record<string, string>> {
  const among = { ...filter, test: String(mode === 'test') }
  return metadataName === '' ? among : { ...among, [`metadata[${metadataName}]`]: metadataValue }
}

/** The field that is missing of a pair of metadata. Half a pair filters by nothing: what is done with all found would be done with all. */
export function missingIn ({ metadataName, metadataValue }: Filter): typeof metadata[number] | undefined {
  if ((metadataName === '') === (metadataValue === '')) return undefined
  return metadataName === '' ? 'metadataName' : 'metadataValue'
}

export function isFiltered (filter: Filter): boolean {
  return fields.some((name) => filter[name] !== '')
}

/** Filters that people need again and again. */
const views: readonly [word: `view_${string}` & keyof Words, fields: Partial<Filter>][] = [
  ['view_all', {}],
  ['view_failed', { status: 'failed' }],
  ['view_partial', { status: 'partial' }],
  ['view_uncertain', { status: 'uncertain' }],
  ['view_queued', { status: 'queued' }],
  ['view_unavailable', { stepStatus: 'unavailable' }],
  ['view_returned', { deliveryStatus: 'returned' }],
  ['view_scheduled', { scheduled: 'true' }]
]

/** The address of a filter, without the place in its list. */
function placeOf (filter: Partial<Filter>): string {
  return withQuery('', { ...filter, cursor: '' })
}

export function viewLinks (words: Words, filter: Filter): Html {
  const now = placeOf(filter)
  return html`<nav class="views" aria-label="${words.views}">${
    views.map(([word, view]) =>
      html`<a href="${withQuery('/console/dispatches', view)}"${now === placeOf(view) ? html` aria-current="page"` : html``}>${
        words[word]
      }</a>`
    )
  }</nav>`
}

/** What can be chosen from. */
export type Choices = { providers: readonly ProviderView[], people: People }

export async function readChoices (visit: Visit): Promise<Choices> {
  const [providers, people] = await Promise.all([readProviders(visit), readPeople(visit)])
  return { providers, people }
}

export function filterForm (visit: Visit, filter: Filter, choices: Choices): Html {
  const { words } = visit
  const text = (name: keyof Filter, label: string, type = 'text'): Html =>
    textField({ name, label, value: filter[name], type, isSought: true })
  const missing = missingIn(filter)
  const half = (name: typeof metadata[number], label: string): Html =>
    textField({ name, label, value: filter[name], refused: name === missing ? words.metadataHalf : undefined, isSought: true })
  const isOpen = [...more, ...metadata].some((name) => filter[name] !== '')
  const isView = views.some(([, view]) => placeOf(view) === placeOf(filter))
  return folded(words, !isView, html`<form action="/console/dispatches"><div class="filters">
${textField({ name: 'search', label: words.search, help: words.searchHelp, value: filter.search, type: 'search' })}
${choice(words, filter, 'status', words.status, optionsFor(words, 'status', statuses))}
${choice(words, filter, 'service', words.service, optionsFor(words, 'service', serviceNames))}
${text('from', words.from, 'date')}
${text('to', words.before, 'date')}</div>
<details${isOpen ? html` open` : html``}><summary>${words.moreFilters}</summary><div class="filters">${moreChoices(visit, filter, choices)}
${text('invoiceNumber', words.number)}
${text('recipient', words.recipient)}
${half('metadataName', words.metadataName)}
${half('metadataValue', words.metadataValue)}</div></details>
<div class="actions"><button>${words.show}</button><a href="/console/dispatches">${words.showAll}</a>${
    isView ? html`` : html`<span class="quiet">${words.filterKept}</span>`
  }</div>
</form>`)
}

type Option = { value: string, label: string }

function choice (words: Words, filter: Filter, name: keyof Filter, label: string, options: readonly Option[]): Html {
  const value = filter[name]
  // What a kept address names may not be there any more.
  const known = value === '' || options.some((option) => option.value === value)
  return choiceField({ name, label, value, options: known ? options : [...options, { value, label: value }], none: words.any })
}

function moreChoices ({ words, actor }: Visit, filter: Filter, { providers, people }: Choices): Html {
  const others = choicesOf(people).filter(({ value }) => value !== String(actor.userId))
  const senders = [{ value: String(actor.userId), label: words.senderMe }, ...others]
  const stepOptions = optionsFor(words, 'status', searchedStepStatuses)
  const deliveryOptions = optionsFor(words, 'delivery', deliveryStatuses)
  const deferredOptions = optionsFor(words, 'deferred', deferred)
  return html`${choice(words, filter, 'providerName', words.provider, providerOptions(providers))}
${choice(words, filter, 'stepStatus', words.stepStatus, stepOptions)}
${choice(words, filter, 'error', words.stepError, optionsFor(words, 'fault', usualStepErrors))}
${choice(words, filter, 'deliveryStatus', words.delivery, deliveryOptions)}
${choice(words, filter, 'deliveryMark', words.deliveryMark, optionsFor(words, 'delivery', deliveryMarks))}
${choice(words, filter, 'deferred', words.deferredAction, deferredOptions)}
${
    choice(words, filter, 'scheduled', words.schedule, [
      { value: 'true', label: words.scheduledOnly },
      { value: 'false', label: words.scheduledNone }
    ])
  }
${
    people.hasMore
      ? textField({ name: 'userId', label: words.senderNumber, value: filter.userId, suggestions: senders, isSought: true })
      : choice(words, filter, 'userId', words.sender, senders)
  }`
}
