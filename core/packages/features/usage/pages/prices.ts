import { errorOf, fill, type Html, html, notice, page, type Query, said, table, textField, type Typed, withQuery, wordFor,
  wrongOf } from '@dispatch/plugins/console'
import type { FastifyPluginCallback } from 'fastify'
import { type Price, type PricesView, priceUnits } from '../contract/prices.ts'
import type { UsageView } from '../contract/usage.ts'
import { type Visit, visitOf, type Words } from './words.ts'

const at = '/console/usage/prices'
const apiPath = '/api/v1/usage/prices'

/** What a price is of: a provider of a service, or the service itself. */
type Of = { service: string, providerName?: string | undefined }
type Provider = { state: string, code?: string, name?: string, services?: Record<string, unknown> }

/** What the company pays. */
export const pricePages: FastifyPluginCallback = (app, _options, done) => {
  app.get<{ Querystring: Query }>('/usage/prices', async (request, reply) => {
    const visit = visitOf(request)
    const reported = request.query['saved'] === undefined ? html`` : notice('good', html`<p>${visit.words.pricesSaved}</p>`)
    return reply.page(await view(visit, reported))
  })

  app.post<{ Body: URLSearchParams }>('/usage/prices', async (request, reply) => {
    const [visit, { body }] = [visitOf(request), request]
    const saved = await visit.api.send('PUT', apiPath, pricesIn(body))
    if (saved.ok) return reply.redirect(`${at}?saved=1#main`, 303)
    return reply.code(saved.status).page(await view(visit, html``, { body, error: errorOf(saved) }))
  })
  done()
}

/** A comma is how half of Europe writes a decimal. */
const amountIn = (text: string | null): string => (text ?? '').trim().replace(/^(\d+),(\d+)$/, '$1.$2')

function pricesIn (body: URLSearchParams): { currency: string, prices: Price[] } {
  const credit = amountIn(body.get('credit'))
  const lines = body.getAll('of').flatMap((of, index) => {
    const [amount, [service = '', providerName]] = [amountIn(body.getAll('amount')[index] ?? ''), of.split(' ')]
    const unit = priceUnits.find((one) => one === body.getAll('unit')[index]) ?? 'dispatch'
    return amount === '' ? [] : [{ unit, service, ...providerName !== undefined && { providerName }, amount }]
  })
  return {
    currency: (body.get('currency') ?? '').trim().toUpperCase(),
    prices: [...credit === '' ? [] : [{ unit: 'credit' as const, amount: credit }], ...lines]
  }
}

const nameOfLine = ({ service, providerName }: Of): string => [service, ...providerName === undefined ? [] : [providerName]].join(' ')

async function view (visit: Visit, message: Html, typed?: Typed): Promise<Html> {
  const { words, api, actor: { role } } = visit
  const year = new Date(Date.now() - 365 * 86_400_000).toISOString().slice(0, 10)
  const [stored, used, { data: providers }] = await Promise.all([
    api.read<PricesView>(apiPath),
    api.read<UsageView>(withQuery('/api/v1/usage', { by: 'service,provider', from: year })),
    api.read<{ data: Provider[] }>('/api/v1/providers?schemas=false')
  ])
  const shown = typed === undefined ? stored : pricesIn(typed.body)
  const lines = linesOf([
    ...shown.prices.flatMap(({ service, providerName }) => service === undefined ? [] : [{ service, providerName }]),
    ...used.data.flatMap(({ service, provider }) =>
      service === undefined || provider === undefined || provider === null ? [] : [{ service, providerName: provider }]
    )
  ])
  const nameOf = (of: Of): string => {
    const provider = providers.find(({ code }) => code === of.providerName)?.name ?? of.providerName ?? words.pricesAnyProvider
    return `${wordFor(words, 'service', of.service)} · ${provider}`
  }
  const naming = { shown, lines, nameOf }
  const main = html`<p><a href="/console/usage">${words.budgetBack}</a></p>${message}
<section aria-label="${words.prices}"><p>${words.pricesIntro}</p>${
    role === 'admin' ? form(words, naming, typed) : list(words, naming)
  }</section>`
  return page({ ...visit, path: at }, { title: words.prices, section: 'usage', main })
}

