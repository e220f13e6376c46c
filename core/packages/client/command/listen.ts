import { setTimeout as pause } from 'node:timers/promises'
import { signed } from '../callbacks.ts'
import { isCallError } from '../errors.ts'
import { eventsOf } from '../events.ts'
import type { Terminal } from './bar.ts'

/** What callbacks tell, as the stream of events has it. */
export type CallbackBody = { type: string, timestamp: string, sequence: number, data: Readonly<Record<string, unknown>> }

/** Opens the stream of what callbacks tell, after the event with this id. */
export type OpenStream = (after: string | undefined) => Promise<Response>

/** Where events go besides, such as `http://localhost:4000/callbacks`, and with what they are signed. */
export type Receiver = { url: string, secret: string }

type Listening = {
  forward: Receiver | undefined
  /** How many events end it; it goes on without end unless given. */
  limit: number
  json: boolean
  print: (line: string) => void
  errors: Terminal
  wait?: (milliseconds: number) => Promise<unknown>
}

/** What passes by itself: a service that starts again, or a way that is closed for a while. */
const passes: ReadonlySet<string> = new Set(['unreachable', 'connection_lost', 'unreadable_answer', 'service_unavailable', 'rate_limited',
  'internal_error'])

/** In milliseconds: the pause after a stream that has ended, and the longest of those that follow where nothing comes. */
const [first, longest] = [1_000, 30_000]

type Following = Pick<Listening, 'errors' | 'wait'>

/** What a stream that is followed tells: that it is open, and that something came. */
type Signs = { opened: () => void, moved: () => void }

/** Follows a stream until `follow` answers that it is enough; where it ends or is cut, again, after longer pauses while nothing comes. */
async function again (follow: (signs: Signs) => Promise<boolean>, { errors, wait = pause }: Following): Promise<void> {
  let [break_, isOpen] = [first, false]
  const opened = (): void => {
    isOpen = true
  }
  const moved = (): void => {
    break_ = first
  }
  for (;;) {
    try {
      if (await follow({ opened, moved })) return
    } catch (error) {
      if (!isOpen || (isCallError(error) && !passes.has(error.error))) throw error
      errors.write(`The stream was cut (${error instanceof Error ? error.message : ''}). It goes on behind the last event.\n`)
    }
    await wait(break_)
    break_ = Math.min(longest, 2 * break_)
  }
}

/** Follows what callbacks tell. After a cut it goes on behind the last event that was handled: none is missed, none comes twice. */
export async function listen (open: OpenStream, { limit, errors, wait, ...handling }: Listening): Promise<void> {
  let [after, seen, isReported]: [string | undefined, number, boolean] = [undefined, 0, false]
  await again(async ({ opened, moved }) => {
    const answer = await open(after)
    if (!isReported) errors.write('Listening: what happens from now on is shown here, until you press Ctrl+C.\n')
    isReported = true
    opened()
    const marked = (mark: string): void => {
      after = mark
      moved()
    }
    for await (const { event, data, id } of eventsOf(answer, marked)) {
      moved()
      if (event !== 'event') continue
      await handle(data, handling)
      after = id ?? after
      if (++seen >= limit) return true
    }
    return false
  }, { errors, ...wait === undefined ? {} : { wait } })
}

type Followed = Record<string, unknown>

/** How many dispatches `tail` remembers, so that it tells each of their states once. */
const maxKnown = 10_000

/** Follows all dispatches of the company without end: each state of each is told once. */
export async function tail (
  open: () => Promise<Response>,
  tell: (dispatch: Followed) => void,
  following: Following
): Promise<void> {
  const known = new Map<unknown, unknown>()
  await again(async ({ opened, moved }) => {
    const answer = await open()
    opened()
    for await (const { data } of eventsOf(answer)) {
      for (const dispatch of (data as { data: Followed[] }).data.reverse()) {
        if (known.get(dispatch['dispatchId']) === dispatch['status']) continue
        moved()
        known.delete(dispatch['dispatchId'])
        known.set(dispatch['dispatchId'], dispatch['status'])
        if (known.size > maxKnown) known.delete(known.keys().next().value)
        tell(dispatch)
      }
    }
    return false
  }, following)
}

async function handle (
  data: unknown,
  { forward, json, print }: Pick<Listening, 'forward' | 'json' | 'print'>
): Promise<void> {
  if (!isCallback(data)) {
    print('An event came that is no callback of this service: it was left.')
    return
  }
  const reported = forward === undefined ? '' : ` → ${await post(forward, data)}`
  if (json) print(JSON.stringify(data))
  else print(`${data.timestamp} ${data.type} ${subjectOf(data)}${reported}`)
}

/** Sends an event as the service would, signed. Answers in words what came back: a receiver that is away ends nothing. */
export async function post ({ url, secret }: Receiver, event: object): Promise<string> {
  const { headers, body } = await signed(event, secret, {})
  try {
    const answer = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal: AbortSignal.timeout(15_000) })
    await answer.body?.cancel()
    return String(answer.status)
  } catch (error) {
    const { message, cause } = error as Error
    return `no answer (${cause instanceof Error ? (cause as NodeJS.ErrnoException).code ?? cause.message : message})`
  }
}

function isCallback (data: unknown): data is CallbackBody {
  const { type, timestamp, data: about } = Object(data) as Partial<CallbackBody>
  return typeof type === 'string' && typeof timestamp === 'string' && typeof about === 'object'
}

function subjectOf ({ data }: CallbackBody): string {
  const { dispatchId, status, companyId } = data as { dispatchId?: string, status?: string, companyId?: number }
  return dispatchId === undefined ? `company ${String(companyId ?? '')}` : `${dispatchId}${status === undefined ? '' : ` ${status}`}`
}

/** The parts of the OpenAPI document that are used: the paths, and the callbacks with their examples. */
export type CallbackDocument = { paths: Readonly<Record<string, unknown>>, webhooks: Readonly<Record<string, unknown>> }

/** An event of a type as the documentation of the service shows it, at this time; undefined for a type that there is not. */
export function exampleOf (document: CallbackDocument, type: string, at: Date): object | undefined {
  if (!Object.hasOwn(document.webhooks, type)) return undefined
  const content = follow(document, document.webhooks[type], 'post', 'requestBody', 'content', 'application/json')
  const { example, examples } = content as { example?: object, examples?: object }
  const shown = example ?? follow(document, Object.values(examples ?? {})[0], 'value')
  return { ...shown as object, type, timestamp: at.toISOString() }
}

/** A part of a document, through its references. */
function follow (document: object, part: unknown, ...names: readonly string[]): unknown {
  const { $ref } = Object(part) as { $ref?: string }
  if ($ref !== undefined) return follow(document, follow(document, document, ...$ref.split('/').slice(1)), ...names)
  const [name, ...rest] = names
  return name === undefined ? part : follow(document, (Object(part) as Record<string, unknown>)[name], ...rest)
}
