import { type Html, html } from '../../html.ts'
import { creditsOf, fill, serviceNames, type Words } from '../language/language.ts'
import { type DispatchView, type ProviderView, withQuery } from '../session/api.ts'
import { type LongList, longTable } from './columns.ts'
import { type Filter, filterOf } from './dispatches-filter.ts'
import { badge, time } from './layout.ts'
import { providerTitle } from './provider-names.ts'

type Known = { words: Words, providers: readonly ProviderView[] }

const text = (value: string | null | undefined): string => value ?? ''

/** What a table of dispatches can show. */
export const dispatchList: LongList<DispatchView, Known> = {
  name: 'dispatches',
  first: { title: ({ dispatch }) => dispatch, cell: (dispatch, { words }) => titleOf(words, dispatch) },
  columns: {
    status: { title: ({ status }) => status, cell: ({ status }, { words }) => badge(words, 'status', status) },
    recipient: { title: ({ recipient }) => recipient, cell: ({ recipient }) => text(recipient) },
    number: { title: ({ number }) => number, cell: ({ documentNumber }) => text(documentNumber), isNumber: true },
    provider: { title: ({ provider }) => provider, cell: ({ steps }, { providers }) => providersOf(steps, providers) },
    created: { title: ({ created }) => created, cell: ({ createdAt }) => time(createdAt) },
    finished: { title: ({ finished }) => finished, cell: ({ finishedAt }) => finishedAt === null ? '' : time(finishedAt) },
    price: { title: ({ price }) => price, cell: ({ creditsCharged }, { words }) => creditsOf(words, creditsCharged), isNumber: true },
    metadata: {
      title: ({ metadata }) => metadata,
      cell: ({ metadata }) => Object.entries(metadata).map(([name, value]) => `${name}: ${value}`).join(', ')
    },
    id: { title: ({ dispatchId }) => dispatchId, cell: ({ dispatchId }) => html`<code>${dispatchId}</code>` }
  },
  usual: ['status', 'recipient', 'number', 'provider', 'created']
}

/** The field of a form that is sent from a list, and leads back to it. */
export function listField (filter: Filter): Html {
  return html`<input type="hidden" name="list" value="${withQuery('', filter)}">`
}

/** The address of the list from which a form was sent. */
export function listOf (body: URLSearchParams): string {
  return withQuery('/console/dispatches', filterOf(Object.fromEntries(new URLSearchParams(body.get('list') ?? ''))))
}

/** How a table of dispatches is shown. `chosenBy`: the form that is sent with those that its reader has chosen. */
type Shown = { columns?: readonly string[], chosenBy?: string }

export function dispatchTable (
  words: Words,
  dispatches: readonly DispatchView[],
  providers: readonly ProviderView[],
  { columns: shown = dispatchList.usual, chosenBy }: Shown = {}
): Html {
  return longTable(dispatchList, {
    label: words.dispatches,
    rows: dispatches,
    known: { words, providers },
    shown,
    ...chosenBy !== undefined && {
      pick: {
        title: html`<span class="skip">${words.chosen}</span>`,
        cell: (dispatch: DispatchView) => choiceOf(words, dispatch, chosenBy)
      }
    }
  })
}

function titleOf (words: Words, { dispatchId, services: path, test }: DispatchView): Html {
  return html`<a href="/console/dispatches/${dispatchId}">${serviceNames(words, path, ' + ')}</a>${
    test === true ? html` <span class="badge">${words.testData}</span>` : html``
  }`
}

/** The name finds the row again when the list is renewed. */
function choiceOf (words: Words, dispatch: DispatchView, form: string): Html {
  const { dispatchId, services, documentNumber, recipient } = dispatch
  const name = [serviceNames(words, services, ' + '), documentNumber, recipient].filter((part) => part !== undefined).join(' · ')
  return html`<input type="checkbox" form="${form}" name="${chosenPrefix}${dispatchId}" value="${chosenOf(dispatch)}" aria-label="${
    fill(words.choose, { name })
  }">`
}

const chosenPrefix = 'dispatch-'

/** What a form says of a dispatch: its id, and when it ended. */
export function chosenOf ({ dispatchId, finishedAt }: DispatchView): string {
  return `${dispatchId} ${finishedAt ?? ''}`
}

/** Those that the reader has chosen in the list, as {@link chosenOf} says it. */
export function chosenIn (body: URLSearchParams): string[] {
  return [...body].filter(([name]) => name.startsWith(chosenPrefix)).map(([, value]) => value)
}

function providersOf (steps: DispatchView['steps'], providers: readonly ProviderView[]): Html {
  const codes = [...new Set(steps.flatMap(({ providerName }) => providerName ?? []))]
  return html`${codes.map((code, index) => html`${index === 0 ? '' : ', '}${providerTitle(providers, code)}`)}`
}