/** Each once, in the order of their names. */
function linesOf (all: readonly Of[]): Of[] {
  return [...new Map(all.map((of) => [nameOfLine(of), of])).values()]
    .sort((a, b) => nameOfLine(a).localeCompare(nameOfLine(b)))
}

type Shown = { shown: { currency: string | null, prices: readonly Price[] }, lines: readonly Of[], nameOf: (of: Of) => string }

const pricesOf = ({ prices }: Shown['shown'], of: Of): readonly Price[] =>
  prices.filter(({ service, providerName }) => service === of.service && providerName === of.providerName)

function list (words: Words, { shown, nameOf }: Shown): Html {
  if (shown.prices.length === 0) return html`<p>${words.pricesNone}</p>`
  return table(words.prices, [words.pricesWhat, words.pricesEach, `${words.pricesAmount} (${shown.currency ?? ''})`],
    shown.prices.map(({ service, providerName, unit, amount }) =>
      html`<tr><th scope="row">${service === undefined ? words.credits : nameOf({ service, providerName })}</th><td>${
        words[`pricesUnit_${unit}`]
      }</td><td class="count">${amount}</td></tr>\n`
    ))
}

function form (words: Words, { shown, lines, nameOf }: Shown, typed: Typed | undefined): Html {
  const credit = shown.prices.find(({ unit }) => unit === 'credit')
  const wrongAt = (price: Price | undefined): Html[] =>
    price === undefined ? [] : wrongOf(words, typed, `/prices/${String(shown.prices.indexOf(price))}`)
  const rows = lines.flatMap((of) => {
    const prices = pricesOf(shown, of)
    return (prices.length === 0 ? [undefined] : prices).map((price) => line(words, of, { name: nameOf(of), price, wrong: wrongAt(price) }))
  })
  return html`${said(words, typed, 'currency', 'prices')}<form method="post" action="${at}" novalidate>${
    textField({
      name: 'currency',
      label: words.pricesCurrency,
      help: words.pricesCurrencyHelp,
      value: typed?.body.get('currency') ?? shown.currency ?? 'EUR',
      wrong: wrongOf(words, typed, '/currency')
    })
  }${
    textField({
      name: 'credit',
      label: words.pricesCredit,
      note: words.optional,
      value: typed?.body.get('credit') ?? credit?.amount ?? '',
      wrong: wrongAt(credit)
    })
  }${
    rows.length === 0
      ? html`<p>${words.pricesLater}</p>`
      : table(words.prices, [words.pricesWhat, words.pricesAmount, words.pricesEach], rows)
  }
<div class="actions"><button>${words.save}</button></div></form>`
}

type Line = { name: string, price: Price | undefined, wrong: readonly Html[] }

function line (words: Words, of: Of, { name, price, wrong }: Line): Html {
  const id = `f-${nameOfLine(of).replace(' ', '-')}-${price?.unit ?? ''}`
  const state = wrong.length === 0 ? html`` : html` aria-invalid="true" aria-describedby="${id}-wrong"`
  return html`<tr><th scope="row">${name}<input type="hidden" name="of" value="${
    nameOfLine(of)
  }"></th><td><input name="amount" inputmode="decimal" autocomplete="off" value="${price?.amount ?? ''}" aria-label="${
    fill(words.pricesAmountOf, { name })
  }"${state}>${
    wrong.length === 0 ? html`` : html`<p class="wrong" id="${id}-wrong">${wrong}</p>`
  }</td><td><select name="unit" aria-label="${fill(words.pricesEachOf, { name })}">${
    priceUnits.filter((unit) => unit !== 'credit').map((unit) =>
      html`<option value="${unit}"${unit === price?.unit ? html` selected` : html``}>${words[`pricesUnit_${unit}`]}</option>`
    )
  }</select></td></tr>\n`
}
