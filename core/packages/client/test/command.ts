import { Readable, Writable } from 'node:stream'
import { run } from '../command/run.ts'

export type Ended = { code: number, output: string, errors: string }
export type Command = (
  words: readonly string[],
  input?: unknown,
  env?: Record<string, string>,
  more?: { reported?: (errors: string) => void, wait?: (milliseconds: number) => Promise<unknown> }
) => Promise<Ended>

/** The command, which runs with an input; what it stores is in the folder. */
export function commandIn (folder: string): Command {
  return async (words, input = '', env = {}, { reported = () => undefined, wait = () => Promise.resolve() } = {}) => {
    const written = { output: '', errors: '' }
    const into = (place: keyof typeof written): Writable =>
      new Writable({
        write (chunk, _encoding, done) {
          written[place] += String(chunk)
          reported(written.errors)
          done()
        }
      })
    const code = await run(words, {
      env: { XDG_CONFIG_HOME: folder, ...env },
      input: Readable.from([typeof input === 'string' ? input : JSON.stringify(input)]),
      output: into('output'),
      errors: into('errors'),
      vocabulary: () => Promise.resolve({}),
      wait
    })
    return { code, ...written }
  }
}
