import type { Format, Rendered, RenderJob } from '@dispatch/documents'
import type { AppDependencies } from '../../../plugins/container.ts'

const quick: Rendered<'pdf'> = { bytes: Buffer.from('%PDF-1.7 quick'), contentType: 'application/pdf', pages: 1, signatures: [] }

/** Makes the smallest document at once, for tests about everything but documents. */
export const quickRenderer: Pick<AppDependencies['renderer'], 'close'> & {
  render: <F extends Format>(job: RenderJob<F>) => Promise<Rendered<F>>
} = {
  render: <F extends Format>() => Promise.resolve(quick as unknown as Rendered<F>),
  close: () => Promise.resolve()
}

/** A clock that stands still until it is told otherwise. */
export type Clock = { now: () => Date, advance: (seconds: number) => void }

export function clockAt (start: string): Clock {
  let time = Date.parse(start)
  return {
    now: () => new Date(time),
    advance: (seconds) => {
      time += seconds * 1000
    }
  }
}

/** Holds whoever passes back until it is opened. */
export type Gate = {
  pass: () => Promise<unknown>
  /** Resolves when somebody waits at it. */
  reached: Promise<unknown>
  open: () => void
}

export function createGate (): Gate {
  const [reached, opened] = [Promise.withResolvers<unknown>(), Promise.withResolvers<unknown>()]
  return {
    pass () {
      reached.resolve(true)
      return opened.promise
    },
    reached: reached.promise,
    open: () => opened.resolve(true)
  }
}
