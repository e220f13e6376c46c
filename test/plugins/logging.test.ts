import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { createLogger, logOutput } from '../../plugins/hooks/logging.ts'
import { contains } from '../support/matching.ts'

await t.test('a warning that comes over and over is counted after the first ones; errors are all written', async (t) => {
  const lines: { level: number, msg: string, more?: number }[] = []
  const log = createLogger('info', { write: (line) => lines.push(JSON.parse(line)) }, { max: 3, within: 100 })
  for (let count = 0; count < 50; count++) log.child({ requestId: String(count) }).warn({ count }, 'the database is away')
  log.warn('another one')
  for (let count = 0; count < 5; count++) log.error({ count }, 'request failed')
  const written = (sentence: string): number => lines.filter(({ msg }) => msg === sentence).length
  t.same([written('the database is away'), written('another one'), written('request failed')], [3, 1, 5])
  while (written('the database is away (and more of the same)') === 0) await pause(20)
  t.same(lines.filter(({ more }) => more !== undefined).map(({ more }) => more), [47])
  log.warn('the database is away')
  t.equal(written('the database is away'), 4, 'later it is told again')
})

await t.test('at a terminal a line is a time, a level, a sentence and its facts; elsewhere JSON', async (t) => {
  const lines: string[] = []
  const output = {
    write: (line: string) => {
      lines.push(line)
    }
  }
  for (const terminal of [true, false]) {
    createLogger('info', await logOutput(output, { terminal })).warn({ provider: 'acme' }, 'It is away.')
  }
  contains(t, lines[0], /^\[\d\d:\d\d:\d\d\] WARN: It is away\. \{"provider":"acme"\}\n$/)
  t.equal((JSON.parse(lines[1] ?? '') as { msg: string }).msg, 'It is away.')
})
