import { createInterface } from 'node:readline'
import { type Readable, Writable } from 'node:stream'

/** The source of a password: a terminal (`isTTY`), or any other standard input. */
export type Input = Readable & { isTTY?: boolean }

/** A password: typed twice at a terminal, where it is not shown, else the first line of the input. Throws an error with one sentence. */
export async function readPassword (input: Input, prompt: Writable): Promise<string> {
  const isTyped = input.isTTY === true
  // At a terminal, the library echoes the input to its output. This output drops it.
  const nowhere = new Writable({
    write: (_chunk, _encoding, done) => {
      done()
    }
  })
  const reader = createInterface({ input, output: nowhere, terminal: isTyped })
  const lines = reader[Symbol.asyncIterator]()
  async function ask (question: string): Promise<string> {
    if (isTyped) prompt.write(question)
    const line = await lines.next()
    if (isTyped) prompt.write('\n')
    if (line.done === true) throw new Error('No password was given: it is the first line of standard input.')
    return line.value
  }
  try {
    const password = await ask('Password: ')
    if (isTyped && await ask('The same again: ') !== password) throw new Error('The two passwords are not the same.')
    return password
  } finally {
    reader.close()
    input.pause()
  }
}
