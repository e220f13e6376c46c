import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { type Readable, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { UsageError } from './failures.ts'
import type { Surroundings } from './surroundings.ts'

/** JSON of a file, or of standard input where there is one and no file is named. */
export async function readJson (file: string | undefined, input?: Readable): Promise<object> {
  const isRead = input !== undefined && (file === undefined || file === '-')
  const written = isRead ? await text(input) : await readFile(file ?? '', 'utf8')
  try {
    return JSON.parse(written) as object
  } catch (cause) {
    throw new UsageError(`${isRead ? 'Standard input' : file ?? ''} is not JSON: ${cause instanceof Error ? cause.message : ''}`, { cause })
  }
}

/** A key from standard input; at a terminal it is not shown. It is never an argument, which other users of the machine could read. */
export async function readKey ({ input, errors }: Surroundings): Promise<string> {
  const isTyped = input.isTTY === true
  const nowhere = new Writable({
    write: (_chunk, _encoding, done) => {
      done()
    }
  })
  const reader = createInterface({ input, output: nowhere, terminal: isTyped })
  if (isTyped) errors.write('Key: ')
  try {
    for await (const line of reader) if (line.trim() !== '') return line.trim()
    throw new UsageError('No key was given: it is the first line of standard input. POST /api/v1/keys, or the console, makes one.')
  } finally {
    reader.close()
    if (isTyped) errors.write('\n')
  }
}
