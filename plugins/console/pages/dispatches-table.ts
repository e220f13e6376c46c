import type { FastifyPluginCallback, FastifyRequest } from 'fastify'
import { type Html, html } from '../../html.ts'
import { manyField } from '../form/fields.ts'
import { creditsOf, fill, serviceNames, type Words } from '../language/language.ts'
import { type DispatchView, type ProviderView, withQuery } from '../session/api.ts'
import { readCookie, setCookie } from '../session/cookies.ts'
import { type Filter, filterOf } from './dispatches-filter.ts'
import { badge, table, time } from './layout.ts'
import { providerTitle } from './provider-names.ts'

type Known = { words: Words, providers: readonly ProviderView[] }
type Column = { title: (words: Words) => string, cell: (dispatch: DispatchView, known: Known) => Html, isNumber?: true }

const text = (value: string | null | undefined): Html => html`${value ?? ''}`

/** What a table of dispatches can show beside their services, in its order. */
const columns = {
  status: { title: ({ status }) => status, cell: ({ status }, { words }) => badge(words, 'status', status) },
  recipient: { title: ({ recipient }) => recipient, cell: ({ recipient }) => text(recipient) },
  number: { title: ({ number }) => number, cell: ({ documentNumber }) => text(documentNumber), isNumber: true },
  provider: { title: ({ provider }) => provider, cell: ({ steps }, { providers }) => providersOf(steps, providers) },
  created: { title: ({ created }) => created, cell: ({ createdAt }) => time(createdAt) },
  finished: { title: ({ finished }) => finished, cell: ({ finishedAt }) => finishedAt === null ? text('') : time(finishedAt) },
  price: { title: ({ price }) => price, cell: ({ creditsCharged }, { words }) => text(creditsOf(words, creditsCharged)), isNumber: true },
  metadata: {
    title: ({ metadata }) => metadata,
    cell: ({ metadata }) => text(Object.entries(metadata).map(([name, value]) => `${name}: ${value}`).join(', '))
  },
  id: { title: ({ dispatchId }) => dispatchId, cell: ({ dispatchId }) => html`<code>${dispatchId}</code>` }
} satisfies Readonly<Record<string, Column>>

type Name = keyof typeof columns
const names = Object.keys(columns) as readonly Name[]
const usual: readonly Name[] = ['status', 'recipient', 'number', 'provider', 'created']

/** How many of the columns a phone shows: the first ones. */
const onPhone = 2

/** In seconds. A browser keeps its own choice, as it keeps its language: a phone has room for other columns than a desk. */
const year = 31_536_000

/** The columns that the browser has kept; the usual ones where it has kept none. */
export function columnsOf (request: FastifyRequest): readonly Name[] {
  const kept = new Set((readCookie(request, 'columns') ?? '').split('.'))
  const known = names.filter((name) => kept.has(name))
  return known.length === 0 ? usual : known
}

/** Keeps the columns that were chosen. */
export const columnsPages: FastifyPluginCallback = (app, _options, done) => {
  app.post<{ Body: URLSearchParams }>('/dispatches/columns', (request, reply) => {
    const chosen = request.body.getAll('column')
    setCookie(reply, 'columns', names.filter((name) => chosen.includes(name)).join('.'), year)
    return reply.redirect(listOf(request.body), 303)
  })
  done()
}

/** The field of a form that is sent from a list, and leads back to it. */
export function listField (filter: Filter): Html {
  return html`<input type="hidden" name="list" value="${withQuery('', filter)}">`
}

/** The address of the list from which a form was sent. */
export function listOf (body: URLSearchParams): string {
  return withQuery('/console/dispatches', filterOf(Object.fromEntries(new URLSearchParams(body.get('list') ?? ''))))
}

/** The form in which its reader chooses the columns of the list. */
export function columnsForm (words: Words, shown: readonly Name[], filter: Filter): Html {
  const options = names.map((value) => ({ value, label: columns[value].title(words) }))
  return html`<details class="columns"><summary>${words.columns}</summary><form method="post" action="/console/dispatches/columns">${
    listField(filter)
  }${
    manyField({ name: 'column', label: words.columnsShown, help: words.columnsHelp, options, values: shown })
  }<div class="actions"><button class="second">${words.show}</button></div></form></details>`
}

/** How a table of dispatches is shown. `chosenBy`: the form that is sent with those that its reader has chosen. */
type Shown = { columns?: readonly Name[], chosenBy?: string }

export function dispatchTable (
  words: Words,
  dispatches: readonly DispatchView[],
  providers: readonly ProviderView[],
  { columns: shown = usual, chosenBy }: Shown = {}
): Html {
  const known = { words, providers }
  const rows = dispatches.map((dispatch) =>
    html`<tr>${chosenBy === undefined ? html`` : html`<td class="pick">${choiceOf(words, dispatch, chosenBy)}</td>`}<th scope="row">${
      titleOf(words, dispatch)
    }</th>${shown.map((name, index) => cellOf(columns[name], index, dispatch, known))}</tr>\n`
  )
  const titles = shown.map((name, index) => ({ title: columns[name].title(words), isBeside: index >= onPhone }))
  const pick = chosenBy === undefined ? [] : [html`<span class="skip">${words.chosen}</span>`]
  return table(words.dispatches, [...pick, words.dispatch, ...titles], rows)
}

function titleOf (words: Words, { dispatchId, services: path, test }: DispatchView): Html {
  return html`<a href="/console/dispatches/${dispatchId}">${serviceNames(words, path, ' + ')}</a>${
    test === true ? html` <span class="badge">${words.testData}</span>` : html``
  }`
}

function cellOf ({ cell, isNumber }: Column, index: number, dispatch: DispatchView, known: Known): Html {
  const classes = [...isNumber === true ? ['count'] : [], ...index >= onPhone ? ['beside-phone'] : []]
  return html`<td${classes.length === 0 ? html`` : html` class="${classes.join(' ')}"`}>${cell(dispatch, known)}</td>`
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
