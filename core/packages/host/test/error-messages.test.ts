import { errorMessageOf } from '@dispatch/common'
import pg from 'pg'
import t from 'tap'
import { createLogger } from '../../../../plugins/hooks/logging.ts'
import { sentenceOf } from '../../../../scripts/failure.ts'
import { contains } from '../../../../test/support/matching.ts'

const refused = (address: string): Error => Object.assign(new Error(`connect ECONNREFUSED ${address}`), { code: 'ECONNREFUSED' })

/** What libraries throw and report, and what of it is told. */
const kinds: Readonly<Record<string, { thrown: unknown, told: string }>> = {
  'an error': { thrown: new Error('It broke.'), told: 'It broke.' },
  'an error of the database': {
    thrown: new pg.DatabaseError('the server is shutting down', 0, 'error'),
    told: 'the server is shutting down'
  },
  'a plain object, as the queue reports it': { thrown: { message: 'timeout exceeded', queue: 'dispatch' }, told: 'timeout exceeded' },
  'several errors of one host name, without a message': {
    thrown: new AggregateError([refused('::1:5432'), refused('127.0.0.1:5432')]),
    told: 'connect ECONNREFUSED ::1:5432, connect ECONNREFUSED 127.0.0.1:5432'
  },
  'an error that has a code alone': {
    thrown: Object.assign(new Error(''), { code: 'ETIMEDOUT' }),
    told: 'It says ETIMEDOUT, and no more.'
  },
  'an error that has a name alone': { thrown: new RangeError(''), told: 'It says RangeError, and no more.' },
  'an object without anything': { thrown: Object.create(null), told: 'It gives no reason.' },
  'a text': { thrown: 'no', told: 'no' },
  'a number': { thrown: 7, told: '7' },
  nothing: { thrown: undefined, told: 'It gives no reason.' }
}

for (const [kind, { thrown, told }] of Object.entries(kinds)) {
  void t.test(`${kind} is logged in words`, (t) => {
    const lines: string[] = []
    createLogger('info', { write: (line) => lines.push(line) }).warn({ reason: errorMessageOf(thrown) }, 'it failed')
    t.equal(JSON.parse(lines[0] ?? '').reason, told)
    contains(t, sentenceOf(thrown), /^[^[\]{}]+$/)
    t.end()
  })
}
