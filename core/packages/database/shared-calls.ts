import { once } from '@dispatch/common'

type Waiting<Given, Answer> = PromiseWithResolvers<Answer> & { given: Given }

/**
 * Shares messages among calls of one line. The first call goes at once; those that come while a message is under way go together with the
 * next one, in their order, `most` at a time. None waits for longer than so many milliseconds (`patience`) for each message before it.
 * `send` answers each call, or what becomes of it; where it rejects, all calls of that message do.
 */
export function createSharedCalls<Given, Answer> (
  send: (given: readonly [Given, ...Given[]]) => Promise<readonly (Answer | Promise<Answer>)[]>,
  { most, patience }: { most: number, patience: number }
): (line: string, given: Given) => Promise<Answer> {
  /** For each line with a message under way, the calls that wait for its end. */
  const lines = new Map<string, Waiting<Given, Answer>[]>()

  function begin (line: string, waiting: Waiting<Given, Answer>[]): void {
    const [first, ...others] = waiting.splice(0, most)
    if (first === undefined) {
      lines.delete(line)
      return
    }
    const next = once(() => begin(line, waiting))
    const timer = setTimeout(next, patience)
    void tell([first, ...others]).finally(() => {
      clearTimeout(timer)
      next()
    })
  }

  async function tell (calls: readonly [Waiting<Given, Answer>, ...Waiting<Given, Answer>[]]): Promise<void> {
    const [{ given }, ...others] = calls
    try {
      const answers = await send([given, ...others.map((one) => one.given)])
      for (const [nth, answer] of answers.entries()) calls[nth]?.resolve(answer)
    } catch (error) {
      for (const { reject } of calls) reject(error)
    }
  }

  return (line, given) => {
    const call = { given, ...Promise.withResolvers<Answer>() }
    const waiting = lines.get(line)
    if (waiting !== undefined) waiting.push(call)
    else {
      const alone = [call]
      lines.set(line, alone)
      begin(line, alone)
    }
    return call.promise
  }
}
