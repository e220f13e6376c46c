/**
 * A vendor in a process of its own, which outlives every crash of the service and counts what it is sent. Each request
 * brings its own script: what the vendor does with it, and when it has the service killed.
 */
import { hash } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'

/** What a vendor does with a request, word by word; the turns of a script are for the first request, the second, … */
export type Word = keyof typeof words
/** One request that would make something real. `held`: it did. `at`: when it came, Unix time in milliseconds. */
export type Receipt = { order: string, service: string, turn: string, held: boolean, sha256: string, at: number }
export type ToVendor = { kind: 'killed' } | { kind: 'tell' } | { kind: 'endpoints', urls: string[], authorization: string }
export type FromVendor = { kind: 'ready', url: string } | { kind: 'kill' } | { kind: 'told', receipts: Receipt[], cancelled: string[] }

/** `order`, `cancellations`: which it is of, and what is done each time that it is to be taken back. */
type Item = { id: string, status: string, reference: string | null, visibleAt: number, order?: string, cancellations?: string[] }
type Exchange = {
  order: string
  service: string
  reference: string | null
  key: string | undefined
  draft: string | undefined
  cancellations?: string[]
  response: ServerResponse
  item?: Item
  held: boolean
  hidden: boolean
}

/**
 * Milliseconds: how long a slow vendor takes, one that is asked for an answer past two renewals of a lease, and one that accepts when
 * nobody listens any more; until what it hid is found. The providers declare no less.
 */
const [slowness, slowest, lateness, hiding] = [400, 12_000, 3_000, 11_000]

const receipts: Receipt[] = []
const items: Item[] = []
const itemOfKey = new Map<string, Item>()
const drafts = new Map<string, Item>()
const turns = new Map<string, number>()
const control = new EventEmitter<{ [Kind in ToVendor['kind']]: [Extract<ToVendor, { kind: Kind }>] }>()
let endpoints: { urls: string[], authorization: string } = { urls: [], authorization: '' }

const words = {
  /** Has every process of the service killed. */
  async kill () {
    tell({ kind: 'kill' })
    await once(control, 'killed')
  },
  wait: () => pause(slowness),
  slow: () => pause(slowest),
  late: () => pause(lateness),
  hide (exchange: Exchange) {
    exchange.hidden = true
  },
  accept,
  answer: ({ response, item }: Exchange) => answer(response, 200, item),
  /** Half an answer. */
  half ({ response, item }: Exchange) {
    const text = JSON.stringify(item)
    return new Promise((resolve) => response.writeHead(200, { 'content-length': text.length }).write(text.slice(0, -9), resolve))
  },
  cut ({ response }: Exchange) {
    response.socket?.destroy()
  },
  /** Takes back what it has accepted; what is taken back already it refuses to take back again. */
  stop (exchange: Exchange) {
    const { response, item } = exchange
    if (item === undefined || item.status === 'cancelled') {
      return answer(response, 422, { code: 'cancelled', message: 'It is cancelled already.' })
    }
    item.status = 'cancelled'
    return undefined
  },
  refuse: ({ response }: Exchange) => answer(response, 422, { code: 'unwanted', message: 'Not this one.' }),
  /** What every provider here declares as surely not processed. */
  busy: ({ response }: Exchange) => answer(response, 503, { code: 'busy', message: 'Later.' }),
  /** What none declares. */
  break: ({ response }: Exchange) => answer(response, 500, { code: 'broken', message: 'Something broke.' })
}

function accept (exchange: Exchange): void {
  const { key, draft, reference, hidden } = exchange
  const known = key === undefined ? draftIssued(draft) : itemOfKey.get(key)
  const item = known ??
    {
      id: draft ?? `item-${items.length + 1}`,
      status: 'accepted',
      reference,
      visibleAt: Date.now() + (hidden ? hiding : 0),
      order: exchange.order,
      cancellations: exchange.cancellations ?? []
    }
  exchange.item = item
  exchange.held = known === undefined
  if (known !== undefined) return
  items.push(item)
  if (key !== undefined) itemOfKey.set(key, item)
  if (draft === undefined) return
  drafts.set(draft, item)
  void sign(item.id)
}

const draftIssued = (draft: string | undefined): Item | undefined => items.find(({ id }) => id === draft)

