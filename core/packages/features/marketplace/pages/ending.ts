import { type Confirmation, type ConfirmRequest, fill, html, notice, type Refusal, sentences, withQuery,
  wordFor } from '@dispatch/plugins/console'
import type { AdapterDetail, AdapterEffects } from '../contract/marketplace.ts'
import { type Visit, visitOf, type Words } from './words.ts'

/** The changes that may end the dispatches of companies through an adapter. */
const endings = ['remove', 'disable', 'upgrade', 'rollback', 'offer'] as const
type Ending = typeof endings[number]

export function isEnding (name: string): name is Ending {
  return endings.some((ending) => ending === name)
}

/** The companies that a form offers an adapter to; undefined: all. */
export function offeredTo (body: URLSearchParams): number[] | undefined {
  return body.get('to') === 'all' ? undefined : body.getAll('company').map(Number)
}

/**
 * Asks for a confirmation before companies cannot use an adapter any more, and names them. A change that the service refuses in that case
 * needs the confirmation only where it is forced.
 */
export async function ending (request: ConfirmRequest, name: Ending): Promise<Confirmation | undefined> {
  const { params: { code }, body } = request
  const isRefused = name !== 'remove' && name !== 'disable'
  if (isRefused && !body.has('force')) return undefined
  const visit = visitOf(request)
  const { words } = visit
  const { version, previous = '', offer = 'all' } = await visit.api.read<AdapterDetail>(pathOf(code))
  const [button, intro] = saidOf(words, name, { next: body.get('version') ?? '', previous })
  const { effects, unknown } = await effectsOf(visit, code, { name, body })
  return {
    title: `${button}${words.colon}${code}`,
    says: [intro, ...isRefused ? [words.forcedIntro] : []],
    touches: [
      [words.version, version],
      [words.offer, offer === 'all' ? words.offerAll : offer.length],
      ...effects
    ],
    ...unknown !== undefined && { more: notice('warn', html`<p>${words.effectsUnknown}</p>${sentences(words, unknown.error)}`) },
    button,
    back: `/console/marketplace/${code}`
  }
}

function saidOf (words: Words, name: Ending, { next, previous }: { next: string, previous: string }): readonly [string, string] {
  switch (name) {
    case 'remove':
      return [words.removeAdapter, words.removeAdapterIntro]
    case 'disable':
      return [words.disable, words.disableIntro]
    case 'upgrade':
      return [fill(words.upgradeTitle, { version: next }), words.upgradeIntro]
    case 'rollback':
      return [fill(words.rollback, { version: previous }), words.rollbackAsked]
    case 'offer':
      return [words.offer, words.offerIntro]
  }
}

/** Companies that a question names at most, for each thing that happens to them. */
const maxNamed = 20

/** `effects`: who would be touched, and how. `unknown`: why the service cannot tell it. */
type Reported = { effects: [string, string][], unknown?: Refusal }

/** Those first who could not dispatch any more. */
async function effectsOf (
  { api, words }: Visit,
  code: string,
  { name, body }: { name: Ending, body: URLSearchParams }
): Promise<Reported> {
  const requested = askedOf(name, body)
  if (requested === undefined) return { effects: [] }
  const answer = await api.send<AdapterEffects>('GET', withQuery(`${pathOf(code)}/effects`, requested))
  if (!answer.ok) return { effects: [], unknown: answer }
  const { counts } = answer.body
  return {
    effects: [...Map.groupBy(answer.body.effects, ({ how }) => how)].map(([how, effects]) => {
      const all = [...new Set(effects.map(({ company, companyId }) => `${company} (${companyId})`))]
      const names = all.slice(0, maxNamed).join(', ')
      const isWhole = all.length <= maxNamed
      return [wordFor(words, 'effect', how), isWhole ? names : fill(words.effectOfMany, { n: counts[how] ?? all.length, names })]
    })
  }
}

/** What is asked of the effects; undefined: a removal is refused while anybody needs the adapter, and an offer to all ends nothing. */
function askedOf (change: Ending, body: URLSearchParams): Record<string, string> | undefined {
  switch (change) {
    case 'remove':
      return undefined
    case 'upgrade':
      return { change, version: body.get('version') ?? '' }
    case 'offer': {
      const companies = offeredTo(body)
      return companies === undefined ? undefined : { change, companies: companies.join(',') }
    }
    default:
      return { change }
  }
}

function pathOf (code: string): string {
  return `/api/v1/marketplace/${encodeURIComponent(code)}`
}
