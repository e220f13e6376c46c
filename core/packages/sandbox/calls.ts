import { isRecord } from '@dispatch/common'
import { errorDataOf, errorFrom } from './errors.ts'
import { ProtocolFault } from './frames.ts'

/** What one side can be asked, by name. Its arguments are one object, as it came. */
export type Handlers = Readonly<Record<string, (args: unknown) => unknown>>

/** Calls between two processes, over whatever carries messages. */
export type Calls = {
  /** Resolves to what the other side answers. */
  call: (name: string, args: object) => Promise<unknown>
  /** Tells something that is not answered. */
  note: (name: string, args: object) => void
  /** Takes a message of the other side, of so many bytes. Throws a {@link ProtocolFault}. */
  take: (message: Readonly<Record<string, unknown>>, bytes?: number) => void
  /** Rejects what has not been answered; nothing is sent any more. */
  end: (why: Error) => void
}

/** `maxCalls` calls of the other side, and `maxBytes` of them, may be under way at once; one more is refused. */
export type CallsOptions = { send: (message: object) => void, handlers: Handlers, notes: Handlers, maxCalls: number, maxBytes?: number }

type Waiting = { resolve: (value: unknown) => void, reject: (error: Error) => void }

/**
 * Numbers its calls from 1, one after the other, and holds the other side to that: `{ ask, name, args }` is a call, `{ to, value }` or `{
 * to, error }` its answer, `{ note, args }` what is not answered. Throws a {@link ProtocolFault} for any other frame, and an Error for a
 * call beyond `maxCalls` or `maxBytes`.
 */
export function createCalls ({ send, handlers, notes, maxCalls, maxBytes = Infinity }: CallsOptions): Calls {
  const waiting = new Map<number, Waiting>()
  let requested = 0
  let taken = 0
  let underWay = 0
  let bytesUnderWay = 0
  let ended: Error | undefined

  function answer (message: object): void {
    if (ended === undefined) send(message)
  }

  async function perform (ask: number, name: string, args: unknown, bytes: number): Promise<void> {
    underWay++
    bytesUnderWay += bytes
    try {
      if (underWay > maxCalls) throw new Error(`More than ${maxCalls} calls are under way.`)
      if (bytesUnderWay > maxBytes) throw new Error(`Calls with more than ${maxBytes} bytes are under way.`)
      const value = await named(handlers, name)(args)
      answer({ to: ask, value })
    } catch (error) {
      answer({ to: ask, error: errorDataOf(error) })
    } finally {
      underWay--
      bytesUnderWay -= bytes
    }
  }

  return {
    call (name, args) {
      if (ended !== undefined) return Promise.reject(ended)
      const ask = ++requested
      return new Promise((resolve, reject) => {
        waiting.set(ask, { resolve, reject })
        try {
          send({ ask, name, args })
        } catch (error) {
          waiting.delete(ask)
          reject(error instanceof Error ? error : new Error(String(error)))
        }
      })
    },
    note (name, args) {
      answer({ note: name, args })
    },
    take ({ ask, name, args, to, value, error, note }, bytes = 0) {
      if (typeof to === 'number') {
        const call = waiting.get(to)
        if (call === undefined) throw new ProtocolFault('An answer came to a call that nobody waits for.')
        waiting.delete(to)
        if (error === undefined) call.resolve(value)
        else call.reject(errorFrom(error))
        return
      }
      if (typeof note === 'string') {
        named(notes, note)(args)
        return
      }
      if (typeof ask !== 'number' || typeof name !== 'string') throw new ProtocolFault('A frame is neither a call nor an answer.')
      if (ask !== ++taken) throw new ProtocolFault(`Call ${ask} came where ${taken} was next.`)
      named(handlers, name)
      void perform(ask, name, args, bytes)
    },
    end (why) {
      ended ??= why
      for (const { reject } of waiting.values()) reject(why)
      waiting.clear()
    }
  }
}

function named (handlers: Handlers, name: string): (args: unknown) => unknown {
  const handler = isRecord(handlers) && Object.hasOwn(handlers, name) ? handlers[name] : undefined
  if (handler === undefined) throw new ProtocolFault(`There is no call "${name.slice(0, 50)}".`)
  return handler
}
