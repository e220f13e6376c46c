import { once } from './once.ts'

/** Gathers what is given while a batch is under way, and sends it with the next one. */
export type Batcher<Given, Answer> = {
  /** Resolves with the answer to this one; rejects where its batch does. Those of one `key` go together, those of another on their own. */
  put: (given: Given, key?: string) => Promise<Answer>
  /** How many wait or are under way. */
  pending: () => number
  /** Resolves when nothing is pending. */
  drain: () => Promise<void>
}

/** Answers each of a batch in its order, or what becomes of it; anything where nobody waits for more than the end of the batch. */
type Send<Given, Answer> = (batch: readonly [Given, ...Given[]]) => Promise<
  Answer extends undefined ? unknown : readonly (Answer | Promise<Answer>)[]
>

/**
 * `maxBatch`: how many go together. `maxBytes`, with `bytesOf`: so many bytes; a larger one goes alone. `timeoutMs`: after so many
 * milliseconds the next batch of a key does not wait for this one any longer.
 */
type Options<Given> = { maxBatch: number, maxBytes?: number, bytesOf?: (given: Given) => number, timeoutMs?: number }

type Waiting<Given, Answer> = PromiseWithResolvers<Answer> & { given: Given }

/** Sends the first that is given at once, and those that come meanwhile together, in their order: many need few messages. */
export function createBatcher<Given, Answer> (
  send: Send<Given, Answer>,
  { maxBatch, maxBytes = Infinity, bytesOf = () => 0, timeoutMs = Infinity }: Options<Given>
): Batcher<Given, Answer> {
  /** For each key with a batch under way, those that wait for its end. */
  const queues = new Map<string, Waiting<Given, Answer>[]>()
  const underWay = new Set<Promise<void>>()
  let pending = 0

  function begin (key: string, waiting: Waiting<Given, Answer>[]): void {
    const [first, ...others] = waiting.splice(0, sizeOf(waiting))
    if (first === undefined) {
      queues.delete(key)
      return
    }
    const next = once(() => begin(key, waiting))
    const timer = timeoutMs === Infinity ? undefined : setTimeout(next, timeoutMs)
    const sending = sendBatch([first, ...others]).finally(() => {
      clearTimeout(timer)
      underWay.delete(sending)
      next()
    })
    underWay.add(sending)
  }

  /** How many of those that wait go together. */
  function sizeOf (waiting: readonly Waiting<Given, Answer>[]): number {
    let bytes = 0
    const full = waiting.findIndex(({ given }, nth) => nth >= maxBatch || (bytes += bytesOf(given)) > maxBytes)
    return full === -1 ? waiting.length : Math.max(1, full)
  }

  async function sendBatch (batch: readonly [Waiting<Given, Answer>, ...Waiting<Given, Answer>[]]): Promise<void> {
    const [{ given }, ...others] = batch
    try {
      const answers = await send([given, ...others.map((one) => one.given)])
      for (const [nth, { resolve }] of batch.entries()) resolve((Array.isArray(answers) ? answers[nth] : undefined) as Answer)
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
    pending -= batch.length
  }

  return {
    put (given, key = '') {
      const one = { given, ...Promise.withResolvers<Answer>() }
      pending++
      const waiting = queues.get(key)
      if (waiting !== undefined) waiting.push(one)
      else {
        const alone = [one]
        queues.set(key, alone)
        begin(key, alone)
      }
      return one.promise
    },
    pending: () => pending,
    async drain () {
      while (underWay.size > 0) await Promise.all(underWay)
    }
  }
}