/** Plays the turn that it is for a request which would make something real. */
async function receive (
  message: IncomingMessage,
  response: ServerResponse,
  service: string,
  query: URLSearchParams,
  draft?: string
): Promise<void> {
  const at = Date.now()
  const sha256 = hash('sha256', await buffer(message))
  const order = query.get('order') ?? ''
  const name = `${order}/${service}`
  const count = turns.get(name) ?? 0
  turns.set(name, count + 1)
  const turn = query.get(service)?.split(',')[count] ?? 'accept answer'
  const key = message.headers['idempotency-key']
  const exchange: Exchange = {
    order,
    service,
    reference: query.get('reference'),
    key: key?.toString(),
    draft,
    cancellations: query.get('cancel')?.split(',') ?? [],
    response,
    held: false,
    hidden: false
  }
  const receipt: Receipt = { order, service, turn, held: false, sha256, at }
  receipts.push(receipt)
  for (const word of turn.split(' ') as Word[]) {
    await words[word](exchange)
    receipt.held = exchange.held
  }
}

/** Plays the turn that it is for a request to take something back. */
async function takeBack (item: Item | undefined, response: ServerResponse): Promise<void> {
  const turn = item?.cancellations?.shift() ?? 'stop answer'
  const exchange: Exchange = {
    order: item?.order ?? '',
    service: 'cancel',
    reference: null,
    key: undefined,
    draft: undefined,
    response,
    ...(item === undefined ? {} : { item }),
    held: false,
    hidden: false
  }
  for (const word of turn.split(' ') as Word[]) {
    await words[word](exchange)
    if (response.writableEnded) return
  }
}

/** Tells three times that a document is signed, as vendors do; each time until somebody listens. */
async function sign (id: string): Promise<void> {
  for (const time of [100, 400, 1500]) {
    await pause(time)
    for (let attempt = 0; !await told(id, endpoints.urls[attempt % endpoints.urls.length]); attempt++) await pause(250)
  }
}

async function told (id: string, url: string | undefined): Promise<boolean> {
  if (url === undefined) return false
  const headers = { 'content-type': 'application/json', authorization: endpoints.authorization }
  const body = JSON.stringify({ event: `signed-${id}`, id, status: 'signed' })
  return fetch(url, { method: 'POST', headers, body }).then(({ ok }) => ok, () => false)
}

async function handle (message: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(message.url ?? '', 'https://vendor')
  const [, service = '', id] = pathname.split('/')
  if (service === 'documents') return void response.writeHead(200, { 'content-type': 'application/pdf' }).end(`%PDF-1.7 ${id ?? ''}`)
  if (service === 'drafts' && id === undefined) return makeDraft(message, response)
  if (service === 'drafts' && message.method === 'GET') return answer(response, drafts.has(id ?? '') ? 200 : 404, drafts.get(id ?? ''))
  if (service === 'drafts') return receive(message, response, 'esign', searchParams, id)
  const item = items.find((one) => one.id === id)
  if (message.method === 'DELETE') return takeBack(item, response)
  if (message.method === 'GET' && id !== undefined) return answer(response, item === undefined ? 404 : 200, item)
  if (message.method === 'GET') return answer(response, 200, { items: found(searchParams.get('reference')) })
  return receive(message, response, service, searchParams)
}

async function makeDraft (message: IncomingMessage, response: ServerResponse): Promise<void> {
  await buffer(message)
  const draft = { id: `draft-${drafts.size + 1}`, status: 'draft', reference: null, visibleAt: 0 }
  drafts.set(draft.id, draft)
  await answer(response, 200, draft)
}

function found (reference: string | null): Item[] {
  return items.filter((item) => item.reference === reference && item.visibleAt <= Date.now())
}

function answer (response: ServerResponse, status: number, body: unknown): Promise<void> {
  return new Promise((resolve) => response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body), resolve))
}

function tell (message: FromVendor): void {
  process.send?.(message)
}

const [key, cert] = process.argv.slice(2)
const server = createServer({ key, cert }, (message, response) => {
  // Whoever asked may have been killed.
  handle(message, response).catch(() => response.socket?.destroy())
})
process.on('message', (message: ToVendor) => control.emit(message.kind, message as never))
process.on('disconnect', () => process.exit())
control.on('tell', () => {
  const cancelled = items.filter(({ status }) => status === 'cancelled').map(({ order = '' }) => order)
  tell({ kind: 'told', receipts, cancelled })
})
control.on('endpoints', (given) => {
  endpoints = given
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
tell({ kind: 'ready', url: `https://127.0.0.1:${(server.address() as AddressInfo).port}` })
