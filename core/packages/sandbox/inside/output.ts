import { AsyncLocalStorage } from 'node:async_hooks'
import { Console } from 'node:console'
import { Writable } from 'node:stream'

const running = new AsyncLocalStorage<number>()

/** Runs the code of a call, so that what it prints is told as its own. */
export function runAsCall<Result> (call: number, work: () => Result): Result {
  return running.run(call, work)
}

/** The number of the call whose code runs; 0 outside of any. */
export function runningCall (): number {
  return running.getStore() ?? 0
}

/** Characters of one line. */
const longestLine = 4_000

/**
 * Takes the standard output for the frames alone: what is printed from now on goes to `tell`, line by line. Returns what writes to the
 * real output.
 */
export function takeOutput (tell: (line: { call: number, message: string }) => void): (bytes: Buffer) => void {
  const real = process.stdout
  const write = real.write.bind(real)
  const printed = new Writable({
    decodeStrings: false,
    write (piece: string | Buffer, _encoding, done) {
      for (const line of String(piece).split('\n')) {
        if (line.trim() !== '') tell({ call: runningCall(), message: line.slice(0, longestLine) })
      }
      done()
    }
  })
  Object.defineProperty(process, 'stdout', { value: printed, configurable: true, enumerable: true })
  Object.defineProperty(process, 'stderr', { value: printed, configurable: true, enumerable: true })
  globalThis.console = new Console({ stdout: printed, stderr: printed })
  return (bytes) => {
    write(bytes)
  }
}
