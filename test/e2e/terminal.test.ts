import { existsSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { contains } from '../support/matching.ts'
import { dataDirectory, startProcess } from './support/process.ts'

void t.test('at a terminal the first start is a welcome, and each line of the log a sentence', {
  skip: existsSync('/usr/bin/script') ? false : 'there is no script(1) to make a terminal'
}, async (t) => {
  const service = startProcess(t, {
    dataDirectory: dataDirectory(t),
    env: { TERM: 'dumb' },
    command: ['/usr/bin/script', '-qec', `${process.execPath} scripts/serve.ts`, '/dev/null']
  })
  // A terminal ends its lines with two signs.
  while (!service.stdout().includes('\ncurl ')) await pause(50)
  const lines = service.stdout().split(/\r?\n/).filter((line) => line !== '')
  const before = lines.slice(0, lines.findIndex((line) => line.startsWith('Document Dispatch is ready')))
  t.same(lines.filter((line) => line.startsWith('{')), [])
  t.ok(before.length <= 5, before.join('\n'))
  contains(t, before[0], /^\[\d\d:\d\d:\d\d\] INFO: Creating the database in /)
})
