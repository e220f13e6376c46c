import { readFileSync } from 'node:fs'
import { type FaultName, faults, long } from './faults.ts'
import type { Random } from './random.ts'

/** One request of a client. `at`: milliseconds after its life began. `retries`: how many go on at once with what did not succeed. */
export type Order = {
  number: number
  at: number
  path: string
  mode: 'synchronous' | 'asynchronous'
  body: Record<string, unknown>
  /** Of the API, where it is not the usual one. */
  version?: string
  keyed: boolean
  retries: number
}

/** What happens meanwhile; `at`: milliseconds after the life began. */
export type Disturbance = { what: FaultName, at: number, seconds: number }

/** One life of a process: what it is sent, and when it is killed, alone or with all others, unless the vendor has them killed before. */
export type Life = { orders: Order[], killedAt: number, killed: 'one' | 'all', disturbance?: Disturbance }

/** Milliseconds over which the requests of a life are spread, and within which it ends. */
const burst = 300
const longest = 1_000
export const ordersOfLife = 6

type Service = 'invoicing' | 'esign' | 'postal' | 'email' | 'sms' | 'upload' | 'file'
type Services = readonly [Service, ...Service[]]

const paths: readonly [Services, ...Services[]] = [
  ['invoicing'],
  ['email'],
  ['sms'],
  ['esign'],
  ['invoicing', 'email'],
  ['invoicing', 'sms'],
  ['invoicing', 'upload'],
  ['esign', 'sms'],
  ['file', 'email', 'upload'],
  ['invoicing', 'esign', 'upload'],
  ['invoicing', 'email', 'sms', 'upload']
]

/** What the vendor does with a step where all does not go well: a turn for each time that it is asked, "accept answer" after the last. */
const troubles: readonly [string, ...string[]] = ['wait accept answer', 'accept cut', 'hide accept cut', 'cut late accept',
  'accept half cut', 'cut', 'accept break', 'break', 'refuse', 'busy', 'busy,accept cut']
const deaths: readonly [string, ...string[]] = ['kill accept answer', 'kill late accept answer', 'kill cut', 'wait kill accept answer',
  'accept kill answer', 'hide accept kill answer', 'accept answer kill', 'refuse kill', 'busy kill']

const sample = JSON.parse(readFileSync(new URL('../../templates/invoice/sample.json', import.meta.url), 'utf8')) as Record<string, unknown>
const template = (number: number): object => ({ id: 1, data: { ...sample, number: `F-${number}` } })

/** What each service has to be told. */
export const fields: Readonly<Record<Service, (number: number) => Record<string, unknown>>> = {
  invoicing: (number) => ({ documentType: 'INVOICE', template: template(number) }),
  file: (number) => ({ template: template(number) }),
  esign: (number) => ({ template: template(number), signers: [{ email: 'ada@example.com', firstName: 'Ada', lastName: 'Lovelace' }] }),
  postal: (number) => ({
    template: template(number),
    postal: { recipient: { name: 'Ada', address: '1 rue', city: 'Paris', postalCode: '75002', country: 'FR' } }
  }),
  email: (number) => ({ email: { from: 'demo@example.com', to: 'ada@example.com', subject: `Order ${number}`, body: 'Your documents.' } }),
  sms: (number) => ({ sms: { phoneNumber: '+33612345678', message: `Order ${number}` } }),
  upload: () => ({})
}

function planDisturbance (random: Random, kinds: readonly FaultName[]): Disturbance | undefined {
  const lots = kinds.flatMap((kind) => Array.from({ length: faults[kind].weight }, () => kind))
  const what = lots[random.below(lots.length)]
  if (what === undefined) return undefined
  const [from, to] = faults[what].seconds
  return { what, at: to > long ? 0 : random.below(longest), seconds: from + random.below(1_000 * (to - from)) / 1_000 }
}

/**
 * So many lives, one after the other, of which so many in a hundred are disturbed, by faults of these kinds. Callbacks go to `receiver`.
 */
export function planLives (
  random: Random,
  { count, kinds, disturbed, receiver }: { count: number, kinds: readonly FaultName[], disturbed: number, receiver: string }
): Life[] {
  return Array.from({ length: count }, (_, life) => {
    const disturbance = random.chance(disturbed) ? planDisturbance(random, kinds) : undefined
    const deadly = random.chance(50) ? random.below(ordersOfLife) : undefined
    return {
      orders: Array.from({ length: ordersOfLife },
        (_, index) => planOrder(random, { number: life * ordersOfLife + index + 1, deadly: index === deadly, receiver })),
      killedAt: random.below(longest),
      killed: random.chance(10) ? 'all' : 'one',
      ...(disturbance === undefined ? {} : { disturbance })
    }
  })
}

/** So many orders for a time in which nothing is disturbed: their vendor takes longer than a lease is renewed for. */
export function calmOrders (first: number, count: number): Order[] {
  return Array.from({ length: count }, (_, index) => ({
    number: first + index,
    at: 0,
    mode: 'asynchronous',
    path: '/api/invoicing?async=true',
    keyed: true,
    retries: 0,
    body: { ...fields.invoicing(first + index), metadata: { order: String(first + index), invoicing: 'slow accept answer' } }
  }))
}

function planOrder (random: Random, { number, deadly, receiver }: { number: number, deadly: boolean, receiver: string }): Order {
  const services = random.pick(paths)
  const mode = random.chance(50) ? 'synchronous' : 'asynchronous'
  const isDeferred = services.includes('esign') && !services.includes('upload') && random.chance(70)
  const called = [...services.filter((service) => service !== 'file'), ...isDeferred ? ['upload'] : []]
  const dies = deadly ? random.below(called.length) : -1
  const scripts = called.map((
    service,
    index
  ): [string, string] => [service, index === dies ? random.pick(deaths) : random.chance(30) ? random.pick(troubles) : ''])
  return {
    number,
    at: random.below(burst),
    mode,
    path: `/api/${services.join('/')}${mode === 'asynchronous' ? '?async=true' : ''}`,
    body: {
      ...Object.assign({}, ...services.map((service) => fields[service](number))) as object,
      metadata: { order: String(number), ...Object.fromEntries(scripts.filter(([, script]) => script !== '')) },
      ...(isDeferred ? { deferred: [{ on: 'esign.completed', service: 'upload' }] } : {}),
      ...(random.chance(50) ? { callbackUrl: `${receiver}/${number}` } : {})
    },
    keyed: random.chance(80),
    retries: random.below(3)
  }
}
