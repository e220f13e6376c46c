import { errorMessageOf } from '@dispatch/common'
import pg from 'pg'
import t from 'tap'
import { createLogger } from '../../../../plugins/hooks/logging.ts'
import { sentenceOf } from '../../../../scripts/failure.ts'
import { contains } from '../../../../test/support/matching.ts'

const refused = (address: string): Error => Object.assign(new Error(`connect ECONNREFUSED ${address}`), { code: 'ECONNREFUSED' })

/** What libraries throw and report, and what of it is told. */
const kinds: Readonly<Record<string, { thrown: unknown, reported: string }>> = {
  'an error': { thrown: new Error('It broke.'), reported: 'It broke.' },
  'an error of the database': {
    thrown: new pg.DatabaseError('the server is shutting down', 0, 'error'),
    reported: 'the server is shutting down'
  },
  'a plain object, as the queue reports it': { thrown: { message: 'timeout exceeded', queue: 'dispatch' }, reported: 'timeout exceeded' },
  'several errors of one host name, without a message': {
    thrown: new AggregateError([refused('::1:5432'), refused('127.0.0.1:5432')]),
    reported: 'connect ECONNREFUSED ::1:5432, connect ECONNREFUSED 127.0.0.1:5432'
  },
  'an error that has a code alone': {
    thrown: Object.assign(new Error(''), { code: 'ETIMEDOUT' }),
    reported: 'It says ETIMEDOUT, and no more.'
  },
  'an error that has a name alone': { thrown: new RangeError(''), reported: 'It says RangeError, and no more.' },
  'an object without anything': { thrown: Object.create(null), reported: 'It gives no reason.' },
  'a text': { thrown: 'no', reported: 'no' },
  'a number': { thrown: 7, reported: '7' },
  nothing: { thrown: undefined, reported: 'It gives no reason.' }
}

for (const [kind, { thrown, reported }] of Object.entries(kinds)) {
  void t.test(`${kind} is logged in words`, (t) => {
    const lines: string[] = []
    createLogger('info', { write: (line) => lines.push(line) }).warn({ reason: errorMessageOf(thrown) }, 'it failed')
    t.equal(JSON.parse(lines[0] ?? '').reason, reported)
    contains(t, sentenceOf(thrown), /^[^[\]{}]+$/)
    t.end()
  })
}
