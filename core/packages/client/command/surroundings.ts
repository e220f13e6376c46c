import type { Readable, Writable } from 'node:stream'
import type { Terminal } from './bar.ts'
import type { Vocabulary } from './types.ts'

/** The streams, files and variables that a run reads and writes. */
export type Surroundings = {
  env: Readonly<Record<string, string | undefined>>
  input: Readable & { isTTY?: boolean }
  output: Writable
  errors: Terminal
  vocabulary: () => Promise<Vocabulary>
  /** In the place of the clock, for tests. */
  wait?: (milliseconds: number) => Promise<unknown>
}
