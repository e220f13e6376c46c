import { PassThrough } from 'node:stream'
import t from 'tap'
import { type Input, readPassword } from '../../scripts/commands/password.ts'

/** Somebody types; `shown` is what stands on the screen. */
function typing (lines: string, isTTY: boolean): { input: Input, prompt: PassThrough, shown: () => string } {
  const prompt = new PassThrough()
  const shown: string[] = []
  prompt.on('data', (text: Buffer) => shown.push(text.toString()))
  const input = Object.assign(new PassThrough(), { isTTY, setRawMode: () => undefined })
  input.end(lines)
  return { input, prompt, shown: () => shown.join('') }
}

await t.test('the first line of what is no terminal is the password, whatever follows', async (t) => {
  for (const [lines, password] of [
    ['a good password\n', 'a good password'],
    ['no line end', 'no line end'],
    ['first\r\nsecond\n', 'first'],
    [' spaces \n', ' spaces ']
  ] as const) {
    const { input, prompt, shown } = typing(lines, false)
    t.equal(await readPassword(input, prompt), password)
    t.equal(shown(), '', 'nobody is asked')
  }
})

await t.test('at a terminal it is typed twice, and nothing of it is shown', async (t) => {
  const { input, prompt, shown } = typing('a good password\ra good password\r', true)
  t.equal(await readPassword(input, prompt), 'a good password')
  t.equal(shown(), 'Password: \nThe same again: \n')
})

await t.test('two that are not the same, and none at all, are refused', async (t) => {
  const different = typing('a good password\ra god password\r', true)
  await t.rejects(readPassword(different.input, different.prompt), { message: 'The two passwords are not the same.' })
  for (const isTTY of [true, false]) {
    const none = typing('', isTTY)
    await t.rejects(readPassword(none.input, none.prompt), { message: /^No password was given/ })
  }
  const interrupted = typing('half\u0003', true)
  await t.rejects(readPassword(interrupted.input, interrupted.prompt), { message: /^No password was given/ })
})
